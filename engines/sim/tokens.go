package sim

import "math/bits"

// vocabulary is the size of Llama 3's; ids from specials on are control
// tokens, which the engine never generates.
const (
	vocabulary = 128_256
	specials   = 128_000
)

// answerBlock is the block size by which a prompt is hashed to make its answer,
// whatever the size of the cache's own blocks.
const answerBlock = 16

// Odd constants of wyhash, which hashBlock follows.
const (
	wy0 = 0xa0761d6478bd642f
	wy1 = 0xe7037ed1a0b428db
	wy2 = 0x8ebc6af09c88c6e3
	wy3 = 0x589965cc75374cc3
)

func fold(a, b uint64) uint64 {
	hi, lo := bits.Mul64(a, b)
	return hi ^ lo
}

// mix is a hash of two numbers (two rounds of splitmix64's finaliser).
func mix(a, b uint64) uint64 {
	x := a*0x9e3779b97f4a7c15 + b
	for range 2 {
		x += 0x9e3779b97f4a7c15
		x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
		x = (x ^ x>>27) * 0x94d049bb133111eb
		x ^= x >> 31
	}
	return x
}

// unit maps a hash to [0, 1).
func unit(h uint64) float64 { return float64(h>>11) / (1 << 53) }

func hashString(s string) uint64 {
	h := uint64(len(s))
	for i := range len(s) {
		h = fold(h^uint64(s[i])^wy0, wy1)
	}
	return mix(h, 0)
}

// hashBlock chains the hash h of all blocks before with one more.
func hashBlock(h uint64, b []int32) uint64 {
	if len(b) != answerBlock {
		for _, t := range b {
			h = fold(h^uint64(uint32(t))^wy0, wy3)
		}
		return fold(h^wy1, wy2^uint64(len(b)))
	}
	two := func(i int) uint64 { return uint64(uint32(b[i])) | uint64(uint32(b[i+1]))<<32 }
	return fold(
		fold(two(0)^wy0, two(2)^wy1)^fold(two(4)^wy1, two(6)^wy2)^h,
		fold(two(8)^wy2, two(10)^wy3)^fold(two(12)^wy3, two(14)^wy0)^wy1)
}

// blockKeys appends the chained hash of every whole block of tokens and
// returns the hash of everything, the rest included.
func blockKeys(keys []uint64, tokens []int32, size int) ([]uint64, uint64) {
	h := uint64(wy2)
	for len(tokens) >= size {
		h = hashBlock(h, tokens[:size])
		keys = append(keys, h)
		tokens = tokens[size:]
	}
	all := h
	for _, t := range tokens {
		all = fold(all^uint64(uint32(t))^wy0, wy3)
	}
	return keys, mix(all, uint64(len(tokens)))
}

// outputToken is token i of the answer to the prompt with the given hash.
func outputToken(prompt uint64, i int) int32 {
	return int32(fold(prompt^uint64(i)*wy1, wy0^uint64(i)) % specials)
}

// naturalLength is where the answer to a prompt would end by itself: from 1
// to 512 tokens, uniformly.
func naturalLength(prompt uint64) int { return 1 + int(mix(prompt, 512)%512) }
