package server

import (
	"fmt"
	"regexp"
	"strings"
	"sync"
)

// noGPU is what to do where a server finds no device.
const noGPU = "no usable GPU: {gpus}, or set {variable} or OPENLOOP_ENGINE_URL to the URL of a server that runs"

// hints are what to do about what servers say when they die while loading:
// the most telling first, since a server that finds no GPU says much else.
// In braces stand the words of advise.
var hints = []struct {
	pattern *regexp.Regexp
	advice  string
}{
	{regexp.MustCompile(`No module named '?(vllm|sglang)\b`),
		"the interpreter found has no such package: {install}, or set Config.Command to one that has, or {variable} to the URL of a server that runs"},
	// vLLM and SGLang of several ages, CUDA and HIP through PyTorch, llama.cpp
	// told to use a GPU, and Docker.
	{regexp.MustCompile(`(?i)failed to infer device type|no accelerator \(cuda|platform plugin is available|no (cuda|hip) gpus? (are|is) available|no (cuda|rocm)-capable device|found no nvidia driver|cuda driver initialization failed|driver version is insufficient|not compiled with cuda enabled|invalid value for main_gpu|invalid device ordinal|could not select device driver|nvidia-container-cli: .*error`),
		noGPU},
	{regexp.MustCompile(`(?i)\(out of memory\)|\(often the kernel, out of memory\)`),
		"not enough memory of the host, or of what a container may have of it: free some, or give the server less to hold in Config.Args"},
	{regexp.MustCompile(`(?i)out of ?memory|free memory on device .* is less than|available memory on node .* is less than|no available memory for the cache blocks|not enough memory`),
		"not enough memory: stop what else uses the device, or give the server less to hold in Config.Args"},
	{regexp.MustCompile(`(?i)gated repo|401 client error|access to model .* is restricted`),
		"the model needs a licence accepted: set HF_TOKEN in {environment} to a token that may read it"},
	{regexp.MustCompile(`(?i)couldn't connect to 'https?://|cannot find (an appropriate cached snapshot folder|the requested files in the (disk|local) cache)|failed to resolve 'huggingface\.co'|LocalEntryNotFoundError`),
		"the model is not on this machine and its repository cannot be reached: download it beforehand{mount}"},
	{regexp.MustCompile(`(?i)is not a valid model identifier|invalid repository id or local directory|incorrect path_or_model_id|repository not found|RepositoryNotFoundError|repo id must|is not a local folder|can't load the configuration of|does not appear to have a file named config\.json`),
		"the model was not found: check Config.Model (a repository's name or a folder{inside})"},
	{regexp.MustCompile(`(?i)failed to open GGUF file|expected 'GGUF'|invalid magic`),
		"the model is no file that llama.cpp can read: check Config.Model (the path of a .gguf file{inside})"},
	{regexp.MustCompile(`(?i)unrecognized arguments|no such option|invalid choice|error: invalid argument: |flag provided but not defined`),
		"the server does not know one of the arguments: check Config.Args against its version"},
	{regexp.MustCompile(`the server speaks TLS: use https://`),
		"it was told to speak TLS: leave that out of Config.Args (--ssl-keyfile, --ssl-certfile), since it is asked on this host alone"},
	{regexp.MustCompile(`no image is named for the container`), "{image} for instance"},
	{regexp.MustCompile(`(?i)address already in use|couldn't bind HTTP server socket`),
		"another program took the port in the meantime: run again"},
}

// lastWords are lines after which a server ends, or ought to: some have been
// seen to hang with the process alive and nothing listening.
var lastWords = regexp.MustCompile(`Engine core initialization failed|EngineCore failed to start|Scheduler hit an exception|Rank \d+ scheduler is dead|exiting due to model loading error|RuntimeError: Failed to infer device type|RuntimeError: No accelerator \(CUDA`)

// dyingWords are what servers say at work when what computes has died: what
// answers ends after that, or does not.
var dyingWords = regexp.MustCompile(`EngineDeadError|EngineCore encountered (a fatal error|an issue)|[Ee]ngine core proc \S+ died|Scheduler hit an exception|Rank \d+ scheduler is dead|Received sigquit from a child process`)

// diagnosis is the most telling line of a log so far.
type diagnosis struct {
	sync.Mutex
	found bool
	hint  int // index of hints
	line  string
}

// read keeps a line that tells more than those before it.
func (d *diagnosis) read(text string) {
	d.Lock()
	defer d.Unlock()
	for i, h := range hints {
		if d.found && i >= d.hint {
			return
		}
		if h.pattern.MatchString(text) {
			d.found, d.hint, d.line = true, i, text
			return
		}
	}
}

// advise adds what to do to an error of a start, where it is known, and the
// line that says so, where it is further up in the log.
func (k *Kind) advise(c Config, d *diagnosis, err error) error {
	message := err.Error()
	d.read(message)
	d.Lock()
	defer d.Unlock()
	if !d.found {
		return err
	}
	advice := k.fill(c, hints[d.hint].advice)
	if strings.Contains(message, d.line) {
		return fmt.Errorf("%w\n%s", err, advice)
	}
	return fmt.Errorf("%w\nfurther up in it: %s\n%s", err, strings.TrimSpace(d.line), advice)
}

// fill replaces the words in braces.
func (k *Kind) fill(c Config, advice string) string {
	words := []string{
		"{install}", k.Install, "{variable}", k.Variable, "{environment}", "the environment",
		"{gpus}", "run where there is one", "{mount}", "", "{inside}", "", "{image}", k.Image,
	}
	if c.Launcher != nil {
		words = []string{
			"{install}", "use an image that has it", "{variable}", k.Variable, "{environment}", "Config.Env",
			"{gpus}", `give the container one with Config.GPUs ("all") on a host that has one`,
			"{mount}", " and mount it with Config.Mounts",
			"{inside}", " as the container sees it: mount it with Config.Mounts", "{image}", k.Image,
		}
		if c.GPUs != "" {
			words[7] = "run where there is one, with the NVIDIA container toolkit installed"
		}
	}
	return strings.NewReplacer(words...).Replace(advice)
}
