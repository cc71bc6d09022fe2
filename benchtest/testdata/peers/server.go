//go:build linux

package main

import (
	"context"
	"os"
	"strings"
	"time"

	"github.com/openloop-go/openloop/internal/nullserver"
)

const (
	// model is the name of the model that the server has.
	model = "peers-model"
	// word is the text of every token: a word of the tokenizer's vocabulary.
	word = " w17"
	// prompt is the number of tokens that prompts are asked to have, and that
	// usage claims.
	prompt = 32
)

// serve is the server in a process of its own.
func serve([]string) error { return nullserver.Child(os.Stdin, os.Stdout) }

// startServer starts the server: streams of rate events a second, the first of
// them so long after the request. A rate of zero sends replies at once.
func startServer(ctx context.Context, self string, rate float64, first time.Duration) (*nullserver.Process, error) {
	return nullserver.Start(ctx, nullserver.Options{
		Rate: rate, First: first, Journal: true, Model: model, Token: word, Prompt: prompt,
	}, self, "serve")
}

// loadAverage is what the kernel says of the last 1, 5 and 15 minutes.
func loadAverage() string {
	text, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		return "unknown"
	}
	return strings.Join(strings.Fields(string(text))[:3], " ")
}
