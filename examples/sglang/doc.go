// Package sglang is a performance gate for an SGLang server, as its owner
// would write it. Its tests need a server that is worth measuring, so they are
// behind a build tag:
//
//	go test -tags=gpu -timeout 2h ./examples/sglang                    # starts SGLang on this host's GPU
//	OPENLOOP_SGLANG_URL=http://gpu-7:30000 \
//	go test -tags=gpu -timeout 2h ./examples/sglang                    # attaches to a server that runs
//
// The first time there is no baseline, which fails and prints the command
// that records one:
//
//	go test -tags=gpu -timeout 2h ./examples/sglang -openloop.update
//
// Without a GPU, an installed SGLang or a URL the tests fail and say what to set:
// a gate that skips is green and has measured nothing.
package sglang
