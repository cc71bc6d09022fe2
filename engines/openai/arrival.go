package openai

import "time"

// arrival is when what one read brought came, by elapsed.
type arrival struct {
	// at is when its last byte came; lag is how long that waited.
	at, lag time.Duration
	// most is how long an earlier byte of it may have waited.
	most time.Duration
}
