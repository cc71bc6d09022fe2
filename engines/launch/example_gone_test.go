package launch_test

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/openloop-go/openloop/engines/launch"
	"github.com/openloop-go/openloop/engines/vllm"
)

// mortal is inProcess whose program may die, and whose log takes a while to be
// read to its end after that.
type mortal struct{ died chan struct{} }

func (m mortal) Launch(ctx context.Context, spec launch.Spec) (*launch.Running, error) {
	r, err := inProcess{}.Launch(ctx, spec)
	if err != nil {
		return nil, err
	}
	r.Gone = func() bool {
		select {
		case <-m.died:
			return true
		default:
			return false
		}
	}
	go func() {
		select {
		case <-m.died:
			time.Sleep(50 * time.Millisecond)
			fmt.Fprintln(spec.Log, "last words")
			_ = r.Stop(ctx) // which closes Done
		case <-r.Done:
		}
	}()
	return r, nil
}

// A program that dies just before it is stopped has died all the same: Gone tells
// so before Done is closed, and what it said last is waited for.
func ExampleRunning_gone() {
	ctx := context.Background()
	program := mortal{died: make(chan struct{})}
	_, stop, err := vllm.Launch(ctx, vllm.Config{Model: "tiny", Launcher: program})
	if err != nil {
		fmt.Println(err)
		return
	}
	close(program.died)
	said := strings.Split(fmt.Sprint(stop(ctx)), "\n")
	how, _, _ := strings.Cut(said[0], " after ")
	fmt.Println(how)
	fmt.Println(strings.TrimSpace(said[len(said)-1]))
	// Output:
	// vllm tiny 10s
	// vllm: ended
	// last words
}
