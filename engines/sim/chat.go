package sim

import (
	"encoding/json"
	"errors"
	"fmt"
)

type message struct {
	Role    string          `json:"role"`
	Content json.RawMessage `json:"content"`
}

// chatPrompt is the prompt that a chat's template makes, with its control
// tokens.
func chatPrompt(messages []message) ([]int32, error) {
	if len(messages) == 0 {
		return nil, bad("messages", "messages must not be empty")
	}
	const begin, headerStart, headerEnd, endOfTurn = specials, specials + 6, specials + 7, specials + 9
	tokens := []int32{begin}
	for i, m := range messages {
		text, err := contentText(m.Content)
		if err != nil {
			return nil, bad("messages", "messages[%d].content: %v", i, err)
		}
		tokens = append(tokens, headerStart)
		tokens = append(append(tokens, tokenize(m.Role)...), headerEnd)
		tokens = append(append(tokens, tokenize(text)...), endOfTurn)
	}
	return append(append(append(tokens, headerStart), tokenize("assistant")...), headerEnd), nil
}

// contentText is the text of a message: a string, or a list of text parts.
func contentText(raw json.RawMessage) (string, error) {
	var text string
	if json.Unmarshal(raw, &text) == nil {
		return text, nil
	}
	var parts []struct{ Type, Text string }
	if err := json.Unmarshal(raw, &parts); err != nil {
		return "", errors.New("must be text or a list of text parts")
	}
	for _, p := range parts {
		if p.Type != "text" {
			return "", fmt.Errorf("part of type %q: only text is served", p.Type)
		}
		text += p.Text
	}
	return text, nil
}
