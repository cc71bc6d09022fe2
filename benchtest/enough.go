package benchtest

import (
	"errors"
	"fmt"
)

// enough reports that no further run is to be made although there are not n,
// since one cannot be trusted, and then no assertion judges any of them. Runs of
// a first look, which the caller may want to see, are made all the same, unless
// they are to be a baseline. An extension that stops so is an error.
func (s *session) enough(n int, extends bool) (bool, error) {
	r := s.runs.Records[len(s.runs.Records)-1]
	if r.Valid() || len(s.runs.Records) >= n || !extends && s.baseline == 0 {
		return false, nil
	}
	text := fmt.Sprintf("%s %d of %d cannot be trusted, so no further run is made: %s: %s", s.word(), r.Run+1, n, r.Problems[0].Kind, r.Problems[0].Text)
	if extends {
		return true, errors.New("benchtest: " + text)
	}
	s.logf("%s", text)
	return true, nil
}
