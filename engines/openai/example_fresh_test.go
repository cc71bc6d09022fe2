package openai_test

import (
	"fmt"

	"github.com/openloop-go/openloop/engines/openai"
)

func ExampleEngine_DialsEach() {
	for _, fresh := range []bool{false, true} {
		engine, err := openai.New(openai.Config{URL: "http://127.0.0.1:8000", Model: "m", Fresh: fresh})
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(engine.DialsEach())
		_ = engine.Close()
	}
	// Output:
	// false
	// true
}
