package openai

// decode reads an event's data, by the scanner if it can and else by
// encoding/json. Both give the same event for the same data.
func decode(data []byte, e *event) error {
	if d := (decoder{scan: scan{b: data}}); d.event(e) {
		return nil
	}
	*e = event{}
	return decodeSlow(data, e)
}

// decoder fills an event from a scan. A name that comes twice in one object
// makes it give up: which one wins is encoding/json's to say.
type decoder struct{ scan }

// once notes a known name in seen and gives up on its second coming.
func (d *decoder) once(seen *uint32, bit uint) {
	if *seen&(1<<bit) != 0 {
		d.bad = true
	}
	*seen |= 1 << bit
}

func (d *decoder) event(e *event) bool {
	var seen uint32
	d.take('{')
	for n := 0; d.member(n, '}'); n++ {
		switch name := d.name(); string(name) {
		case "choices":
			d.once(&seen, 0)
			d.choices(e)
		case "usage":
			d.once(&seen, 1)
			d.usage(e)
		case "timings":
			d.once(&seen, 2)
			d.timings(e)
		case "model":
			d.once(&seen, 3)
			e.model = d.value(1)
		case "object":
			d.once(&seen, 4)
			e.object = d.value(1)
		case "error":
			d.once(&seen, 5)
			e.fault = d.value(1)
		case "message":
			d.once(&seen, 6)
			e.message = d.value(1)
		case "prompt_token_ids":
			d.once(&seen, 7)
			if c := elements(d.value(1)); c.N > 0 {
				e.promptIDs = c
			}
		default:
			d.value(1)
		}
	}
	return d.peek() == 0 && d.i == len(d.b) && !d.bad
}

func (d *decoder) choices(e *event) {
	if d.peek() != '[' {
		d.value(1)
		return
	}
	d.i++
	for n := 0; d.member(n, ']'); n++ {
		d.choice(e)
	}
}

func (d *decoder) choice(e *event) {
	if d.peek() != '{' {
		d.value(2)
		return
	}
	var (
		seen uint32
		c    choice
	)
	d.i++
	for n := 0; d.member(n, '}'); n++ {
		switch name := d.name(); string(name) {
		case "text":
			d.once(&seen, 0)
			c.text = d.value(3)
		case "delta":
			d.once(&seen, 1)
			d.delta(&c)
		case "finish_reason":
			d.once(&seen, 2)
			c.finish = d.value(3)
		case "token_ids":
			d.once(&seen, 3)
			c.ids = d.value(3)
		case "prompt_token_ids":
			d.once(&seen, 4)
			c.promptIDs = d.value(3)
		default:
			d.value(3)
		}
	}
	if !d.bad {
		e.add(&c)
	}
}

func (d *decoder) delta(c *choice) {
	if d.peek() != '{' {
		d.value(3)
		return
	}
	var seen uint32
	d.i++
	for n := 0; d.member(n, '}'); n++ {
		name := d.name()
		i, field := c.delta(name)
		raw := d.value(4)
		if field != nil {
			d.once(&seen, i)
			*field = raw
		}
	}
}

// delta is where a field of a choice's delta goes, nil for those not needed.
func (c *choice) delta(name []byte) (uint, *[]byte) {
	switch string(name) {
	case "role":
		return 0, &c.role
	case "content":
		return 1, &c.content
	case "reasoning_content":
		return 2, &c.reasoning
	case "reasoning":
		return 3, &c.thinking
	case "tool_calls":
		return 4, &c.tools
	case "function_call":
		return 5, &c.call
	case "refusal":
		return 6, &c.deny
	}
	return 0, nil
}

func (d *decoder) usage(e *event) {
	if d.peek() != '{' {
		d.value(1)
		return
	}
	var seen uint32
	e.hasUsage = true
	d.i++
	for n := 0; d.member(n, '}'); n++ {
		switch name := d.name(); string(name) {
		case "prompt_tokens":
			d.once(&seen, 0)
			e.prompt = integer(d.value(2))
		case "completion_tokens":
			d.once(&seen, 1)
			e.completion = integer(d.value(2))
		case "prompt_tokens_details":
			d.once(&seen, 2)
			d.details(e)
		default:
			d.value(2)
		}
	}
}

func (d *decoder) details(e *event) {
	if d.peek() != '{' {
		d.value(2)
		return
	}
	var seen uint32
	d.i++
	for n := 0; d.member(n, '}'); n++ {
		if name := d.name(); string(name) == "cached_tokens" {
			d.once(&seen, 0)
			e.cached = integer(d.value(3))
		} else {
			d.value(3)
		}
	}
}

func (d *decoder) timings(e *event) {
	if d.peek() != '{' {
		d.value(1)
		return
	}
	var seen uint32
	e.hasTimings = true
	d.i++
	for n := 0; d.member(n, '}'); n++ {
		switch name := d.name(); string(name) {
		case "cache_n":
			d.once(&seen, 0)
			e.cacheN = integer(d.value(2))
		case "prompt_n":
			d.once(&seen, 1)
			e.promptN = integer(d.value(2))
		case "predicted_n":
			d.once(&seen, 2)
			e.predictedN = integer(d.value(2))
		default:
			d.value(2)
		}
	}
}
