// Package sim is the embedded engine: a discrete model of a continuous-batching
// inference server, so that a performance test can be written, run and trusted
// without a GPU.
//
// One model is used in three forms:
//
//   - [Model] is arithmetic: no clock, no goroutine, no HTTP. A run of 2,000
//     requests of 256 tokens takes a few milliseconds, so that statistics can
//     be calibrated over tens of thousands of runs.
//   - [Memory] is a real HTTP server with event streams behind an in-memory
//     listener, and the real client in front of it. In a testing/synctest
//     bubble its time is virtual and exact.
//   - [Server] is the same server on a port; `openloop sim` runs it.
//
// The three agree: the same seed and the same requests give the same times.
//
// # The model
//
// Time passes in steps. A step decodes one token of every sequence that has
// been prefilled, and prefills what is left of its token budget: first
// prompts that are under way, then waiting ones in order of arrival, while a
// slot and KV blocks are free. It takes
//
//	(weights + KV bytes × context of its decodes) ÷ bandwidth   if it decodes
//	+ 2 × parameters × prefilled tokens ÷ peak FLOP/s
//
// so that interleaving a prompt's chunks with decodes moves their time and
// does not delete it. The first token leaves at the end of the step that
// completes the prompt. KV memory is blocks of tokens, as many as the flavor's
// server has in one; when decodes need more than there is, first cached blocks
// that nobody uses go, oldest first, then the sequence admitted last is
// preempted and computed anew.
//
// A step admits what arrived strictly before it starts, in order of arrival
// and then of request id; an idle engine starts one nanosecond after an
// arrival. So two requests of one instant give the same bytes in every run.
package sim
