package metric

import (
	"bytes"
	"flag"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"
)

var update = flag.Bool("update", false, "rewrite the golden files")

func write(t *testing.T, records ...*Record) string {
	t.Helper()
	var b bytes.Buffer
	if err := WriteRecords(&b, records...); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// full is a record with something in every field that a file keeps.
func full() *Record {
	r := random(7, 2, 4, 5*ms, 20*ms)
	r.Test, r.PointName = "TestDecode", "poisson-4"
	r.Point = []Pair{{"arrivals", "poisson 4/s"}, {"workload", "lengths 2048/256"}}
	r.PointHash = Hash(r.Point)
	r.Identity = []Pair{{"engine", "sim"}, {"hardware", "1x H100 <SXM> & more"}}
	r.Key = r.Identity[:1]
	r.Unrecorded = []string{"driver"}
	r.Run, r.Start, r.StartID, r.Seed = 2, 1, "a1b2", math.MaxUint64
	r.Time, r.Virtual = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC), true
	r.WarmupRequests, r.Flush, r.FlushDetail, r.CacheProof = 50, "flushed", `{"success":true}`, "requests"
	r.Counters = map[string]float64{"prompt_tokens": 4096, "preemptions": 0}
	r.Problems = []Problem{{"client-limited", "lag p99 9 ms, limit 5 ms: use another host"}}
	r.Warnings = []string{"no compile log"}
	q := &r.Requests[1]
	q.ID, q.Failure, q.Message, q.Finish, q.NewConnection, q.Warnings = "r1", "truncated", "null", "stop", true, []string{"no [DONE]"}
	q.Released = q.Scheduled
	return r
}

func TestRecordOnDisk(t *testing.T) {
	got := write(t, full())
	path := filepath.Join("testdata", "record.jsonl")
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		if err := os.WriteFile(path+".got", []byte(got), 0o666); err != nil {
			t.Error(err)
		}
		t.Errorf("%s differs: compare it with %s.got; what old versions wrote must stay readable, or Schema must change", path, path)
	}
	records, err := ReadRecords(bytes.NewReader(want))
	if err != nil {
		t.Fatal(err)
	}
	if again := write(t, records...); again != got {
		t.Errorf("read and written again it is\n%s\nwant\n%s", again, got)
	}
}

// TestValuesSurviveTheDisk: a record read back has the same value, or the
// same refusal, for every name.
func TestValuesSurviveTheDisk(t *testing.T) {
	summarised := random(9, 400, 30, ms, 40*ms)
	summarised.Summarise()
	before := []*Record{random(8, 1200, 20, 3*ms, 50*ms), summarised, full(), window(), window(repeat(30, streamed(1, 1, 5))...), window(repeat(3, streamed(9, -1, 5, 5, 5))...)}
	after, err := ReadRecords(strings.NewReader(write(t, before...)))
	if err != nil {
		t.Fatal(err)
	}
	if len(after) != len(before) {
		t.Fatalf("%d records came back, want %d", len(after), len(before))
	}
	for i := range before {
		for _, name := range Names() {
			a, errA := before[i].Value(name)
			b, errB := after[i].Value(name)
			if a != b || errorText(errA) != errorText(errB) {
				t.Errorf("record %d: %s is %v (%v), read back %v (%v)", i, name, a, errA, b, errB)
			}
		}
		slo := SLO{TTFT: 75 * ms, TPOT: 20 * ms, ITL: 45 * ms}
		goodA, totalA := before[i].Attainment(slo)
		goodB, totalB := after[i].Attainment(slo)
		if goodA != goodB || totalA != totalB || before[i].GapsAreTokens() != after[i].GapsAreTokens() {
			t.Errorf("record %d: attainment %d/%d, read back %d/%d", i, goodA, totalA, goodB, totalB)
		}
		for _, name := range Names() {
			a, errA := PooledValue(name, before[i], before[0])
			b, errB := PooledValue(name, after[i], after[0])
			if a != b || errorText(errA) != errorText(errB) {
				t.Errorf("records %d and 0: %s is %v (%v), read back %v (%v)", i, name, a, errA, b, errB)
			}
		}
	}
}

func TestWritingChangesNothing(t *testing.T) {
	r := random(1, 3, 5, ms, 9*ms)
	before := *r
	before.Requests = append([]Timeline(nil), r.Requests...)
	write(t, r)
	if !reflect.DeepEqual(*r, before) {
		t.Error("writing a record changed it")
	}
}

func BenchmarkWriteAndReadRecords(b *testing.B) {
	r := random(1, 2000, 256, 5*ms, 20*ms)
	r.Summarise()
	for range b.N {
		var buf bytes.Buffer
		if err := WriteRecords(&buf, r); err != nil {
			b.Fatal(err)
		}
		b.SetBytes(int64(buf.Len()))
		if _, err := ReadRecords(&buf); err != nil {
			b.Fatal(err)
		}
	}
}
