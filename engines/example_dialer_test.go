package engines_test

import (
	"fmt"

	"github.com/openloop-go/openloop/engines"
)

// Stranger is an engine that is met anew by each request, as by the first of a
// user.
type Stranger struct{ engines.Engine }

func (Stranger) DialsEach() bool { return true }

func ExampleDialer() {
	var engine engines.Engine = Stranger{}
	dialer, ok := engine.(engines.Dialer)
	fmt.Println(ok && dialer.DialsEach())
	// Output: true
}
