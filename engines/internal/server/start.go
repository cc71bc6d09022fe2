package server

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/openloop-go/openloop/engines/launch"
	"github.com/openloop-go/openloop/engines/openai"
)

const (
	// stopBudget is the time that a test's cleanup gives a server to end.
	stopBudget = 30 * time.Second
	// reserve is kept of the test's deadline for stopping and reporting.
	reserve = 15 * time.Second
)

// Start is Launch for a test: the test's failure and its cleanup end the
// server, its deadline bounds the start. It fails the test at once with what
// went wrong, and then does not return.
func Start(t launch.T, k *Kind, c launch.Config) *Server {
	t.Helper()
	s, err := start(t, k, c)
	if err != nil {
		t.Errorf("%s", err)
		t.FailNow()
		panic("unreachable: FailNow returned")
	}
	return s
}

func start(t launch.T, k *Kind, given launch.Config) (*Server, error) {
	t.Helper()
	c, err := k.resolve(t.Context(), given)
	if err != nil {
		return nil, err
	}
	c.log, c.helper = t.Logf, t.Helper
	claim, err := k.claimFor(t, c)
	if err != nil {
		return nil, err
	}
	if c.Dial == nil { // real time, so the real deadline counts
		if c, err = k.within(c, deadline(t)); err != nil {
			return nil, errors.Join(err, claim.release())
		}
	}
	s, err := k.launch(t.Context(), c, claim)
	if err != nil {
		return nil, err
	}
	t.Cleanup(func() {
		t.Helper()
		// The test's own context has ended by now.
		ctx, cancel := context.WithTimeout(context.WithoutCancel(t.Context()), stopBudget)
		defer cancel()
		if err := s.Close(ctx); err != nil {
			t.Errorf("%s", err)
		}
		if passed(t) {
			s.discardLogs()
		}
	})
	if p := s.Process(); p != nil {
		kept := ""
		if len(s.unnamed) > 0 {
			kept = " (kept if the test fails, or where OPENLOOP_ARTIFACTS says)"
		}
		t.Logf("%s: started %s, log in %s%s", k.Name, p.Command(), p.Log().Path(), kept)
	} else {
		t.Logf("%s: attached to %s (%s), model %s%s", k.Name, s.Client().URL(), c.from, s.Client().Model(), way(s.Client()))
	}
	return s, nil
}

// way says what is between here and a server: a proxy may hold back what it
// streams.
func way(client *openai.Engine) string {
	switch used, unused := client.Proxy(); {
	case used != "":
		return ", through the proxy " + used
	case unused != "":
		return ", not through the proxy of " + unused + " (set Config.Proxy to use one)"
	}
	return ""
}

// deadline is the test's deadline; zero when it has none or does not tell.
func deadline(t launch.T) time.Time {
	if d, ok := t.(interface{ Deadline() (time.Time, bool) }); ok {
		if at, set := d.Deadline(); set {
			return at
		}
	}
	return time.Time{}
}

// within cuts the start budget to what the deadline leaves.
func (k *Kind) within(c Config, at time.Time) (Config, error) {
	if c.StartBudget == 0 {
		c.StartBudget = defaultBudget
	}
	if at.IsZero() {
		return c, nil
	}
	left := time.Until(at) - reserve
	if left <= 0 {
		return c, fmt.Errorf("start %s: the test's deadline is in %v: raise -timeout",
			k.Name, time.Until(at).Round(time.Second))
	}
	if left < c.StartBudget {
		c.StartBudget, c.longer = left, "raise -timeout, which left no more,"
	}
	return c, nil
}
