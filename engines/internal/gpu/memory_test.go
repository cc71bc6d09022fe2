package gpu

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/openloop-go/openloop/engines"
)

// leaving is a reader whose device has this much in use, in GiB, at one
// reading after the other; the last for ever.
type leaving struct {
	gib   []float64
	asked int
}

func (l *leaving) List(context.Context) ([]Device, error) { return nil, nil }

func (l *leaving) Read(context.Context, []string) ([]Reading, error) {
	n := l.gib[min(l.asked, len(l.gib)-1)]
	l.asked++
	if n < 0 {
		return nil, errors.New("no driver")
	}
	return []Reading{{Device: engines.Device{ID: "GPU-1"}, Used: uint64(n * (1 << 30)), Total: 80 << 30}}, nil
}

type heard []string

func (h *heard) log(format string, args ...any) { *h = append(*h, fmt.Sprintf(format, args...)) }

func TestSettleWaitsUntilMemoryIsStill(t *testing.T) {
	const crowded = " of 80.0 GiB of GPU-1; what uses it is measured too (nvidia-smi names it)"
	tests := []struct {
		name string
		gib  []float64
		want time.Duration
		log  heard
	}{
		{"nobody there", []float64{0.4}, 0, nil},
		{"unknown", []float64{-1}, 0, nil},
		{"somebody is leaving", []float64{79.6, 79.6, 60, 20, 0.9}, 2 * time.Second, nil},
		{"somebody stays", []float64{61}, 1500 * time.Millisecond, heard{"in use before the server starts: 61.0 GiB" + crowded}},
		{"somebody moves in", []float64{5, 10, 20, 61}, 3 * time.Second, heard{"in use before the server starts: 61.0 GiB" + crowded}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var log heard
				began := time.Now()
				if err := Watch(&leaving{gib: test.gib}, []string{"GPU-1"}, log.log).Settle(t.Context(), false); err != nil {
					t.Error(err)
				}
				if got := time.Since(began); got != test.want || !slices.Equal(log, test.log) {
					t.Errorf("after %v %q, want %v %q", got, log, test.want, test.log)
				}
			})
		})
	}
}

func TestFreedWaitsForWhatWasBefore(t *testing.T) {
	const waiting = "waiting for GPU memory: 79.6 GiB of 80.0 GiB of GPU-1, 0.4 GiB without it"
	tests := []struct {
		name string
		gib  []float64 // the first is before the start
		want time.Duration
		log  heard
		err  string
	}{
		{"at once", []float64{0.4, 0.5}, 0, nil, ""},
		{"after a while, and after a pause", []float64{0.4, 79.6, 79.6, 79.6, 79.6, 79.6, 60, 20, 0.6}, 3500 * time.Millisecond, heard{waiting}, ""},
		{"never", []float64{0.4, 79.6}, 30500 * time.Millisecond, heard{waiting},
			"GPU memory is still in use 30s after the server has ended: 79.6 GiB of 80.0 GiB of GPU-1, 0.4 GiB without it: find out what holds it (nvidia-smi)"},
		{"nobody can tell any more", []float64{0.4, -1}, 0, nil, ""},
		{"nobody could tell before", []float64{-1, 79.6}, 0, nil, ""},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var log heard
				m := Watch(&leaving{gib: test.gib}, []string{"GPU-1"}, log.log)
				if err := m.Settle(t.Context(), false); err != nil {
					t.Fatal(err)
				}
				began := time.Now()
				said := ""
				if err := m.Freed(t.Context(), false); err != nil {
					said = err.Error()
				}
				if got := time.Since(began); got != test.want || said != test.err || !slices.Equal(log, test.log) {
					t.Errorf("after %v %q, log %q\nwant %v %q, log %q", got, said, log, test.want, test.err, test.log)
				}
			})
		})
	}
}

// Beside another server of this process what it took is waited for, not what
// the other has.
func TestFreedBesideAnother(t *testing.T) {
	tests := []struct {
		name string
		gib  []float64 // before the start, when it is ready, as it leaves, and after
		dead bool
		want time.Duration
		log  heard
	}{
		{"the other stays", []float64{30, 60, 61, 60, 31}, false, 500 * time.Millisecond, heard{"waiting for GPU memory: 60.0 GiB of 80.0 GiB of GPU-1, 31.0 GiB without it"}},
		{"the other has gone", []float64{30, 60, 30, 0.4}, false, 0, nil},
		{"it had died, so nobody knows", []float64{30, 60, 60}, true, 0, nil},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var log heard
				m := Watch(&leaving{gib: test.gib}, []string{"GPU-1"}, log.log)
				if err := m.Settle(t.Context(), true); err != nil {
					t.Fatal(err)
				}
				m.Taken(t.Context())
				if !test.dead {
					m.Leaving(t.Context())
				}
				began := time.Now()
				if err := m.Freed(t.Context(), true); err != nil {
					t.Error(err)
				}
				if got := time.Since(began); got != test.want || !slices.Equal(log, test.log) {
					t.Errorf("after %v, log %q\nwant %v, %q", got, log, test.want, test.log)
				}
			})
		})
	}
}

func TestMemoryIsNotWaitedForAfterTheTestsTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := Watch(&leaving{gib: []float64{0.4, 79.6}}, []string{"GPU-1"}, nil)
		if err := m.Settle(t.Context(), false); err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
		defer cancel()
		const want = "GPU memory is still in use: 79.6 GiB of 80.0 GiB of GPU-1, 0.4 GiB without it: context deadline exceeded"
		if err := m.Freed(ctx, false); err == nil || err.Error() != want || !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("got  %v\nwant %s", err, want)
		}
	})
}

func TestNothingToWatch(t *testing.T) {
	for _, m := range []*Memory{Watch(nil, []string{"GPU-1"}, nil), Watch(&leaving{gib: []float64{61}}, nil, nil)} {
		if err := m.Settle(t.Context(), false); err != nil {
			t.Error(err)
		}
		if err := m.Freed(t.Context(), false); err != nil {
			t.Error(err)
		}
	}
}
