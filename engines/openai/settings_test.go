package openai

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestSettingsOfAServer(t *testing.T) {
	frame := func(kind byte, entries ...byte) string {
		return string([]byte{0, 0, byte(len(entries)), kind, 0, 0, 0, 0, 0}) + string(entries)
	}
	for _, tt := range []struct {
		what, sent string
		most       int64
		tells      bool
	}{
		{"a cap", frame(4, 0, 3, 0, 0, 0, 10), 10, true},
		{"a cap of none", frame(4, 0, 3, 0, 0, 0, 0), 0, true},
		{"a cap after others", frame(4, 0, 5, 0, 0, 64, 0, 0, 3, 0, 0, 1, 0) + frame(8, 0, 0, 0, 1), 256, true},
		{"no cap", frame(4, 0, 5, 0, 0, 64, 0), 0, false},
		{"nothing", frame(4), 0, false},
		{"another frame", frame(8, 0, 3, 0, 0, 0, 10), 0, false},
		{"HTTP/1.1", "HTTP/1.1 400 Bad Request\r\n\r\n", 0, false},
	} {
		for _, size := range []int{1, 4, 1000} {
			var s settings
			var most int64
			tells := false
			for in := []byte(tt.sent); len(in) > 0 && !s.told; {
				part := in[:min(size, len(in))]
				in = in[len(part):]
				if n, ok := s.take(part); ok {
					most, tells = n, true
				}
			}
			assert.True(t, s.told, tt.what)
			assert.Equal(t, tt.tells, tells, tt.what)
			assert.Equal(t, tt.most, most, tt.what)
		}
	}
}
