package benchtest

import "os"

// raise ends this process, which cannot send itself a signal here.
func raise(os.Signal) { os.Exit(1) }
