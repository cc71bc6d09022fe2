package engines_test

import (
	"fmt"

	"github.com/openloop-go/openloop/engines"
)

// Remote is an engine behind a proxy.
type Remote struct{ engines.Engine }

func (Remote) Proxy() (used, unused string) { return "http://gate:3128", "" }

func ExampleProxied() {
	var engine engines.Engine = Remote{}
	if proxied, ok := engine.(engines.Proxied); ok {
		used, _ := proxied.Proxy()
		fmt.Println(used)
	}
	// Output: http://gate:3128
}
