// Package nevercached measures in a test, so that it can be seen that go test
// never serves the result from its cache.
package nevercached
