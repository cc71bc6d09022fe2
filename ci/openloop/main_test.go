package main

import (
	"errors"
	"os"
	"os/exec"
	"strconv"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"openloop": main})
}

func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/script",
		RequireExplicitExec: true,
		UpdateScripts:       os.Getenv("UPDATE_SCRIPTS") != "",
		Cmds:                map[string]func(*testscript.TestScript, bool, []string){"exits": exits},
		Setup:               prepare,
	})
}

// exits N COMMAND... runs the command, which must end with that status.
func exits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits STATUS COMMAND [ARGUMENT...]")
	}
	got := 0
	err := ts.Exec(args[1], args[2:]...)
	var exit *exec.ExitError
	switch {
	case errors.As(err, &exit):
		got = exit.ExitCode()
	case err != nil:
		ts.Fatalf("%v", err)
	}
	if strconv.Itoa(got) != args[0] {
		ts.Fatalf("exit status %d, want %s", got, args[0])
	}
}

func TestPercentage(t *testing.T) {
	for _, row := range []struct {
		text string
		want float64
		err  bool
	}{
		{"5%", 0.05, false}, {"0.05", 0.05, false}, {"2.5%", 0.025, false}, {"12.5 %", 0.125, false},
		{"100%", 1, false}, {"5", 0, true}, {"101%", 0, true}, {"0%", 0, true}, {"-1%", 0, true}, {"", 0, true}, {"%", 0, true},
		{"NaN", 0, true}, {"Inf", 0, true}, {"five", 0, true},
	} {
		var p percentage
		if err := p.Set(row.text); float64(p) != row.want || (err != nil) != row.err {
			t.Errorf("%q: got %v, %v; want %v, an error %v", row.text, float64(p), err, row.want, row.err)
		}
	}
}
