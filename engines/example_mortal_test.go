package engines_test

import (
	"context"
	"fmt"

	"github.com/openloop-go/openloop/engines"
)

// Job is an engine that runs as a job of a scheduler.
type Job struct {
	engines.Engine
	exit chan int
}

func (j Job) Death(context.Context) error {
	select {
	case code := <-j.exit:
		j.exit <- code
		return fmt.Errorf("job exited with code %d", code)
	default:
		return nil
	}
}

func ExampleMortal() {
	job := Job{exit: make(chan int, 1)}
	var engine engines.Engine = job

	fmt.Println(engine.(engines.Mortal).Death(context.Background()))
	job.exit <- 7
	fmt.Println(engine.(engines.Mortal).Death(context.Background()))
	// Output:
	// <nil>
	// job exited with code 7
}
