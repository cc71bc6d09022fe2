package engines

// Preparer is an engine that can do the work of a request that needs no server
// before the request is due, encoding above all: a prompt of 8,000 token ids
// takes some 80 microseconds, by which the request would be late.
type Preparer interface {
	// Prepare readies a request and leaves what it made in Request.Prepared. A
	// request that it cannot ready it leaves alone: Generate does the work
	// then, or says what is wrong. The request must not be changed afterwards,
	// and serves one call of Generate on this engine.
	Prepare(r *Request)
}
