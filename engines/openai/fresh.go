package openai

// DialsEach reports whether each generation gets a connection of its own because
// Config.Fresh asks for it. It implements engines.Dialer.
func (e *Engine) DialsEach() bool { return e.cfg.Fresh }
