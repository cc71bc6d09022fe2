package metric

import (
	"bytes"
	"errors"
	"math"
	"strings"
	"testing"
)

func TestWhatCannotBeReadIsNotWritten(t *testing.T) {
	rows := []struct {
		name  string
		spoil func(*Record)
		want  string
	}{
		{"NaN", func(r *Record) { r.Rate = math.NaN() }, "rate must be finite and not negative, got NaN"},
		{"an unlimited rate", func(r *Record) { r.Rate = math.Inf(1) }, "rate must be finite and not negative, got +Inf"},
		{"dispersion of nothing", func(r *Record) { r.GapCV2 = math.NaN() }, "gap_cv2 must be finite and not negative, got NaN"},
		{"tokens of this side's that are no number", func(r *Record) { r.Own = map[string]float64{"output_tokens": math.NaN()} }, "own.output_tokens must be finite, got NaN: leave out a counter that is unknown"},
		{"a counter divided by zero", func(r *Record) { r.Counters = map[string]float64{"a": 1, "hits": math.Inf(-1)} }, "counters.hits must be finite, got -Inf: leave out a counter that is unknown"},
		{"quantiles out of order", func(r *Record) { r.Summarise(); r.Gaps.P99 = 0 }, "gaps must have quantiles in order up to max, got {N:"},
		{"no window", func(r *Record) { r.To = r.From }, "to must be after from, got a window from 1s to 1s"},
		{"another schema", func(r *Record) { r.Schema = 7 }, "schema is 7, this version writes 1"},
		{"out of order", func(r *Record) { r.Requests[1].Scheduled = 0 }, "requests[1].scheduled is 0s after 1s: requests are in order of schedule"},
		{"time runs backwards", func(r *Record) { r.Requests[1].FirstToken = 5 }, "requests[1].first_token is 5ns, before the schedule at 1.1s"},
		{"the end before the start", func(r *Record) { r.Requests[0].LastToken = 5 }, "requests[0].last_token is 5ns, before the first token at "},
		{"a success without a token", func(r *Record) { r.Requests[1].FirstToken, r.Requests[1].LastToken = 0, 0 }, "requests[1].first_token is missing and the request is no failure"},
		{"a negative count", func(r *Record) { r.Requests[1].OutputTokens = -2 }, "requests[1].output_tokens is -2: a count is -1 when it is unknown"},
	}
	for _, row := range rows {
		bad := random(1, 2, 3, ms, 2*ms)
		row.spoil(bad)
		var b bytes.Buffer
		err := WriteRecords(&b, random(2, 2, 3, ms, 2*ms), bad)
		if want := "metric: record 1 (run 0 of poisson-4) cannot be stored: " + row.want; err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%s: %v, want %s", row.name, err, want)
		}
		if b.Len() != 0 {
			t.Errorf("%s: %d bytes were written before the error", row.name, b.Len())
		}
	}
}

func TestCorruptRecordsAreNamedByLineAndField(t *testing.T) {
	good := write(t, random(1, 2, 3, ms, 2*ms))
	change := func(old, new string) string {
		if !strings.Contains(good, old) {
			t.Fatalf("the record has no %s", old)
		}
		return strings.Replace(good, old, new, 1)
	}
	rows := []struct {
		name, line, want string
	}{
		{"NaN", change(`"rate":4`, `"rate":NaN`), `rate: "NaN" is no JSON value`},
		{"-nan", change(`"rate":4`, `"rate":-nan`), `rate: "-nan" is no JSON value`},
		{"Infinity", change(`"gap_cv2":1`, `"gap_cv2":Infinity`), `gap_cv2: "Infinity" is no JSON value`},
		{"1e999", change(`"rate":4`, `"rate":1e999`), "rate: 1e999 is out of the range of numbers"},
		{"inside a request", change(`"prompt_tokens":2048`, `"prompt_tokens":NaN`), `requests[0].prompt_tokens: "NaN" is no JSON value`},
		{"null for a count", change(`"output_tokens":3`, `"output_tokens":null`), "requests[0].output_tokens: null: what is missing is left out"},
		{"null for a rate", change(`"rate":4`, `"rate":null`), "rate: null: what is missing is left out"},
		{"null for a counter", change(`"rate":4`, `"counters":{"hits":null}`), "counters.hits: null: what is missing is left out"},
		{"cut off in a value", good[:strings.Index(good, `"gap_cv2":1`)+len(`"gap_cv2":`)], "gap_cv2: cut off after "},
		{"cut off in a list", good[:strings.Index(good, `"requests":[`)+len(`"requests":[{"id":"`)], "requests[0].id: cut off after "},
		{"cut off at the end", strings.TrimSuffix(good, "}\n"), "cut off after "},
		{"a word for a number", change(`"rate":4`, `"rate":"fast"`), "rate: string where float64 belongs"},
		{"a fraction for a count", change(`"output_tokens":3`, `"output_tokens":2.5`), "requests.output_tokens: number 2.5 where int belongs"},
		{"another schema", change(`"schema":1`, `"schema":2`), "schema: 2 is not the one that is read here, 1: read it with the version that wrote it, or measure anew"},
		{"no schema", change(`"schema":1,`, ``), "schema: missing: this is no record"},
		{"another file", `{"name":"bench"}`, "schema: missing: this is no record"},
		{"a list", `[1,2]`, "array where metric.Record belongs"},
		{"HTML", "<html>", `"<html>" is no JSON value`},
		{"no requests", change(`"requests":`, `"bequests":`), "requests: is missing"},
		{"a request without a schedule", change(`"scheduled":`, `"planned":`), "requests[0].scheduled: is missing or negative"},
		{"two records on a line", strings.TrimSpace(good) + good, "invalid character '{' after top-level value"},
	}
	for _, row := range rows {
		records, err := ReadRecords(strings.NewReader(good + "\n" + row.line))
		corrupt := (*Corrupt)(nil)
		if !errors.As(err, &corrupt) || corrupt.Line != 3 || !strings.HasPrefix(err.Error(), "corrupt record: line 3: "+row.want) {
			t.Errorf("%s:\ngot  %v\nwant corrupt record: line 3: %s", row.name, err, row.want)
		}
		if len(records) != 1 {
			t.Errorf("%s: %d whole records came back, want the one before", row.name, len(records))
		}
	}
	for _, empty := range []string{"", "\n \n"} {
		if records, err := ReadRecords(strings.NewReader(empty)); err == nil || !strings.Contains(err.Error(), "the file has no records") || records != nil {
			t.Errorf("an empty file: %v, %v", records, err)
		}
	}
}

func TestMissingCountsReadAsUnknown(t *testing.T) {
	line := `{"schema":1,"point_name":"p","from":0,"to":10,"requests":[{"scheduled":1,"first_token":2,"last_token":5}]}`
	records, err := ReadRecords(strings.NewReader(line))
	if err != nil {
		t.Fatal(err)
	}
	q := records[0].Requests[0]
	for _, n := range []int{q.FirstTokens, q.PromptTokens, q.OutputTokens, q.CachedTokens, q.AskedPrompt, q.AskedOutput} {
		if n != -1 {
			t.Errorf("a count that is left out reads as %d, want unknown: %+v", n, q)
		}
	}
}

func TestATextThatSaysNullIsNoNull(t *testing.T) {
	r := full() // its second message is "null"
	if _, err := ReadRecords(strings.NewReader(write(t, r))); err != nil {
		t.Error(err)
	}
}

func FuzzReadRecords(f *testing.F) {
	var b bytes.Buffer
	if err := WriteRecords(&b, full(), window()); err != nil {
		f.Fatal(err)
	}
	f.Add(b.Bytes())
	f.Add([]byte(`{"schema":1,"from":0,"to":10,"requests":[{"scheduled":1,"first_token":2,"last_token":5}]}`))
	f.Add([]byte(`{"schema":1,"rate":1e999}`))
	f.Add([]byte(`{"schema":1,"requests":[null]}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		records, err := ReadRecords(bytes.NewReader(text))
		if err == nil && len(records) == 0 {
			t.Fatal("neither a record nor an error")
		}
		for _, r := range records {
			for _, name := range Names() {
				if v, err := r.Value(name); math.IsNaN(v) || math.IsInf(v, 0) || err != nil && v != 0 {
					t.Fatalf("%s is %v, %v", name, v, err)
				}
			}
		}
		if len(records) == 0 {
			return
		}
		var once, twice bytes.Buffer
		if err := WriteRecords(&once, records...); err != nil {
			t.Fatalf("what was read cannot be written: %v", err)
		}
		again, err := ReadRecords(bytes.NewReader(once.Bytes()))
		if err != nil {
			t.Fatalf("what was written cannot be read: %v", err)
		}
		if err := WriteRecords(&twice, again...); err != nil || once.String() != twice.String() {
			t.Fatalf("read, written, read and written it differs: %v", err)
		}
	})
}
