package openai

import "time"

// arrival is when what one read brought came, by elapsed.
type arrival struct {
	// at is when its last byte came; lag is how long that waited. Where that is
	// not known, at is when it was read, and all else zero.
	at, lag time.Duration
	// most is how long an earlier byte of it may have waited, and apart how long
	// before the last one it may have come.
	most, apart time.Duration
}
