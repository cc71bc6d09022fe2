package sim_test

import (
	"bufio"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/openloop-go/openloop/engines/sim"
)

// stamped is one event: when it says that it left, and when it came.
type stamped struct {
	sent *int64
	came time.Time
}

// events asks for a stream and reads its events.
func events(t *testing.T, m *sim.Memory, path, body string) []stamped {
	t.Helper()
	client := &http.Client{Transport: &http.Transport{DialContext: m.Dial}}
	defer client.CloseIdleConnections()
	resp, err := client.Post("http://sim.invalid"+path, "application/json", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	var all []stamped
	lines := bufio.NewReader(resp.Body)
	for {
		line, err := lines.ReadString('\n')
		came := time.Now()
		if data, ok := strings.CutPrefix(line, "data: {"); ok {
			var event struct{ Sent *int64 }
			if err := json.Unmarshal([]byte("{"+data), &event); err != nil {
				t.Fatalf("%v in %s", err, line)
			}
			all = append(all, stamped{event.Sent, came})
		}
		if err == io.EOF {
			return all
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

const (
	completion = `{"prompt":[1,2],"max_tokens":5,"ignore_eos":true,"stream":true,"stream_options":{"include_usage":true}}`
	dialogue   = `{"messages":[{"role":"user","content":"a"}],"max_tokens":5,"ignore_eos":true,"stream":true,"stream_options":{"include_usage":true}}`
)

// In virtual time nothing is on its way for any time: every event, of whatever
// kind, was sent at the nanosecond at which it comes.
func TestStampsInVirtualTime(t *testing.T) {
	epoch := time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)
	for _, row := range []struct {
		name, path, body string
		flavor           sim.Flavor
		events           int // tokens, counts and, in chats, the role and SGLang's finish
	}{
		{"a completion", "/v1/completions", completion, sim.VLLM, 6},
		{"a chat", "/v1/chat/completions", dialogue, sim.VLLM, 7},
		{"a completion on SGLang", "/v1/completions", completion, sim.SGLang, 6},
		{"a chat on SGLang", "/v1/chat/completions", dialogue, sim.SGLang, 8},
		{"a completion on TensorRT-LLM", "/v1/completions", completion, sim.TensorRTLLM, 6},
	} {
		t.Run(row.name, func(t *testing.T) {
			inBubble(t, sim.Config{Flavor: row.flavor, StampEvents: true}, func(t *testing.T, m *sim.Memory) {
				got := events(t, m, row.path, row.body)
				if len(got) != row.events {
					t.Errorf("%d events, want %d", len(got), row.events)
				}
				for i, e := range got {
					if e.sent == nil || !epoch.Add(time.Duration(*e.sent)).Equal(e.came) {
						t.Errorf("event %d came at %v and does not say so", i, e.came)
					}
				}
			})
		})
	}
}

// A stream that is held back tells when its events were made.
func TestStampsOfAStreamHeldBack(t *testing.T) {
	cfg := sim.Config{StampEvents: true, Noise: sim.Quiet, Faults: sim.Faults{Buffered: true}}
	inBubble(t, cfg, func(t *testing.T, m *sim.Memory) {
		got := events(t, m, "/v1/completions", completion)
		first, last := got[0], got[4]
		if !first.came.Equal(last.came) {
			t.Errorf("not held back: %v and %v", first.came, last.came)
		}
		if made, step := time.Duration(*last.sent-*first.sent), sim.Llama3H100.DecodeStep(1, 2); made < 4*step || made > 5*step {
			t.Errorf("five tokens were made within %v, at %v a step", made, step)
		}
	})
}

// An error within a stream says nothing of when it was written.
func TestErrorsAreNotStamped(t *testing.T) {
	inBubble(t, sim.Config{StampEvents: true, Faults: sim.Faults{StreamErrorShare: 1}}, func(t *testing.T, m *sim.Memory) {
		got := events(t, m, "/v1/completions", completion)
		for i, e := range got {
			if last := i == len(got)-1; (e.sent == nil) != last {
				t.Errorf("event %d of %d: stamped %t", i, len(got), e.sent != nil)
			}
		}
		if len(got) < 2 {
			t.Errorf("%d events, want some before the error", len(got))
		}
	})
}

func TestEventsAreNotStampedUnasked(t *testing.T) {
	inBubble(t, sim.Config{}, func(t *testing.T, m *sim.Memory) {
		for i, e := range events(t, m, "/v1/completions", completion) {
			if e.sent != nil {
				t.Errorf("event %d was sent at %d", i, *e.sent)
			}
		}
	})
}
