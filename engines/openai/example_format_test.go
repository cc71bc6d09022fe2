package openai_test

import (
	"fmt"
	"log"

	"github.com/openloop-go/openloop/engines/openai"
)

// Whichever the verb, no key is printed.
func ExampleConfig_Format() {
	fmt.Printf("%d\n", openai.Config{URL: "http://user:password@host", APIKey: "sk-secret"})
	fmt.Printf("%s\n", openai.Config{URL: "user:password@host", APIKey: "sk-secret"}) // its scheme is missing
	// Output:
	// openai at http://host, /v1/completions, model (the server's)
	// openai at (not a URL), /v1/completions, model (the server's)
}

func ExampleEngine_Format() {
	engine, err := openai.New(openai.Config{URL: "http://user:password@host", APIKey: "sk-secret"})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%x %q\n", engine, engine)
	// Output:
	// openai at http://host "openai at http://host"
}
