package regressions

// The form of the files without the files, for fuzzing.
var (
	Parse  = parse
	Format = format
)
