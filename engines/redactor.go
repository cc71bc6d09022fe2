package engines

// Redactor is an engine that was given secrets: an API key, header values, a
// password in its URL. Servers repeat them in what they answer, so whoever
// keeps or prints an answer asks it first.
type Redactor interface {
	// Redact returns the text without the secrets, as they are and as JSON or a
	// URL writes them. Of four and five characters they are found as words of
	// their own, unless they are numbers; shorter ones stay, and so do stand-ins
	// for a key, as "vllm" and "EMPTY".
	Redact(text string) string
}
