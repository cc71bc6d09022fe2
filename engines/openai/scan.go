package openai

// scan walks JSON text without allocating. It accepts a subset of what
// encoding/json accepts and gives up (bad turns true) on everything else:
// anything invalid, names with escapes, deep nesting. Whoever uses it then
// decodes by encoding/json, so that giving up costs time and changes nothing.
type scan struct {
	b   []byte
	i   int
	bad bool
}

// maxDepth bounds the nesting that scan follows; deeper text is left to
// encoding/json, which has its own limit.
const maxDepth = 64

func (s *scan) space() {
	for s.i < len(s.b) {
		switch s.b[s.i] {
		case ' ', '\t', '\n', '\r':
			s.i++
		default:
			return
		}
	}
}

// peek is the next byte that is no space; 0 at the end.
func (s *scan) peek() byte {
	s.space()
	if s.i < len(s.b) {
		return s.b[s.i]
	}
	return 0
}

// take consumes c as the next byte that is no space.
func (s *scan) take(c byte) {
	if s.peek() != c {
		s.bad = true
		return
	}
	s.i++
}

// member steps to member n of an object or array that ends with end; false at
// its end or when the text is bad. The opening byte is already taken.
func (s *scan) member(n int, end byte) bool {
	if s.bad {
		return false
	}
	c := s.peek()
	if c == end {
		s.i++
		return false
	}
	if n > 0 {
		s.take(',')
		if s.peek() == end {
			s.bad = true
		}
	}
	return !s.bad
}

// name reads a member's name and its colon.
func (s *scan) name() []byte {
	raw := s.str()
	if s.bad {
		return nil
	}
	for _, c := range raw {
		if c == '\\' {
			s.bad = true
			return nil
		}
	}
	s.take(':')
	return raw[1 : len(raw)-1]
}

// str reads a string with its quotes.
func (s *scan) str() []byte {
	if s.peek() != '"' {
		s.bad = true
		return nil
	}
	start := s.i
	for s.i++; s.i < len(s.b); s.i++ {
		switch c := s.b[s.i]; {
		case c == '"':
			s.i++
			return s.b[start:s.i]
		case c < ' ':
			s.bad = true
			return nil
		case c == '\\':
			s.escape()
			if s.bad {
				return nil
			}
		}
	}
	s.bad = true
	return nil
}

// escape steps to the last byte of an escape sequence.
func (s *scan) escape() {
	s.i++
	if s.i >= len(s.b) {
		s.bad = true
		return
	}
	switch s.b[s.i] {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		return
	case 'u':
		for range 4 {
			s.i++
			if s.i >= len(s.b) || !hex(s.b[s.i]) {
				s.bad = true
				return
			}
		}
	default:
		s.bad = true
	}
}

func hex(c byte) bool {
	return '0' <= c && c <= '9' || 'a' <= c && c <= 'f' || 'A' <= c && c <= 'F'
}

// value reads any value and returns its text; depth is that of what holds it.
func (s *scan) value(depth int) []byte {
	start := s.i
	switch c := s.peek(); {
	case depth > maxDepth:
		s.bad = true
	case c == '"':
		return s.str()
	case c == '{':
		start = s.i
		s.i++
		for n := 0; s.member(n, '}'); n++ {
			s.name()
			s.value(depth + 1)
		}
	case c == '[':
		start = s.i
		s.i++
		for n := 0; s.member(n, ']'); n++ {
			s.value(depth + 1)
		}
	case c == '-' || '0' <= c && c <= '9':
		start = s.i
		s.number()
	case c == 't':
		return s.literal("true")
	case c == 'f':
		return s.literal("false")
	case c == 'n':
		return s.literal("null")
	default:
		s.bad = true
	}
	if s.bad {
		return nil
	}
	return s.b[start:s.i]
}

func (s *scan) literal(word string) []byte {
	end := s.i + len(word)
	if end > len(s.b) || string(s.b[s.i:end]) != word {
		s.bad = true
		return nil
	}
	raw := s.b[s.i:end]
	s.i = end
	return raw
}

// number reads a number by JSON's grammar: no leading zeros, no bare point.
func (s *scan) number() {
	if s.b[s.i] == '-' {
		s.i++
	}
	if s.i < len(s.b) && s.b[s.i] == '0' {
		s.i++
	} else {
		s.digits()
	}
	if s.i < len(s.b) && s.b[s.i] == '.' {
		s.i++
		s.digits()
	}
	if s.i < len(s.b) && (s.b[s.i] == 'e' || s.b[s.i] == 'E') {
		s.i++
		if s.i < len(s.b) && (s.b[s.i] == '+' || s.b[s.i] == '-') {
			s.i++
		}
		s.digits()
	}
}

// digits reads at least one digit.
func (s *scan) digits() {
	start := s.i
	for s.i < len(s.b) && '0' <= s.b[s.i] && s.b[s.i] <= '9' {
		s.i++
	}
	if s.i == start {
		s.bad = true
	}
}
