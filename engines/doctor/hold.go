package doctor

import (
	"errors"
	"fmt"

	"github.com/openloop-go/openloop/ci"
	"github.com/openloop-go/openloop/engines/internal/lock"
)

// owner is who holds a server's lock while it is looked at.
const owner = "openloop doctor"

// hold keeps measurements off the server while it is looked at, as they keep
// each other off. It does not wait for one that is under way.
func (v *visit) hold() error {
	if v.cfg.Dial != nil {
		return nil // as in a measurement: it is in this process
	}
	env, err := ci.Load()
	if err != nil {
		return fmt.Errorf("doctor: %w", err)
	}
	l, err := lock.Acquire(v.ctx, lock.Request{Resources: []string{lock.URL(v.client.URL())}, Owner: owner, Alone: true, Now: true, Folder: env.Locks})
	v.closing = append(v.closing, func() { _ = l.Release() })
	running := (*lock.InUse)(nil)
	switch {
	case err == nil:
	case !errors.As(err, &running):
		return fmt.Errorf("doctor: %w", err)
	case v.cfg.Regardless:
		v.say("measurement", Warn, "look again when it has ended: what follows may be its doing, and what it measures may be this one's", "one is running on this server: %v", running)
	default:
		return fmt.Errorf("doctor: a measurement is running on this server: %w: wait until it has ended, or go on regardless (Config.Regardless; openloop doctor -regardless) and disturb it", running)
	}
	return nil
}
