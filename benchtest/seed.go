package benchtest

import (
	"crypto/sha256"
	"encoding/binary"
)

// derive is the hash H by which every seed is made: the first eight bytes, as
// a big-endian number, of the SHA-256 of the label, a zero byte and each
// number as eight big-endian bytes. It is the same on every machine and in
// every version of Go and of this module, because baselines rest on it.
func derive(label string, numbers ...uint64) uint64 {
	b := make([]byte, 0, len(label)+1+8*len(numbers))
	b = append(b, label...)
	b = append(b, 0)
	for _, n := range numbers {
		b = binary.BigEndian.AppendUint64(b, n)
	}
	sum := sha256.Sum256(b)
	return binary.BigEndian.Uint64(sum[:8])
}

// pairSeed is the seed of run i of a point. It decides arrivals, lengths and
// sharing, so run i does the same work in every arm and on every day.
func pairSeed(pointHash string, seed uint64, run int) uint64 {
	return derive("openloop pair "+pointHash, seed, uint64(run))
}

// seeds are those of one load: arrivals and shape come from the pair, content
// also from the start's nonce, so that no start of an engine sees the same
// content twice.
type seeds struct{ arrivals, shape, content uint64 }

// warmupSeeds differ from those of the measured load in all three, so that
// the warmup heats for the window without being it.
func warmupSeeds(pair, nonce uint64) seeds {
	return seeds{derive("warmup arrivals", pair), derive("warmup shape", pair), derive("warmup content", pair, nonce)}
}

// measuredSeeds are those of settle, window and cooldown, which are one load.
func measuredSeeds(pair, nonce uint64) seeds {
	return seeds{pair, derive("shape", pair), derive("content", pair, nonce)}
}
