// Package arrival makes seeded schedules of arrivals: absolute times,
// computed beforehand, that depend on nothing the server does.
package arrival
