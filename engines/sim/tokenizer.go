package sim

import "strings"

// The tokenizer is a toy with two properties: every token is a word, so that
// text the engine has generated comes back as the tokens it was, and any
// other text costs about a token for each four letters of a word.

// appendToken appends the text of a token: a space and its number in letters,
// " a" for 0, " b" for 1, " aa" for 26.
func appendToken(dst []byte, id int32) []byte {
	var word [8]byte
	i := len(word)
	for n := int(id) + 1; n > 0; n = (n - 1) / 26 {
		i--
		word[i] = 'a' + byte((n-1)%26)
	}
	return append(append(dst, ' '), word[i:]...)
}

// tokenize returns the tokens of a text.
func tokenize(text string) []int32 {
	var tokens []int32
	for word := range strings.FieldsSeq(text) {
		if id, ok := wordToken(word); ok {
			tokens = append(tokens, id)
			continue
		}
		for len(word) > 0 {
			piece := word[:min(4, len(word))]
			tokens = append(tokens, int32(hashString(piece)%specials))
			word = word[len(piece):]
		}
	}
	return tokens
}

// wordToken is the inverse of appendToken, without the space.
func wordToken(word string) (int32, bool) {
	if len(word) > 4 {
		return 0, false
	}
	n := 0
	for i := range len(word) {
		c := word[i]
		if c < 'a' || c > 'z' {
			return 0, false
		}
		n = n*26 + int(c-'a') + 1
	}
	return int32(n - 1), n <= vocabulary
}

// detokenize is the text of tokens.
func detokenize(tokens []int32) string {
	var text []byte
	for _, id := range tokens {
		text = appendToken(text, id)
	}
	return string(text)
}
