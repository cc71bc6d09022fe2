package benchtest

import (
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/openloop-go/openloop/benchtest/arrival"
)

const tellerChild = "OPENLOOP_TELLER_CHILD"

// embedding is a T with a log of its own.
type embedding struct {
	*testing.T
	logs []string
}

func (e *embedding) Logf(format string, args ...any) {
	e.logs = append(e.logs, fmt.Sprintf(format, args...))
}

// helper stands for a function of the user's, in a file of tests, that measures.
func helper(t T, place *string) {
	_, _, line, _ := runtime.Caller(0) // two lines above the call
	*place = fmt.Sprintf("teller_test.go:%d", line+2)
	Measure(t, real{quick()}, Point{Workload: prompts{16, 4}, Arrivals: arrival.Constant{Rate: 1000}, Requests: 50, Runs: 1})
}

// What is told of a measurement has the line of the test that makes it, wherever
// in this package it is told from.
func TestProgressHasTheLineOfTheTest(t *testing.T) {
	if os.Getenv(tellerChild) != "" {
		var place string
		helper(t, &place)
		_, _, line, _ := runtime.Caller(0)
		tell := teller(t)
		tell("two\nlines %d", 2)
		fmt.Printf("PLACES %s teller_test.go:%d\n", place, line+1)
		return
	}
	inFolder(t)
	for _, flags := range [][]string{nil, {"-test.fullpath"}} {
		cmd := exec.Command(os.Args[0], append([]string{"-test.run=^TestProgressHasTheLineOfTheTest$", "-test.v"}, flags...)...)
		cmd.Env = append(os.Environ(), tellerChild+"=1")
		out, err := cmd.CombinedOutput()
		require.NoError(t, err, string(out))
		text := string(out)
		_, after, found := strings.Cut(text, "PLACES ")
		require.True(t, found, text)
		places := strings.Fields(after)[:2]
		if flags != nil {
			_, file, _, _ := runtime.Caller(0)
			for i := range places {
				places[i] = strings.Replace(places[i], "teller_test.go", file, 1)
			}
		}
		for _, want := range []string{
			"    " + places[0] + ": benchtest: run 1 of 1 at constant 1000/s",
			"    " + places[0] + ": benchtest: run 1 of 1: 50 requests in a window of ",
			"    " + places[1] + ": two\n        lines 2\n",
		} {
			assert.Contains(t, text, want)
		}
		assert.Equal(t, strings.Count(text, "benchtest: "), strings.Count(text, places[0]+": benchtest: "), text)
	}
}

// A T that is not package testing's own keeps its Logf, and so does a call from no
// file of tests.
func TestAnotherTKeepsItsLog(t *testing.T) {
	own := &embedding{T: t}
	teller(own)("told %d", 1)
	assert.Equal(t, []string{"told 1"}, own.logs)
	r := &recorder{}
	teller(r)("told %d", 2)
	assert.Equal(t, []string{"told 2"}, r.logs)
}
