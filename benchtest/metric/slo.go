package metric

import "time"

// SLO is the service-level objective of one request. A zero limit is off; at
// least one must be set. A request is good when every limit set holds; a
// limit on a metric that the request does not have (TPOT of one token) holds.
type SLO struct {
	// TTFT is from the schedule to the first token event.
	TTFT time.Duration
	// TPOT is the time per output token after the first event.
	TPOT time.Duration
	// ITL bounds the longest gap between token events.
	ITL time.Duration
	// E2E is from the schedule to the last token event.
	E2E time.Duration
}
