package openai_test

import (
	"fmt"

	"github.com/openloop-go/openloop/engines/openai"
)

// What a server has answered, for a message.
func ExampleAnswer_Quote() {
	fmt.Println((&openai.Answer{Status: 400, Body: []byte(`{"error":{"message":"requests still run"}}`)}).Quote())
	fmt.Println((&openai.Answer{Status: 502, Body: []byte("<html><title>Bad Gateway</title></html>")}).Quote())
	fmt.Println((&openai.Answer{Status: 200}).Quote())
	// Output:
	// status 400, requests still run
	// status 502, an HTML page ("Bad Gateway")
	// status 200, empty body
}
