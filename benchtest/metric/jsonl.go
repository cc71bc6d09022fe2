package metric

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
)

// WriteRecords writes records as JSON lines, one a line. Gaps that are not
// yet summarised are summarised in what is written; the records themselves
// are not changed. Nothing is written when a record could not be read back:
// the error names the record and the field.
func WriteRecords(w io.Writer, records ...*Record) error {
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	for i, r := range records {
		c := r.stored()
		if field, why := c.check(); field != "" {
			return fmt.Errorf("metric: record %d (run %d of %s) cannot be stored: %s %s", i, r.Run, r.PointName, field, why)
		}
		if err := enc.Encode(c); err != nil {
			return fmt.Errorf("metric: record %d (run %d of %s) cannot be stored: %w", i, r.Run, r.PointName, err)
		}
	}
	_, err := w.Write(out.Bytes())
	return err
}

// stored is a copy as it is written: summarised, of this schema, and with
// empty lists where there are none, since null is refused on reading.
func (r *Record) stored() *Record {
	c := *r
	if c.Schema == 0 {
		c.Schema = Schema
	}
	c.Requests = slices.Clone(r.Requests)
	c.Summarise()
	c.Requests = orEmpty(c.Requests)
	c.Point, c.Identity, c.Key = orEmpty(c.Point), orEmpty(c.Identity), orEmpty(c.Key)
	return &c
}

func orEmpty[S ~[]E, E any](s S) S {
	if s == nil {
		return S{}
	}
	return s
}

// Corrupt says where a file of records cannot be read.
type Corrupt struct {
	// Line counts from 1. Field is the path of the field, as in
	// "requests[17].sent"; empty when it is the line as a whole.
	Line  int
	Field string
	// Why is what is wrong there.
	Why string
}

// Error is, for example, "corrupt record: line 3: rate: NaN is no JSON value".
func (e *Corrupt) Error() string {
	if e.Field == "" {
		return fmt.Sprintf("corrupt record: line %d: %s", e.Line, e.Why)
	}
	return fmt.Sprintf("corrupt record: line %d: %s: %s", e.Line, e.Field, e.Why)
}

// ReadRecords reads what WriteRecords wrote. It stops at the first line that
// cannot be trusted (NaN, infinite, null, cut off, out of order, another
// schema, or nothing at all) with a *Corrupt that names the line and the
// field. The records before that line come back with the error: they are
// whole, as those of a run that was killed while writing its next one.
func ReadRecords(r io.Reader) ([]*Record, error) {
	var records []*Record
	in := bufio.NewReader(r)
	for n := 1; ; n++ {
		line, err := in.ReadBytes('\n')
		if err != nil && !errors.Is(err, io.EOF) {
			return records, fmt.Errorf("read records: line %d: %w", n, err)
		}
		if text := bytes.TrimSpace(line); len(text) > 0 {
			record, field, why := decode(text)
			if why != "" {
				return records, &Corrupt{Line: n, Field: field, Why: why}
			}
			records = append(records, record)
		}
		if err != nil {
			if len(records) == 0 {
				return nil, &Corrupt{Line: n, Why: "the file has no records"}
			}
			return records, nil
		}
	}
}

// decode reads one line; why is what is wrong with it, at field.
func decode(line []byte) (r *Record, field, why string) {
	var head struct{ Schema *int }
	if json.Unmarshal(line, &head) == nil {
		switch {
		case head.Schema == nil:
			return nil, "schema", "missing: this is no record"
		case *head.Schema != Schema:
			return nil, "schema", fmt.Sprintf("%d is not the one that is read here, %d: read it with the version that wrote it, or measure anew", *head.Schema, Schema)
		}
	}
	r = new(Record)
	err := json.Unmarshal(line, r)
	if err != nil || bytes.Contains(line, []byte("null")) {
		if field, why := locate(line); why != "" {
			return nil, field, why
		}
	}
	if wrong := (*json.UnmarshalTypeError)(nil); errors.As(err, &wrong) {
		return nil, wrong.Field, fmt.Sprintf("%s where %s belongs", wrong.Value, wrong.Type)
	}
	if err != nil {
		return nil, "", err.Error()
	}
	if field, why := r.check(); field != "" {
		return nil, field, why
	}
	return r, "", ""
}
