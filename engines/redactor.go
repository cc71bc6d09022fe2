package engines

// Redactor is an engine that was given secrets: an API key, header values, a
// password in its URL. Servers repeat them in what they answer, so whoever
// keeps or prints an answer asks it first.
type Redactor interface {
	// Redact returns the text without the secrets, as they are and as JSON or a
	// URL writes them. What is shorter than six characters is part of too many
	// words to be taken out, and stays.
	Redact(text string) string
}
