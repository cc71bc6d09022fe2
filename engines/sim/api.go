package sim

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"slices"
	"strings"
)

// maxBody bounds a request's body.
const maxBody = 64 << 20

// ask is the body of a completion or chat completion: the fields that the
// engine understands. Others are ignored, as vLLM and SGLang do.
type ask struct {
	Model               string          `json:"model"`
	Prompt              json.RawMessage `json:"prompt"`
	Messages            []message       `json:"messages"`
	MaxTokens           *int            `json:"max_tokens"`
	MaxCompletionTokens *int            `json:"max_completion_tokens"`
	MinTokens           int             `json:"min_tokens"`
	IgnoreEOS           bool            `json:"ignore_eos"`
	Temperature         *float64        `json:"temperature"`
	N                   *int            `json:"n"`
	Stream              bool            `json:"stream"`
	StreamOptions       struct {
		IncludeUsage    bool `json:"include_usage"`
		ContinuousUsage bool `json:"continuous_usage_stats"`
	} `json:"stream_options"`
	StreamInterval int     `json:"stream_interval"`
	ReturnTokenIDs bool    `json:"return_token_ids"`
	CacheSalt      *string `json:"cache_salt"`
	RequestID      string  `json:"request_id"`
	RID            string  `json:"rid"`
}

// badRequest is an error that answers with its own status.
type badRequest struct {
	status int
	param  string
	text   string
}

func (e *badRequest) Error() string { return e.text }

func bad(param, format string, args ...any) error {
	return &badRequest{http.StatusBadRequest, param, fmt.Sprintf(format, args...)}
}

// readAsk reads and checks a request's body.
func (s *Server) readAsk(r *http.Request, chat bool) (*ask, []int32, error) {
	if media, _, _ := strings.Cut(r.Header.Get("Content-Type"), ";"); !strings.EqualFold(strings.TrimSpace(media), "application/json") {
		return nil, nil, &badRequest{http.StatusUnsupportedMediaType, "", "Unsupported Media Type: Only 'application/json' is allowed"}
	}
	body, err := io.ReadAll(io.LimitReader(r.Body, maxBody+1))
	if err != nil {
		return nil, nil, bad("", "cannot read the body: %v", err)
	}
	if len(body) > maxBody {
		return nil, nil, &badRequest{http.StatusRequestEntityTooLarge, "", fmt.Sprintf("the body is larger than %d bytes", maxBody)}
	}
	a, tokens, err := decode(body)
	if err == nil && s.cfg.Flavor == TensorRTLLM {
		if err := forbidden(body, chat); err != nil {
			return nil, nil, err
		}
	}
	if err != nil {
		field := ""
		if typed := (*json.UnmarshalTypeError)(nil); errors.As(err, &typed) {
			field = typed.Field
		}
		return nil, nil, bad(field, "the body is not a valid request: %v", err)
	}
	if a.Model != "" && a.Model != s.cfg.Model && a.Model != s.cfg.answerModel() {
		return nil, nil, &badRequest{http.StatusNotFound, "model", fmt.Sprintf("The model `%s` does not exist.", a.Model)}
	}
	switch {
	case a.N != nil && *a.N != 1:
		return nil, nil, bad("n", "n must be 1, got %d", *a.N)
	case a.Temperature != nil && (*a.Temperature < 0 || math.IsNaN(*a.Temperature)):
		return nil, nil, bad("temperature", "temperature must be non-negative, got %v.", *a.Temperature)
	case a.StreamOptions.ContinuousUsage && !a.StreamOptions.IncludeUsage:
		a.StreamOptions.ContinuousUsage = false
	}
	if a.CacheSalt != nil && s.cfg.Faults.Protocol.RejectSalt {
		return nil, nil, bad("cache_salt", "extra fields are not permitted: cache_salt")
	}
	if a.CacheSalt != nil && s.cfg.Flavor == VLLM {
		if n := len(*a.CacheSalt); n < 1 || n > 128 || strings.ContainsAny(*a.CacheSalt, "@/\\\x00") {
			return nil, nil, bad("cache_salt", "cache_salt must be 1 to 128 characters without @, / and \\, got %q", *a.CacheSalt)
		}
	}
	if chat {
		tokens, err = chatPrompt(a.Messages)
	} else if s.cfg.Faults.Protocol.NoTokenIDs && len(a.Prompt) > 0 && !bytes.Contains(a.Prompt, []byte{'"'}) {
		err = bad("prompt", "prompt must be text")
	} else if tokens == nil {
		tokens, err = prompt(a.Prompt)
	}
	if err == nil {
		err = inVocabulary(tokens)
	}
	if err != nil {
		return nil, nil, err
	}
	most := 16 // the completions route's own default
	if chat {
		most = s.cfg.MaxModelLen - len(tokens)
	}
	if a.MaxTokens != nil {
		most = *a.MaxTokens
	}
	if chat && a.MaxCompletionTokens != nil {
		most = *a.MaxCompletionTokens
	}
	a.MaxTokens = &most
	if err := s.cfg.check(len(tokens), most, a.MinTokens); err != nil {
		return nil, nil, bad("", "%v", err)
	}
	if s.cfg.Faults.NoUsage {
		a.StreamOptions.IncludeUsage, a.StreamOptions.ContinuousUsage, a.ReturnTokenIDs = false, false, false
	}
	return a, tokens, nil
}

// prompt reads a prompt in any of its forms: text, token ids, or a list with
// one of either.
func prompt(raw json.RawMessage) ([]int32, error) {
	raw = bytes.TrimSpace(raw)
	if len(raw) == 0 {
		return nil, bad("prompt", "prompt is missing")
	}
	if raw[0] == '"' {
		var text string
		if err := json.Unmarshal(raw, &text); err != nil {
			return nil, bad("prompt", "prompt: %v", err)
		}
		return tokenize(text), nil
	}
	if ids, ok := tokenIDs(raw); ok {
		return ids, nil
	}
	var list []json.RawMessage
	if json.Unmarshal(raw, &list) != nil || len(list) != 1 || len(list[0]) == 0 || list[0][0] != '"' && list[0][0] != '[' {
		return nil, bad("prompt", "prompt must be a string, a list of token ids, or a list of one of these")
	}
	return prompt(list[0])
}

func inVocabulary(ids []int32) error {
	for i, id := range ids {
		if id >= vocabulary {
			return bad("prompt", "Token id %d is out of vocabulary (prompt[%d], of %d)", id, i, vocabulary)
		}
	}
	return nil
}

// decode reads a body. A long list of token ids is most of it and would be
// scanned three times, so it is cut out first and read by itself; tokens are
// then the prompt.
func decode(body []byte) (a *ask, tokens []int32, err error) {
	const key = `"prompt":`
	if at := bytes.Index(body, []byte(key+"[")); at >= 0 {
		list := body[at+len(key):]
		list = list[:bytes.IndexByte(list, ']')+1]
		if ids, ok := tokenIDs(list); ok && len(ids) > 0 {
			short := append(append(slices.Clone(body[:at]), key+"0"...), body[at+len(key)+len(list):]...)
			a = &ask{}
			// Any prompt but the 0 put there is another field's.
			if json.Unmarshal(short, a) == nil && string(a.Prompt) == "0" {
				return a, ids, nil
			}
		}
	}
	a = &ask{}
	return a, nil, json.Unmarshal(body, a)
}

// tokenIDs reads a list of non-negative integers; false when it is anything
// else.
func tokenIDs(raw []byte) ([]int32, bool) {
	if len(raw) < 2 || raw[0] != '[' || raw[len(raw)-1] != ']' {
		return nil, false
	}
	ids := make([]int32, 0, bytes.Count(raw, []byte{','})+1)
	id, digits := 0, 0
	for _, c := range raw[1:] {
		switch {
		case c >= '0' && c <= '9':
			if digits == 9 || digits > 0 && id == 0 { // too large, or no number in JSON
				return nil, false
			}
			id, digits = id*10+int(c-'0'), digits+1
		case (c == ',' || c == ']') && digits > 0:
			ids = append(ids, int32(id))
			id, digits = 0, 0
		case c == ' ' && digits == 0:
		default:
			return ids, c == ']' && len(ids) == 0
		}
	}
	return ids, true
}
