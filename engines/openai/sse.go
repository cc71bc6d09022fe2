package openai

import (
	"bytes"
	"errors"
)

// maxEvent bounds one event, so that a server that never ends one cannot take
// all memory. It is far above any event a server sends (2 MiB have been seen).
const maxEvent = 64 << 20

var errEventTooLong = errors.New("an event is longer than 64 MiB")

// parser splits a byte stream into server-sent events (WHATWG HTML, section
// 9.2.6). However the stream is cut into feeds, the events are the same, and
// each is dispatched in the feed that holds the byte that completes it.
//
// Lines end with LF, CR LF or CR. Comments and the fields id and retry are
// ignored; of the field event only the value "error" matters. An event without
// data is none. Nothing is copied unless an event spans feeds or data lines.
type parser struct {
	line []byte // a line begun in an earlier feed
	data []byte // the event's data, where it had to be copied
	cur  []byte // the event's data so far; may alias the feed
	// has: a data line was seen. fault: the event's type is error.
	has, fault bool
	// begun: a line was seen, so no byte-order mark may follow. cr: the last
	// line ended with CR, so that an LF that follows belongs to it.
	begun, cr bool
}

// feed parses b and calls event for each event it completes. data is valid
// during the call only. An error of event ends the feed and is returned.
func (p *parser) feed(b []byte, event func(data []byte, fault bool) error) error {
	rest := b
	if p.cr && len(rest) > 0 {
		p.cr = false
		if rest[0] == '\n' {
			rest = rest[1:]
		}
	}
	for len(rest) > 0 {
		end := lineEnd(rest)
		if end < 0 {
			break
		}
		line, cr := rest[:end], rest[end] == '\r'
		rest = rest[end+1:]
		if cr {
			if len(rest) == 0 {
				p.cr = true
			} else if rest[0] == '\n' {
				rest = rest[1:]
			}
		}
		if len(p.line) > 0 {
			line = append(p.line, line...)
			p.line = line[:0]
		}
		if err := p.take(line, event); err != nil {
			return err
		}
	}
	// What stays must outlive b, and the line buffer that cur may alias.
	if p.has && len(p.cur) > 0 && len(p.data) == 0 {
		p.data = append(p.data, p.cur...)
		p.cur = p.data
	}
	p.line = append(p.line, rest...)
	if len(p.line)+len(p.data) > maxEvent {
		return errEventTooLong
	}
	return nil
}

// within reports that an event has begun and is not complete.
func (p *parser) within() bool { return p.has || len(p.line) > 0 }

// end dispatches an event that the end of the stream left without its blank
// line. The standard discards it; servers that forget the last line feeds
// after [DONE] have meant it.
func (p *parser) end(event func(data []byte, fault bool) error) error {
	if len(p.line) > 0 {
		line := p.line
		p.line = nil
		if err := p.take(line, event); err != nil {
			return err
		}
	}
	return p.take(nil, event)
}

// lineEnd is the index of the first CR or LF, -1 when there is none.
func lineEnd(b []byte) int {
	lf := bytes.IndexByte(b, '\n')
	if lf >= 0 {
		b = b[:lf]
	}
	if cr := bytes.IndexByte(b, '\r'); cr >= 0 {
		return cr
	}
	return lf
}

var byteOrderMark = []byte("\xef\xbb\xbf")

// take handles one line, without its end.
func (p *parser) take(line []byte, event func(data []byte, fault bool) error) error {
	if !p.begun {
		p.begun = true
		line = bytes.TrimPrefix(line, byteOrderMark)
	}
	if len(line) == 0 {
		data, fault, has := p.cur, p.fault, p.has
		p.cur, p.fault, p.has = nil, false, false
		p.data = p.data[:0]
		if !has || len(data) == 0 {
			return nil
		}
		return event(data, fault)
	}
	field, value := line, []byte(nil)
	if colon := bytes.IndexByte(line, ':'); colon >= 0 {
		field, value = line[:colon], line[colon+1:]
		if len(value) > 0 && value[0] == ' ' {
			value = value[1:]
		}
	}
	switch string(field) {
	case "data":
		p.add(value)
	case "event":
		p.fault = string(value) == "error"
	}
	return nil
}

// add adds a data line to the event.
func (p *parser) add(value []byte) {
	if !p.has {
		p.has, p.cur = true, value
		return
	}
	if len(p.data) == 0 {
		p.data = append(p.data, p.cur...)
	}
	p.data = append(p.data, '\n')
	p.data = append(p.data, value...)
	p.cur = p.data
}
