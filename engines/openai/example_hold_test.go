package openai_test

import (
	"context"
	"fmt"

	"github.com/openloop-go/openloop/engines/openai"
)

func ExampleEngine_Hold() {
	engine, err := openai.New(openai.Config{URL: "http://gpu-7:8000"})
	if err != nil {
		fmt.Println(err)
		return
	}
	// benchtest does this around each measurement.
	release, err := engine.Hold(context.Background(), "TestDecode", nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println("nobody else of this host measures", engine.URL())
	fmt.Println(release())
	// Output:
	// nobody else of this host measures http://gpu-7:8000
	// <nil>
}
