// Package killtest kills test binaries that measure, in every way and at random
// moments, and looks at what is left: no process, no container, no port, no
// lock, and every run that was reported finished on disk. It holds tests only:
//
//	go test ./engines/internal/killtest                    # each way once
//	go test ./engines/internal/killtest -kills 100         # .ci/kills
//	go test -tags=docker ./engines/internal/killtest -kills 100
//
// With the build tag docker half of the servers are containers.
package killtest
