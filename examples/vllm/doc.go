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
package vllm
