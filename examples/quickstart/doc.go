// Package quickstart is a performance gate in two tests, on the embedded
// engine in virtual time: no GPU, no network, seconds of real time.
//
//	go test -count=1 -v ./examples/quickstart
//
// Two variables play with the engine: QUICKSTART_DECODE_SLOWDOWN=1.10 makes
// its decode 10 % slower, which must fail, and QUICKSTART_SEED=7 draws other
// engine noise, which must not.
//
// loops_test.go shows what each kind of load sees of a slowdown, and
// loads_test.go why the gate asks its question where it does; counts_test.go,
// behind QUICKSTART_COUNTS=1, counts how often the gate is right over 200
// engines with the slowdown and 200 without.
package quickstart
