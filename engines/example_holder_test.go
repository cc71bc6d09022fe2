package engines_test

import (
	"context"
	"fmt"

	"github.com/openloop-go/openloop/engines"
)

// Cluster is an engine of which one measurement at a time is booked.
type Cluster struct {
	engines.Engine
	booked chan string
}

func (c Cluster) Hold(ctx context.Context, who string, log func(format string, args ...any)) (func() error, error) {
	select {
	case c.booked <- who:
	default:
		log("waiting for the cluster")
		select {
		case c.booked <- who:
		case <-ctx.Done():
			return nil, fmt.Errorf("waited for the cluster: %w", context.Cause(ctx))
		}
	}
	return func() error { <-c.booked; return nil }, nil
}

func ExampleHolder() {
	var engine engines.Engine = Cluster{booked: make(chan string, 1)}
	say := func(format string, args ...any) { fmt.Printf(format+"\n", args...) }
	ctx, cancel := context.WithCancel(context.Background())

	release, err := engine.(engines.Holder).Hold(ctx, "TestDecode", say)
	fmt.Println(err)
	cancel()
	_, err = engine.(engines.Holder).Hold(ctx, "TestPrefill", say)
	fmt.Println(err)
	fmt.Println(release())
	// Output:
	// <nil>
	// waiting for the cluster
	// waited for the cluster: context canceled
	// <nil>
}
