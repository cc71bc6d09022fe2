// Package arrival makes seeded schedules of arrivals: absolute times,
// computed beforehand, that depend on nothing the server does.
//
// Rules that hold for every process of this package:
//
//   - Times counts from zero, never decreases, and is the same for the same
//     seed on every machine and in every version of this module.
//   - A schedule is what the process gives: it is never rescaled to hit its
//     mean exactly, because a rescaled Poisson schedule is no Poisson
//     schedule. SelfTest says whether chance can explain what it gave.
//   - Nothing drifts. Arrivals are counted in exact fixed-point units of one
//     expected arrival, and each time is computed from that count alone, so
//     the ten-millionth is as exact as the first.
//   - A process that does not pass Validate has no arrivals.
//
// The random stream is math/rand/v2's PCG, whose outputs are fixed, seeded
// with the schedule's seed and the constant stream. Exponential and normal
// variates are rand.Rand's, whose outputs the Go project pins by test; gamma
// variates are made here (see Gamma), because a dependency's sampler may
// change its stream in any release and with it every stored baseline.
package arrival

import "math/rand/v2"

// stream is the second word of the generator's seed; it keeps schedules
// apart from whatever else is drawn from the same seed. The bytes spell
// "arrivals".
const stream = 0x6172726976616c73

func generator(seed uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, stream)) }
