package sim

import (
	"time"

	"github.com/openloop-go/openloop/engines"
)

// state is where a sequence is in its life.
type state uint8

const (
	waiting    state = iota
	prefilling       // holds a slot; its prompt is being computed
	decoding         // holds a slot; a token a step
	ended
)

// fate is how a sequence ends.
type fate uint8

const (
	finished    fate = iota // as asked
	refused                 // 429 or 503, never admitted
	failed                  // 500, never admitted
	streamError             // an error object in the stream
	cut                     // a clean end before the terminal event
	reset                   // the connection broke
	canceled                // the client went away
)

// segment is a stretch of steps that made a token each.
type segment struct{ from, n int }

// sequence is a request inside the scheduler.
type sequence struct {
	request *engines.Request
	feed    *feed // where a server streams it from; nil in arithmetic
	id      string

	arrival time.Duration
	ready   time.Duration // when it may be admitted: later by a fault only
	order   uint64        // of admission

	prompt int    // tokens
	size   int    // of a block of the KV cache
	hash   uint64 // of the prompt; the answer follows from it
	salt   uint64 // of the cache; zero is none
	keys   []uint64
	rest   []int32 // the prompt's tokens after its last whole block
	want   int     // tokens that it will make
	reason string  // the finish reason
	fate   fate
	status int // of a refusal

	state    state
	computed int // tokens of prompt and own output that are in the KV cache
	target   int // what computed must reach before it decodes
	before   int // tokens made before the present segment
	segments []segment
	gone     time.Duration // when the client left; zero if it has not

	leaf     *prefix
	shared   int // blocks in the prefix tree
	hit      int // prompt tokens that the cache had at the first admission
	admitted bool
	admit    time.Duration // the start of the step that first admitted it
	first    time.Duration // when its first token left
	last     time.Duration // when it ended
	due      int           // the step that makes the last token it wants
	phase    int           // the step, modulo the block size, at which it needs a block
	place    int           // in the heap by due
}

// blocks is the number of blocks that tokens take.
func (s *sequence) blocks(tokens int) int { return (tokens + s.size - 1) / s.size }

// made is the number of tokens made by the end of so many steps.
func (s *sequence) made(steps int) int {
	if s.state != decoding {
		return s.before
	}
	return s.before + steps - s.segments[len(s.segments)-1].from
}

// close ends the present segment after so many steps.
func (s *sequence) close(steps int) {
	if s.state == decoding {
		last := &s.segments[len(s.segments)-1]
		last.n = steps - last.from
		s.before += last.n
	}
}

// open begins a segment with the step that has made its first token.
func (s *sequence) open(step int) {
	s.state = decoding
	s.segments = append(s.segments, segment{from: step})
	s.due = step + s.want - s.before - 1
	s.phase = ((1-s.prompt-s.before+step)%s.size + s.size) % s.size
}

// setPrompt takes the prompt and what follows from it, where blocks of the KV
// cache have so many tokens.
func (s *sequence) setPrompt(tokens []int32, salt string, size int) {
	s.prompt, s.size = len(tokens), size
	s.keys, s.hash = blockKeys(s.keys[:0], tokens, answerBlock)
	if size != answerBlock {
		s.keys, _ = blockKeys(s.keys[:0], tokens, size)
	}
	s.rest = append(s.rest[:0], tokens[len(tokens)/size*size:]...)
	s.salt = 0
	if salt != "" {
		s.salt = hashString(salt)
		for i := range s.keys {
			s.keys[i] ^= s.salt
		}
	}
}

// setLength decides how long the answer is and why it ends, for a request
// that asks for at most most tokens and at least least.
func (s *sequence) setLength(most, least int, ignoreEOS bool, outputCut float64) {
	s.want, s.reason = most, "length"
	if n := max(least, naturalLength(s.hash)); !ignoreEOS && n < most {
		s.want, s.reason = n, "stop"
	}
	if outputCut > 0 {
		s.want, s.reason = max(1, s.want-int(outputCut*float64(s.want)+0.5)), "stop"
	}
}

// extendKeys hashes blocks of the prompt and the answer up to so many tokens.
func (s *sequence) extendKeys(tokens int) {
	h := uint64(wy2)
	if n := len(s.keys); n > 0 {
		h = s.keys[n-1] ^ s.salt
	}
	var room [2 * answerBlock]int32
	b := room[:]
	if s.size > len(b) {
		b = make([]int32, s.size)
	}
	b = b[:s.size]
	for len(s.keys) < tokens/s.size {
		at := len(s.keys)*s.size - (s.prompt - len(s.rest))
		for i := range b {
			if at+i < len(s.rest) {
				b[i] = s.rest[at+i]
			} else {
				b[i] = outputToken(s.hash, at+i-len(s.rest))
			}
		}
		h = hashBlock(h, b)
		s.keys = append(s.keys, h^s.salt)
	}
}

// finishHeap orders decoding sequences by the step that finishes them and
// then by admission.
type finishHeap []*sequence

func (h finishHeap) Len() int { return len(h) }
func (h finishHeap) Less(i, j int) bool {
	a, b := h[i], h[j]
	return a.due < b.due || a.due == b.due && a.order < b.order
}
func (h finishHeap) Swap(i, j int) {
	h[i], h[j] = h[j], h[i]
	h[i].place, h[j].place = i, j
}
func (h *finishHeap) Push(x any) {
	s := x.(*sequence)
	s.place = len(*h)
	*h = append(*h, s)
}
func (h *finishHeap) Pop() any {
	old := *h
	s := old[len(old)-1]
	old[len(old)-1] = nil
	*h = old[:len(old)-1]
	return s
}
