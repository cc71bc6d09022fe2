package openai

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// parsed is one event as a test keeps it.
type parsed struct {
	data  string
	fault bool
	// from and end are how many bytes had been fed before and after the feed
	// that it came in.
	from, end int
}

// parse feeds a stream in pieces of the lengths that next gives.
func parse(t testing.TB, stream []byte, next func(left int) int) []parsed {
	t.Helper()
	var (
		p          parser
		got        []parsed
		from, done int
	)
	event := func(data []byte, fault bool) error {
		got = append(got, parsed{string(data), fault, from, done})
		return nil
	}
	for done < len(stream) {
		n := min(max(next(len(stream)-done), 1), len(stream)-done)
		// The parser must not keep what it was given.
		piece := bytes.Clone(stream[done : done+n])
		from, done = done, done+n
		require.NoError(t, p.feed(piece, event))
		for i := range piece {
			piece[i] = '#'
		}
	}
	require.NoError(t, p.end(event))
	return got
}

func whole(left int) int { return left }
func single(int) int     { return 1 }

func TestEventsOfAStream(t *testing.T) {
	for _, tt := range []struct {
		what, stream string
		want         []string
	}{
		{"one event", "data: a\n\n", []string{"a"}},
		{"no space", "data:a\n\n", []string{"a"}},
		{"one space of two is removed", "data:  a\n\n", []string{" a"}},
		{"two events", "data: a\n\ndata: b\n\n", []string{"a", "b"}},
		{"two data lines", "data: a\ndata: b\n\n", []string{"a\nb"}},
		{"three data lines, the first empty", "data:\ndata: b\ndata: c\n\n", []string{"\nb\nc"}},
		{"an empty event", "data:\n\ndata\n\ndata: \n\n", nil},
		{"CR LF", "data: a\r\n\r\ndata: b\r\n\r\n", []string{"a", "b"}},
		{"CR", "data: a\r\rdata: b\r\r", []string{"a", "b"}},
		{"mixed line ends", "data: a\r\n\ndata: b\r\r\ndata: c\n\r", []string{"a", "b", "c"}},
		{"comments", ":\n\n: ping\n\ndata: a\n: in between\n\n:data: b\n\n", []string{"a"}},
		{"other fields", "id: 7\nretry: 10\nfoo: bar\nfoo\ndata: a\n\n", []string{"a"}},
		{"a field with data in its name", "data2: x\nxdata: y\n data: z\ndata: a\n\n", []string{"a"}},
		{"colons in the data", "data: a: b: c\n\n", []string{"a: b: c"}},
		{"a byte-order mark", "\xef\xbb\xbfdata: a\n\n", []string{"a"}},
		{"a byte-order mark later is none", "data: a\n\n\xef\xbb\xbfdata: b\n\n", []string{"a"}},
		{"blank lines", "\n\n\r\n\rdata: a\n\n\n\n", []string{"a"}},
		{"no last blank line", "data: a\n\ndata: [DONE]\n", []string{"a", "[DONE]"}},
		{"no last line end", "data: a\n\ndata: [DONE]", []string{"a", "[DONE]"}},
		{"a character of three bytes", "data: \xe4\xbd\xa0\n\n", []string{"\xe4\xbd\xa0"}},
		{"nothing", "", nil},
	} {
		var want []parsed
		for _, data := range tt.want {
			want = append(want, parsed{data: data})
		}
		for cut, next := range map[string]func(int) int{"whole": whole, "byte by byte": single} {
			got := parse(t, []byte(tt.stream), next)
			for i := range got {
				got[i].from, got[i].end = 0, 0
			}
			assert.Equal(t, want, got, "%s, %s", tt.what, cut)
		}
	}
}

func TestTheTypeErrorIsKept(t *testing.T) {
	got := parse(t, []byte("event: error\ndata: a\n\ndata: b\n\nevent: error\n\nevent: message\ndata: c\n\n"), whole)
	for i := range got {
		got[i].from, got[i].end = 0, 0
	}
	assert.Equal(t, []parsed{{data: "a", fault: true}, {data: "b"}, {data: "c"}}, got)
}

func TestAnEventComesWithItsLastByte(t *testing.T) {
	for stream, want := range map[string]int{"data: a\n\n": 9, "data: a\r\n\r\n": 10, "data: a\r\r": 9, "id: 1\ndata: a\n\n": 15} {
		got := parse(t, []byte(stream+"data: b\n\n"), single)
		require.Len(t, got, 2, "%q", stream)
		assert.Equal(t, want, got[0].end, "%q", stream)
	}
}

func TestLongEventsAreParsedAndEndlessOnesRefused(t *testing.T) {
	for _, n := range []int{70_000, 2 << 20} {
		got := parse(t, []byte("data: "+strings.Repeat("x", n)+"\n\ndata: [DONE]\n\n"), func(int) int { return 1400 })
		require.Len(t, got, 2)
		assert.Len(t, got[0].data, n)
	}
	var p parser
	piece := bytes.Repeat([]byte("x"), 1<<20)
	var err error
	for range 64 {
		require.NoError(t, err)
		err = p.feed(piece, nil)
	}
	require.NoError(t, err, "64 MiB are allowed")
	assert.ErrorIs(t, p.feed(piece, nil), errEventTooLong)
}

func TestAnErrorOfTheCallbackEndsTheFeed(t *testing.T) {
	var p parser
	wrong, calls := errors.New("wrong"), 0
	err := p.feed([]byte("data: a\n\ndata: b\n\n"), func([]byte, bool) error { calls++; return wrong })
	assert.ErrorIs(t, err, wrong)
	assert.Equal(t, 1, calls)
}

// However a stream is cut, its events are the same, and each comes in the feed
// that holds the byte by which it came when fed byte by byte.
func FuzzFragmentation(f *testing.F) {
	for _, s := range []string{
		"data: a\n\ndata: b\n\n", "\xef\xbb\xbf:c\r\n\r\ndata: a\r\ndata: b\r\n\r\n", "data: a\r\rdata: \xe4\xbd\xa0\r\r\n",
		"event: error\ndata: {\"a\":1}\n\nid: 1\ndata: [DONE]", "data:\ndata\ndata:  x\n\n\n", ": ping\n\ndata: [DONE]\n\n",
	} {
		f.Add([]byte(s), uint64(1))
	}
	f.Fuzz(func(t *testing.T, stream []byte, seed uint64) {
		want := parse(t, stream, single)
		r := rand.New(rand.NewPCG(seed, 0))
		size := 1 + r.IntN(len(stream)+1)
		got := parse(t, stream, func(int) int { return r.IntN(size) + 1 })
		if len(got) != len(want) {
			t.Fatalf("%d events, byte by byte %d", len(got), len(want))
		}
		for i := range want {
			if got[i].data != want[i].data || got[i].fault != want[i].fault {
				t.Fatalf("event %d: %+v, byte by byte %+v", i, got[i], want[i])
			}
			if end := want[i].end; got[i].end < end || got[i].from >= end {
				t.Fatalf("event %d, which ends at byte %d, came with bytes %d to %d", i, end, got[i].from, got[i].end)
			}
		}
	})
}

func TestParsingAnUsualStreamAllocatesNothing(t *testing.T) {
	feed := []byte("data: " + usualEvent + "\n\n")
	var p parser
	n := 0
	event := func([]byte, bool) error { n++; return nil }
	assert.Zero(t, testing.AllocsPerRun(100, func() {
		if p.feed(feed, event) != nil {
			t.Fatal("not parsed")
		}
	}))
	assert.Equal(t, 101, n)
}
