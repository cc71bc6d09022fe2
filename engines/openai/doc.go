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
// body has left.) An event's time is when the bytes that complete it were
// readable: by the kernel's stamp of the packet that brought them where there
// is one (see Transports), else just after the read that brought them returned;
// never after parsing. All events that one read completes share its time. With
// the kernel's stamps Chunk.Lost says by how much the gaps between them may be
// wrong, and Reply.ReadLag how long bytes waited to be read: for a read that
// brought more than one event, as long as the first of them can have waited while
// this client was busy. The arrival of response headers starts no clock: servers
// send them at admission, with the first token or in between.
//
// # Transports
//
// On Linux, generations over plain HTTP go through a transport of this
// package. One goroutine (more on large hosts) waits in an epoll for the
// connections of all streams, reads into one buffer, and parses, counts and
// emits there: an event costs no allocation, no lock that streams share and no
// switch of goroutines, and a stream has no buffer. An event's time is the
// kernel's (SO_TIMESTAMPNS), which no delay of this process moves. So above
// 20,000 events/s a loop lets them come together for 100 µs, which saves a sixth
// of the cost; events of one stream that are closer than that then share a time.
// Measured, in CPU time per event at 1,000 streams of 50 events/s: 0.9 to 1.1
// times that of a C program that reads and looks for the beginnings of events,
// where net/http takes 1.5 to 2 (go run ./internal/eventcost cost).
//
// All else goes through net/http: TLS, proxies, Config.Dial and with it
// virtual time, other systems, and what is no generation. The two share the
// parser, the decoder and the words of errors, and pass the same tests.
//
// Not done, and why: TCP_QUICKACK off would save most acknowledgements, which
// over loopback are a third of all that reading costs, but a server with
// Nagle's algorithm would then wait for them, and the client would have changed
// what it measures. Waiting in epoll_wait on a thread of its own, not in the
// runtime's poller, saves nothing that could be measured and takes one of the
// program's GOMAXPROCS from the requests. Scanning eight bytes of JSON at a time
// gains nothing on strings as short as these.
//
// # Counts
//
// Tokens are counted by the server or not at all: per event from token ids or
// from the growth of running usage (llama.cpp's timings_per_token is running
// usage too), per request from the usage the server reports. Text is never
// tokenised here and events are never taken for tokens.
//
// # Cold caches
//
// A server of a kind that has no package here may have no flush. Flush tries the
// routes by which others empty their cache; where none is there it says how that
// server is kept from reusing prompts, if it can be told, and finds out whether
// requests may carry a cache salt. What keeps a run cold then is that its prompts
// were never sent before, and the cached tokens of its replies prove it. A server
// that tells none leaves the coldness unknown, and a run says so.
//
// # Connections
//
// Connections are kept and used again for up to four seconds of idleness,
// without a cap on their number. Warm opens them before a load. A server that
// closes them after a stream is noticed in the first generation, which for that
// waits a tenth of a second after its end; it gets a connection for each
// generation. How long a request waited for its connection is part of the
// reply, and so are a new connection, a protocol other than HTTP/1.1 and, over
// HTTP/2, how few streams the server allows on a connection where a request had
// to wait for a further one for that (see Config.HTTP2). The host's name is looked
// up for each connection that is opened; where a request waited for that for a
// millisecond or longer, its reply warns, since the name server is then part of
// TTFT, and says so if it was a tenth of a second. (Over HTTP/2, where several may
// wait for one connection, it is the reply of one of them that warns.) It is given
// up after five and a half seconds. Proxies that the
// environment names are not used (see Engine.Proxy).
//
// # Failures
//
// A request is sent once, over HTTP/1.1 unless Config.HTTP2 is set, follows no
// redirect and is retried by nobody. (Generate tells of the one exception, before
// the first success. Where the server has closed the connection before a byte of
// the request was written, another is taken, and the reply says so. A connection
// that breaks as the first bytes are sent on it is class Stale, and not sent
// anew: the server may have read them.) A
// stream has succeeded when it ended as the protocol says: with [DONE], or with
// a clean end after a finish reason (and a warning), with at least one token
// and without an error object. Every other end is an *engines.Error with its
// class.
package openai
