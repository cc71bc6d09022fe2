package openai

import "encoding/binary"

// settings is what a server begins an HTTP/2 connection with (RFC 9113, sections
// 3.4 and 6.5), as it comes.
type settings struct {
	begun []byte
	told  bool // it has come, or something else has
}

const (
	frameHead       = 9
	settingsFrame   = 4
	maxStreams      = 3
	settingsLength  = 6
	longestSettings = 1 << 14
)

// take takes what came next. It returns how many streams the server allows at
// once, if that is what it tells now.
func (s *settings) take(b []byte) (most int64, tells bool) {
	s.begun = append(s.begun, b...)
	if len(s.begun) < frameHead {
		return 0, false
	}
	n := int(s.begun[0])<<16 | int(s.begun[1])<<8 | int(s.begun[2])
	if s.begun[3] != settingsFrame || n > longestSettings {
		s.told, s.begun = true, nil
		return 0, false
	}
	if len(s.begun) < frameHead+n {
		return 0, false
	}
	for b := s.begun[frameHead : frameHead+n]; len(b) >= settingsLength; b = b[settingsLength:] {
		if binary.BigEndian.Uint16(b) == maxStreams {
			most, tells = int64(binary.BigEndian.Uint32(b[2:])), true
		}
	}
	s.told, s.begun = true, nil
	return most, tells
}
