// Package stat is the arithmetic of the gate.
package stat
