package sim

import (
	"encoding/json"
	"reflect"
	"slices"
	"testing"
)

// FuzzTokensSurviveTheirText: text that the engine has made comes back as the
// tokens it was.
func FuzzTokensSurviveTheirText(f *testing.F) {
	for _, id := range []uint32{0, 1, 25, 26, 27, 701, 702, 18277, 18278, specials, vocabulary - 1} {
		f.Add(id, id/2)
	}
	f.Fuzz(func(t *testing.T, a, b uint32) {
		ids := []int32{int32(a % vocabulary), int32(b % vocabulary)}
		if got := tokenize(detokenize(ids)); !slices.Equal(got, ids) {
			t.Errorf("%v is %q, which is %v", ids, detokenize(ids), got)
		}
	})
}

func TestAnyOtherTextHasATokenForFourBytes(t *testing.T) {
	for text, want := range map[string]int{
		"": 0, "   ": 0, "a b": 2, "Hello": 2, "Hello, world!": 4, "tokenization": 3, "12345678": 2, "zzzz": 1, "ÄÖÜ": 2,
	} {
		got := tokenize(text)
		if len(got) != want {
			t.Errorf("%q has %d tokens, want %d", text, len(got), want)
		}
		for _, id := range got {
			if id < 0 || id >= vocabulary {
				t.Errorf("%q: token %d", text, id)
			}
		}
	}
}

// FuzzDecode: cutting the token ids out of a body changes nothing about what
// is read.
func FuzzDecode(f *testing.F) {
	for _, body := range []string{
		`{"prompt":[1,2,3],"max_tokens":4}`,
		`{"prompt":[1, 2 ,3]}`,
		`{"prompt":"text \"prompt\":[1]","stream":true}`,
		`{"x":{"prompt":[1,2]},"prompt":"text"}`,
		`{"prompt":[1,2],"prompt":[3]}`,
		`{"prompt":["one"]}`,
		`{"prompt":[]}`, `{"prompt":[[1,2]]}`, `{"prompt":[-1]}`, `{"prompt":[1.5]}`, `{"prompt":[01]}`, `{"prompt":[`, `{"prompt":0}`,
		`{"prompt":[9999999999]}`, `{"a":"\\","prompt":[1]}`,
	} {
		f.Add([]byte(body))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		a, tokens, err := decode(body)
		var want ask
		wantErr := json.Unmarshal(body, &want)
		if (err == nil) != (wantErr == nil) {
			t.Fatalf("%q: %v, plainly %v", body, err, wantErr)
		}
		if err != nil {
			return
		}
		if tokens != nil {
			var plain []int32
			if json.Unmarshal(want.Prompt, &plain) != nil || !slices.Equal(tokens, plain) {
				t.Fatalf("%q: prompt %v, plainly %s", body, tokens, want.Prompt)
			}
			a.Prompt = want.Prompt
		}
		if !reflect.DeepEqual(*a, want) {
			t.Fatalf("%q: %+v, plainly %+v", body, *a, want)
		}
	})
}
