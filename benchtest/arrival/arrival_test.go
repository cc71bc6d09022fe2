package arrival

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"flag"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// take is the first n times of a schedule.
func take(p Process, seed uint64, n int) []time.Duration {
	var out []time.Duration
	for t := range p.Times(seed) {
		if len(out) == n {
			break
		}
		out = append(out, t)
	}
	return out
}

// processes are one of each kind, with the corners of their ranges.
var processes = []Process{
	Constant{Rate: 200},
	Constant{Rate: 3},
	Poisson{Rate: 4},
	Poisson{Rate: 12.5},
	Gamma{Rate: 4, Burstiness: 0.25},
	Gamma{Rate: 4, Burstiness: 1},
	Gamma{Rate: 4, Burstiness: 3},
	Ramp{From: 2, To: 8, Over: 30 * time.Second},
	Ramp{From: 0, To: 10, Over: 10 * time.Second},
	Ramp{From: 9, To: 1, Over: time.Minute},
	Steps{{Rate: 4, For: 30 * time.Second}, {Rate: 0, For: 10 * time.Second}, {Rate: 8}},
	Steps{{Rate: 0, For: 5 * time.Second}, {Rate: 2}},
}

// TestSchedulesNeverChange holds the bytes of schedules: stored baselines
// replay them.
func TestSchedulesNeverChange(t *testing.T) {
	var b bytes.Buffer
	for _, p := range processes {
		for _, seed := range []uint64{0, 1, math.MaxUint64} {
			times := take(p, seed, 10_000)
			h := sha256.New()
			for _, x := range times {
				binary.Write(h, binary.LittleEndian, int64(x))
			}
			fmt.Fprintf(&b, "%s, seed %d: sha256 of 10,000 %.8x\n", String(p), seed, h.Sum(nil))
			for _, x := range times[:5] {
				fmt.Fprintf(&b, "\t%d\n", int64(x))
			}
		}
	}
	golden(t, "schedules.golden", b.Bytes())
}

func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, got, 0o666); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		if err := os.WriteFile(path+".got", got, 0o666); err != nil {
			t.Error(err)
		}
		t.Errorf("%s differs: compare it with %s.got; a change here changes the load of every stored baseline", path, path)
	}
}

func TestPropertiesOfEverySchedule(t *testing.T) {
	for _, p := range processes {
		for seed := range uint64(20) {
			times := take(p, seed, 3000)
			if err := SelfTest(times, p); err != nil {
				t.Errorf("seed %d: %v", seed, err)
			}
			if again := take(p, seed, 3000); !slices.Equal(times, again) {
				t.Errorf("%s: the same seed gave another schedule", String(p))
			}
		}
	}
}

func TestSeedsDiffer(t *testing.T) {
	for _, p := range processes {
		_, constant := p.(Constant)
		if same := slices.Equal(take(p, 1, 100), take(p, 2, 100)); same != constant {
			t.Errorf("%s: seeds 1 and 2 give equal schedules: %v, want %v", String(p), same, constant)
		}
	}
}

func TestGammaOfShapeOneIsPoisson(t *testing.T) {
	if !slices.Equal(take(Gamma{Rate: 3, Burstiness: 1}, 7, 1000), take(Poisson{Rate: 3}, 7, 1000)) {
		t.Error("Gamma with Burstiness 1 is not the Poisson schedule of the same seed")
	}
}

func BenchmarkTimes(b *testing.B) {
	for _, p := range []Process{Constant{200}, Poisson{200}, Gamma{200, 0.5}, Ramp{2, 200, time.Hour}} {
		b.Run(strings.Fields(String(p))[0], func(b *testing.B) {
			n := 0
			for range p.Times(1) {
				if n++; n >= b.N {
					return
				}
			}
		})
	}
}
