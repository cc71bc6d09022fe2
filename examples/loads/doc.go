// Package loads asks each question at the load that answers it. The capacity
// of the engine is a number in the source: TestCapacity finds it, once, and the
// three points follow from it.
//
//	LOADS_PROBE=1 go test -count=1 -run TestCapacity -v ./examples/loads
//	go test -count=1 -v ./examples/loads
//
// An engine that is slower is offered no less: the rates are those that were
// written down, and so the baselines are found, and the loss is seen.
//
// In a project each of the questions is a test, as in package quickstart; here
// they are put to several engines, in a module of its own for the baselines.
package loads
