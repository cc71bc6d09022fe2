package benchtest

import "errors"

var errNotExtendable = errors.New("benchtest: these runs were loaded, not measured, so no more can be made")
