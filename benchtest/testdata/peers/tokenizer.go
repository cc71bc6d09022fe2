//go:build linux

package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
)

// words is the size of the vocabulary.
const words = 4096

// tokenizer writes a tokenizer in Hugging Face's format, which the peers count
// tokens and make prompts with: one token for each word between blanks. A word
// that it does not know is an ordinary token, so that text of any kind has as
// many tokens as words.
func tokenizer(args []string) error {
	flags := flag.NewFlagSet("tokenizer", flag.ExitOnError)
	dir := flags.String("dir", "", "folder to write to")
	flags.Parse(args)
	vocabulary := map[string]int{"other": 0, "<s>": 1, "</s>": 2}
	for i := range words - len(vocabulary) {
		vocabulary[fmt.Sprintf("w%d", i)] = i + 3
	}
	added := []map[string]any{}
	for _, text := range []string{"<s>", "</s>"} {
		added = append(added, map[string]any{
			"id": vocabulary[text], "content": text, "special": true,
			"single_word": false, "lstrip": false, "rstrip": false, "normalized": false,
		})
	}
	files := map[string]any{
		"tokenizer.json": map[string]any{
			"version": "1.0", "truncation": nil, "padding": nil, "added_tokens": added,
			"normalizer": nil, "pre_tokenizer": map[string]any{"type": "WhitespaceSplit"},
			"post_processor": nil, "decoder": nil,
			"model": map[string]any{"type": "WordLevel", "vocab": vocabulary, "unk_token": "other"},
		},
		"tokenizer_config.json": map[string]any{
			"tokenizer_class": "PreTrainedTokenizerFast", "bos_token": "<s>", "eos_token": "</s>",
			"model_max_length": 8192, "clean_up_tokenization_spaces": false,
		},
		"config.json": map[string]any{
			"model_type": "llama", "architectures": []string{"LlamaForCausalLM"}, "vocab_size": words,
			"hidden_size": 64, "intermediate_size": 128, "num_hidden_layers": 1, "num_attention_heads": 2,
			"max_position_embeddings": 8192, "bos_token_id": 1, "eos_token_id": 2,
		},
	}
	if err := os.MkdirAll(*dir, 0o755); err != nil {
		return err
	}
	for name, content := range files {
		text, err := json.Marshal(content)
		if err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(*dir, name), text, 0o644); err != nil {
			return err
		}
	}
	return nil
}
