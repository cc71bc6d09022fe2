// Package openai is the streaming client for servers with OpenAI-style
// routes: vLLM, SGLang, llama.cpp and most others. It is an engine by itself,
// for a server of any kind that is already running, and what the engine
// packages of a kind are built on.
//
// # Times
//
// The transport stamps, with the clock that the request carries. Sent is
// taken just before the write that carries the request's first byte. (The
// hooks of net/http/httptrace do not know that moment: WroteHeaders comes when
// the head is in a buffer that waits for the body, WroteRequest when the whole
// body has left.) An event's time is taken just after the read that made its
// last byte readable returned and before anything is parsed; all events that
// one read completes share its time. The arrival of response headers starts no
// clock: servers send them at admission, with the first token or in between.
//
// # Counts
//
// Tokens are counted by the server or not at all: per event from token ids or
// from the growth of running usage (llama.cpp's timings_per_token is running
// usage too), per request from the usage the server reports. Text is never
// tokenised here and events are never taken for tokens.
//
// # Connections
//
// Connections are kept and used again for up to four seconds of idleness,
// without a cap on their number. A server that closes them after a stream is
// noticed in the first generation, which for that waits a tenth of a second
// after its end; it gets a connection for each generation. How long a request
// waited for its connection is part of the reply.
//
// # Failures
//
// A request is sent once, over HTTP/1.1, follows no redirect and is retried by
// nobody. (Generate tells of the one exception, before the first success.) A
// stream has succeeded when it ended as the protocol says: with [DONE], or with
// a clean end after a finish reason (and a warning), with at least one token
// and without an error object. Every other end is an *engines.Error with its
// class.
package openai
