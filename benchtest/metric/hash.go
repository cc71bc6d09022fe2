package metric

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
)

// Hash is a short name of pairs: 12 hexadecimal digits of the SHA-256 of
// their keys and values, each after its length, in their order. It is empty
// for no pairs.
func Hash(pairs []Pair) string {
	if len(pairs) == 0 {
		return ""
	}
	var text []byte
	for _, p := range pairs {
		for _, s := range []string{p.Key, p.Value} {
			text = binary.AppendUvarint(text, uint64(len(s)))
			text = append(text, s...)
		}
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:6])
}
