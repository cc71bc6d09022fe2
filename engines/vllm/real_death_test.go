//go:build vllm && !windows

package vllm_test

import (
	"context"
	"os"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/openloop-go/openloop/engines"
	"github.com/openloop-go/openloop/engines/vllm"
)

// realDeath kills what computes in the middle of a generation.
func realDeath(t *testing.T, e *vllm.Server, stop func(context.Context) error) {
	r := long(13000)
	r.MaxTokens, r.MinTokens = 3000, 3000
	began, ended := make(chan struct{}), make(chan error, 1)
	go func() {
		first := true
		_, err := e.Generate(t.Context(), r, func(engines.Chunk) {
			if first {
				close(began)
			}
			first = false
		})
		ended <- err
	}()
	<-began
	counters, err := e.Scrape(t.Context())
	require.NoError(t, err)
	m := regexp.MustCompile(`pid (\d+)`).FindStringSubmatch(counters.Instance)
	require.NotNil(t, m, counters.Instance)
	require.NoError(t, syscall.Kill(engineCore(t, m[1]), syscall.SIGKILL))
	select {
	case err := <-ended:
		require.Error(t, err)
		t.Log(err)
	case <-time.After(30 * time.Second):
		t.Fatal("the generation outlives its server")
	}
	// The front end ends by itself, a moment later.
	select {
	case <-e.Ended():
	case <-time.After(30 * time.Second):
		t.Fatal("the front end outlives its engine")
	}
	err = stop(t.Context())
	require.Error(t, err, "it had died by itself")
	t.Log(err)
	assert.ErrorContains(t, err, "vllm: exited with code ")
}

// engineCore finds the process that computes, which is a child of the one that
// was started.
func engineCore(t *testing.T, frontEnd string) int {
	t.Helper()
	children, err := os.ReadFile("/proc/" + frontEnd + "/task/" + frontEnd + "/children")
	require.NoError(t, err)
	for _, child := range strings.Fields(string(children)) {
		name, err := os.ReadFile("/proc/" + child + "/comm")
		require.NoError(t, err)
		if strings.HasPrefix(string(name), "VLLM::Engine") {
			pid, err := strconv.Atoi(child)
			require.NoError(t, err)
			return pid
		}
	}
	t.Fatalf("no engine among the children %s", children)
	return 0
}

// What a start refuses or dies of is said at once, with the server's words.
func TestRealServerThatDies(t *testing.T) {
	for _, test := range []struct {
		name string
		with func(*vllm.Config)
		want []string
	}{
		{"no such model", func(c *vllm.Config) { c.Model = "/nowhere/model" },
			[]string{"/nowhere/model", "the model was not found: check Config.Model"}},
		{"no such argument", func(c *vllm.Config) { c.Args = append(c.Args, "--frobnicate") },
			[]string{"unrecognized arguments: --frobnicate", "check Config.Args"}},
		{"too little memory", func(c *vllm.Config) { c.Env = append(c.Env, "VLLM_CPU_KVCACHE_SPACE=100000") },
			[]string{"not enough memory"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			cfg := realConfig(t, "--enforce-eager")
			test.with(&cfg)
			from := time.Now()
			_, _, err := vllm.Launch(t.Context(), cfg)
			require.Error(t, err)
			t.Logf("after %v: %v", time.Since(from).Round(time.Second), err)
			assert.ErrorContains(t, err, "start vllm: exited with code ")
			for _, part := range test.want {
				assert.ErrorContains(t, err, part)
			}
		})
	}
}

// A server out of development mode, behind a key.
func TestRealServerThatIsClosed(t *testing.T) {
	const key = "sesame-open-4711"
	cfg := realConfig(t, "--enforce-eager")
	cfg.APIKey = key
	cfg.Env = append(cfg.Env, "VLLM_SERVER_DEV_MODE=0")
	e, _ := startReal(t, cfg)
	f, err := e.Flush(t.Context())
	require.NoError(t, err)
	assert.Equal(t, engines.FlushUnsupported, f.Outcome, f.Detail)
	assert.Contains(t, f.Remedy, "VLLM_SERVER_DEV_MODE=1")
	id, err := e.Describe(t.Context())
	require.NoError(t, err)
	assert.NotEmpty(t, id.Version)
	assert.Equal(t, "128", id.Settings["block_size"], "its page of metrics has it")
	assert.Equal(t, 0, cached(t, e, long(1000)))
	assert.Equal(t, 256, cached(t, e, long(1000)))
	for _, wrong := range []string{"", "sesame-shut-0815"} {
		var other vllm.Config
		other.URL, other.APIKey = e.URL(), wrong
		_, err = vllm.Attach(t.Context(), other)
		require.ErrorContains(t, err, "401")
	}
	log, err := os.ReadFile(e.LogFile())
	require.NoError(t, err)
	assert.NotContains(t, string(log), key)
	assert.NotContains(t, id.Command, key)
}
