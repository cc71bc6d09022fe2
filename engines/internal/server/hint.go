package server

import (
	"fmt"
	"regexp"
	"strings"
)

// hints are what to do about what servers say when they die while loading.
var hints = []struct {
	pattern *regexp.Regexp
	advice  string
}{
	{regexp.MustCompile(`No module named '?(vllm|sglang)\b`),
		"the interpreter found has no such package: {install}, or set Config.Command to one that has, or {variable} to the URL of a server that runs"},
	{regexp.MustCompile(`(?i)failed to infer device type|no cuda gpus? (are|is) available|no cuda-capable device|found no nvidia driver|could not select device driver|CUDA driver initialization failed`),
		"no usable GPU: run where there is one, or set {variable} or OPENLOOP_ENGINE_URL to the URL of a server that runs"},
	{regexp.MustCompile(`(?i)out of memory|free memory on device .* is less than|no available memory for the cache blocks|not enough memory`),
		"not enough memory: stop what else uses the device, or give the server less to hold in Config.Args"},
	{regexp.MustCompile(`(?i)gated repo|401 client error|access to model .* is restricted`),
		"the model needs a licence accepted: set HF_TOKEN in the environment to a token that may read it"},
	{regexp.MustCompile(`(?i)is not a valid model identifier|repository not found|repo id must|is not a local folder|can't load the configuration of`),
		"the model was not found: check Config.Model (a repository's name or a folder)"},
	{regexp.MustCompile(`(?i)failed to open GGUF file|expected 'GGUF'`),
		"the model is no file that llama.cpp can read: check Config.Model (the path of a .gguf file)"},
	{regexp.MustCompile(`(?i)unrecognized arguments|no such option|invalid choice|error: invalid argument: `),
		"the server does not know one of the arguments: check Config.Args against its version"},
	{regexp.MustCompile(`(?i)address already in use|couldn't bind HTTP server socket`),
		"another program took the port in the meantime: run again"},
}

// advise adds what to do to an error of a start, where it is known.
func (k *Kind) advise(err error) error {
	text := err.Error()
	for _, h := range hints {
		if h.pattern.MatchString(text) {
			fill := strings.NewReplacer("{install}", k.Install, "{variable}", k.Variable)
			return fmt.Errorf("%w\n%s", err, fill.Replace(h.advice))
		}
	}
	return err
}
