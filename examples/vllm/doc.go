// Package vllm is a performance gate for a vLLM server, as its owner would
// write it. Its tests need a server that is worth measuring, so they are
// behind a build tag:
//
//	go test -tags=gpu -timeout 2h ./examples/vllm                    # starts vllm serve on this host's GPU
//	OPENLOOP_VLLM_URL=http://gpu-7:8000 \
//	go test -tags=gpu -timeout 2h ./examples/vllm                    # attaches to a server that runs
//
// The first time there is no baseline, which fails and prints the command
// that records one:
//
//	go test -tags=gpu -timeout 2h ./examples/vllm -openloop.update
//
// Without a GPU, a vllm program or a URL the tests fail and say what to set:
// a gate that skips is green and has measured nothing.
//
// A trial of the gate on a real vLLM needs no GPU, and a model of random weights
// no download: the same server beside itself must not be called slower, and one
// that takes its prompts in small pieces must be.
//
//	OPENLOOP_VLLM_SERVER=/opt/vllm/bin/vllm OPENLOOP_VLLM_MODEL=/models/tiny \
//	go test -tags=vllm -v -timeout 40m ./examples/vllm
//
// Both come from PyPI and a script: .ci/real-vllm installs them and runs this.
package vllm
