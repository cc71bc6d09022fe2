package engines

// Preparer is an engine that can do the work of a request that needs no server
// before the request is due, encoding above all: a prompt of 8,000 token ids
// takes some 80 microseconds, by which the request would be late.
type Preparer interface {
	// Prepare readies a request and leaves what it made in Request.Prepared. A
	// request that it cannot ready it leaves alone: Generate does the work then,
	// or says what is wrong.
	//
	// What was made serves one call of Generate. A request whose fields are not
	// what they were when it was prepared is served as it is, as by an engine that
	// wraps this one and changes requests; what Tokens holds must not change. It
	// is safe to call beside Generate.
	Prepare(r *Request)
}
