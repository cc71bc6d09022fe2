package openai

// Redact returns the text without the engine's secrets, such as a key that a
// server echoes: the key, header values and the password of the URL, as they are
// and as JSON or a URL writes them. It implements engines.Redactor.
func (e *Engine) Redact(text string) string { return e.secrets.Redact(text) }
