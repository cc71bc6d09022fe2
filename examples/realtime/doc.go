// Package realtime measures the embedded engine over a real port and a real
// clock, as a server of your own would be measured, and holds the result
// against the same measurement in virtual time. It takes about half a minute.
//
//	go test -count=1 -v ./examples/realtime
package realtime
