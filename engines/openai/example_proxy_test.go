package openai_test

import (
	"fmt"
	"log"
	"net/http"
	"net/url"

	"github.com/openloop-go/openloop/engines/openai"
)

// What lies between here and a server is asked for, and told: a proxy may hold
// back what it streams.
func ExampleEngine_Proxy() {
	gate, _ := url.Parse("http://ann:secret@gate:3128")
	engine, err := openai.New(openai.Config{URL: "http://gpu-box:8000", Proxy: http.ProxyURL(gate)})
	if err != nil {
		log.Fatal(err)
	}
	used, _ := engine.Proxy()
	fmt.Println(used)
	// Output:
	// http://gate:3128
}
