package shape

import (
	"slices"
	"testing"
)

func TestShapeOfAValue(t *testing.T) {
	for value, want := range map[string]string{
		`{"b":1,"a":"x","c":null,"d":true}`:                           "{b: number, a: text, c: null, d: bool}",
		`{"choices":[{"text":"a"},{"x":1}],"ids":[],"usage":{"n":2}}`: "{choices: [{text: text}], ids: [], usage: {n: number}}",
		`[[1,2],[3]]`: "[[number]]",
		`"x"`:         "text",
	} {
		if got, err := Of([]byte(value)); err != nil || got != want {
			t.Errorf("%s: %s, %v; want %s", value, got, err, want)
		}
	}
	for _, value := range []string{``, `{`, `{"a":}`, `[1`, `{} {}`, `{"a":1]`} {
		if got, err := Of([]byte(value)); err == nil {
			t.Errorf("%s: %s, want an error", value, got)
		}
	}
}

func TestShapeOfAStream(t *testing.T) {
	got, err := Stream([]byte("data: {\"a\":1}\n\ndata: {\"a\":2}\n\ndata: {\"a\":null}\n\ndata: {\"a\":1}\n\ndata: [DONE]\n\n"))
	if want := []string{"{a: number}", "{a: null}", "{a: number}", "[DONE]"}; err != nil || !slices.Equal(got, want) {
		t.Errorf("%q, %v; want %q", got, err, want)
	}
	for _, body := range []string{"data: {\n\n", "oh\n\n"} {
		if got, err := Stream([]byte(body)); err == nil {
			t.Errorf("%q: %q, want an error", body, got)
		}
	}
}
