package doctor

import (
	"context"
	"net"
	"net/http"
	"net/http/httptrace"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/openloop-go/openloop/engines"
	"github.com/openloop-go/openloop/engines/internal/servertest"
	"github.com/openloop-go/openloop/engines/openai"
)

// A stream without a finish reason departs from the protocol; that its host was
// looked up for its connection does not.
func TestDepartures(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pipes := servertest.Listen()
		server := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/event-stream")
			_, _ = w.Write([]byte("data: {\"choices\":[{\"text\":\"a\"}]}\n\ndata: [DONE]\n\n"))
		})}
		go func() { _ = server.Serve(pipes) }()
		defer server.Close()
		e, err := openai.New(openai.Config{URL: "http://server.invalid", Dial: func(ctx context.Context, network, addr string) (net.Conn, error) {
			trace := httptrace.ContextClientTrace(ctx)
			trace.DNSStart(httptrace.DNSStartInfo{})
			time.Sleep(5 * time.Millisecond)
			trace.DNSDone(httptrace.DNSDoneInfo{})
			return pipes.Dial(ctx, network, addr)
		}})
		if err != nil {
			t.Fatal(err)
		}
		defer e.Close()
		reply, err := e.Generate(t.Context(), &engines.Request{Text: "x", MaxTokens: 1}, func(engines.Chunk) {})
		if want := []string{"the stream ended with [DONE] but without a finish reason"}; err != nil || len(reply.Warnings) != 2 || !slices.Equal(departures(reply.Warnings), want) {
			t.Errorf("%v of %q, %v; want %q", departures(reply.Warnings), reply.Warnings, err, want)
		}
	})
}

// A look-up that takes long is no matter of course.
func TestALongLookUpIsTold(t *testing.T) {
	const long = `the look-up of host "engine" took 100ms or longer, which is in TTFT: use an address in the URL, or let connections be kept`
	short := strings.Replace(long, "100ms", "1ms", 1)
	if got := departures([]string{short, long}); !slices.Equal(got, []string{long}) {
		t.Errorf("%q, want the long one", got)
	}
}
