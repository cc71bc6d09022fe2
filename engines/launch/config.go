// Package launch says which inference server to start and how: the
// configuration that the packages vllm, sglang and llamacpp share, and the
// seam behind which a launcher starts the server's program. A configuration
// without a launcher starts a process; engines/container has the launcher for
// containers, in a package of its own, so that those who need none do not
// build Docker's client.
package launch

import (
	"context"
	"crypto/tls"
	"net"
	"net/http"
	"net/url"
	"time"
)

// Config says which server to start, or where one runs. The zero value of
// every field but Model is usable; with a URL Model may be empty too.
//
// A field that would mean nothing is refused, not ignored: an image without a
// launcher of containers, llama.cpp's threads for vLLM. Fields that say how to
// start a server are left aside when one is attached to, since the same test
// may be told by its environment to do either.
type Config struct {
	// Model is the model to serve: a repository's name, a folder, or for
	// llama.cpp the path of a .gguf file, as the server sees it (in a container
	// that is a path in the container). Attached, it must be served there,
	// under this name or from this root; empty takes the only model there is.
	// OPENLOOP_MODEL overrides it.
	Model string
	// URL attaches to a server instead of starting one. Empty looks at
	// OPENLOOP_VLLM_URL, OPENLOOP_SGLANG_URL or OPENLOOP_LLAMACPP_URL, and
	// then at OPENLOOP_ENGINE_URL.
	URL string
	// APIKey is the server's key, set at the start or sent when attached.
	// Empty is OPENLOOP_API_KEY, and without that no key. It never reaches a
	// file, a log or an error.
	APIKey string
	// AdminKey is the key that an attached SGLang wants for a flush
	// (--admin-api-key). Empty sends APIKey there too. SGLang only.
	AdminKey string

	// Launcher starts the server's program, as a container for instance. Nil
	// starts a process on this host.
	Launcher Launcher
	// Image is the container image: "vllm/vllm-openai:v0.26.0". Empty is the
	// launcher's own. A process has none.
	Image string
	// GPUs are the GPUs that the server may see: "all", or indices or UUIDs as
	// in "0,1". Empty leaves a process all that the test itself may see, and a
	// container none, as docker run does. It is CUDA_VISIBLE_DEVICES of a
	// process and --gpus of a container, where they are numbered from 0 again.
	GPUs string
	// Mounts are folders that a container is given, for weights and for the
	// caches of compilers, without which every start loads and compiles anew.
	// Nil mounts none. A process has none: it sees the host's files.
	Mounts []Mount
	// ShmSize is the size of a container's shared memory (/dev/shm) in bytes,
	// which several GPUs need much of: 8 << 30. Zero is the launcher's default,
	// 64 MiB in Docker. A process has the host's.
	ShmSize int64

	// Command is the program that is run before the arguments: {"vllm",
	// "serve"}. Empty is the kind's own program, or in a container what the
	// image starts. In a container it replaces the image's entrypoint.
	Command []string
	// Args are further arguments of the server: "--max-num-seqs", "64".
	Args []string
	// Env are KEY=VALUE pairs added to the test's environment, or to the
	// image's, which sees nothing of the test's. They win over those set here.
	Env []string
	// Dir is the server's working directory; empty is the test's, or the
	// image's.
	Dir string
	// LogFile receives the server's output, secrets removed. Empty is a file
	// in the folder for artifacts (OPENLOOP_ARTIFACTS), else a temporary one.
	LogFile string
	// StartBudget bounds the time from start to the first generation, pulling
	// an image, loading and compiling included. Zero is 10 minutes; in a test
	// no more than its deadline leaves.
	StartBudget time.Duration

	// Threads is the number of threads that compute (--threads). Zero is the
	// server's own choice. llama.cpp only, like the next three.
	Threads int
	// Parallel is the number of slots, which is how many requests are worked
	// on at once (--parallel); further ones wait. Zero is the server's own
	// choice.
	Parallel int
	// ContextSize is the context in tokens that the slots share (--ctx-size).
	// Zero is the server's own choice.
	ContextSize int
	// PromptCache lets requests take the beginning of their prompt from the
	// slots' caches, as llama.cpp does by itself, for points that are measured
	// warm or share prefixes. False has every prompt computed in full.
	PromptCache bool

	// Hardware names what the server computes on, as in "1x NVIDIA H200": it
	// is part of a baseline's key. Empty finds it out where that can be done.
	Hardware string
	// Chat asks /v1/chat/completions, with text prompts. False asks
	// /v1/completions, which also takes token ids.
	Chat bool

	// Header is added to every request, as a gateway may need it. Values are
	// treated as secrets.
	Header http.Header
	// TLS is the configuration for an https URL. Nil uses the host's roots.
	TLS *tls.Config
	// Proxy chooses a proxy for each request. Nil uses none, whatever the
	// environment says.
	Proxy func(*http.Request) (*url.URL, error)
	// Fresh sends each generation on a connection of its own, so that opening it
	// is part of what is measured. False keeps connections, until the server is
	// seen to close them after a stream.
	Fresh bool
	// HTTP2 speaks HTTP/2 and nothing else, over TLS or, to an http URL, without:
	// to a gateway that does, or to SGLang with --enable-http2 among Args. See
	// openai.Config for what it does to connections. False speaks HTTP/1.1.
	HTTP2 bool
	// Dial opens connections, as to a server in memory; it needs a URL, and
	// the environment is then left aside. Nil dials TCP.
	Dial func(ctx context.Context, network, addr string) (net.Conn, error)
}

// Mount is a folder that a container is given.
type Mount struct {
	// Source is an absolute path on the host, or the name of a volume.
	Source string
	// Target is the absolute path in the container.
	Target string
	// ReadOnly keeps the server from writing there, as suits weights. Zero
	// lets it.
	ReadOnly bool
}

// T is what a test hands to Start: a *testing.T, or what stands for one.
type T interface {
	Helper()
	Logf(format string, args ...any)
	Errorf(format string, args ...any)
	FailNow()
	Cleanup(func())
	Context() context.Context
}
