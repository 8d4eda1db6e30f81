package gen

import "strconv"

// message is one reply of the model: one record a block, all with the same IDs.
type message struct {
	id, request string
	fresh       int // tokens new to the cache
	n           int // blocks so far
}

func (c *claude) message() *message {
	m := &message{id: c.r.id("msg_01", 22), request: c.r.id("req_011C", 20), fresh: max(0, c.tokens()-c.cached)}
	c.cached = c.tokens()
	return m
}

// block begins an assistant record of m up to its one content block.
func (c *claude) block(m *message) []byte {
	m.n++
	b := append(c.open("assistant"), `,"message":`...)
	if c.mirror != nil {
		c.mirror.from, c.mirror.typ = len(b), "assistant"
	}
	return fill(b, `{"model":"@","id":"@","type":"message","role":"assistant","content":[`, c.model, m.id)
}

func (c *claude) endBlock(m *message, b []byte, stop string) string {
	b = fill(b, `],"stop_reason":@,"stop_sequence":null,"usage":{"input_tokens":@,"cache_creation_input_tokens":@,"cache_read_input_tokens":@,"cache_creation":{"ephemeral_5m_input_tokens":@,"ephemeral_1h_input_tokens":0},"output_tokens":@,"service_tier":"standard"}}`,
		stop, strconv.Itoa(c.r.between(2, 10)), strconv.Itoa(m.fresh), strconv.Itoa(c.cached-m.fresh), strconv.Itoa(m.fresh), strconv.Itoa(m.n*c.r.between(1, 300)))
	if c.mirror != nil {
		c.mirror.to = len(b)
	}
	return c.shut(fill(b, `,"requestId":"@"`, m.request))
}

var thinkingWords = quantiles{{0, 0}, {300, 20}, {800, 120}, {1000, 900}}

func (c *claude) thinking(m *message) {
	b := append(c.block(m), `{"type":"thinking","thinking":"`...)
	b = c.v.prose(b, &c.r, thinkingWords.draw(&c.r))
	b = append(b, `","signature":"`...)
	b = c.r.chars(b, base64, c.r.between(300, 1400))
	c.endBlock(m, append(b, `=="}`...), "null")
}

func (c *claude) text(m *message, last bool) {
	stop, words := "null", c.r.between(6, 60)
	if last {
		stop, words = `"end_turn"`, c.r.between(30, 300)
	}
	b := append(c.block(m), `{"type":"text","text":"`...)
	from := len(b)
	b = c.v.prose(b, &c.r, words)
	if c.r.chance(66) {
		b = append(b, "```go\\n"...)
		dialect := c.v.dialect(&c.r)
		for range c.r.between(3, 20) {
			b = append(c.v.code(b, &c.r, dialect), '\\', 'n')
		}
		b = append(b, "```\\n"...)
	}
	c.held += len(b) - from
	c.endBlock(m, append(b, `"}`...), stop)
}

// reply is one reply that calls tools, and their results.
func (c *claude) reply() {
	m := c.message()
	if c.r.chance(450) {
		c.thinking(m)
	}
	if c.r.chance(350) {
		c.text(m, false)
	}
	for range 1 + c.r.skewed(3) {
		t := c.tool()
		b := fill(c.block(m), `{"type":"tool_use","id":"@","name":"@","input":`, t.id, t.name)
		from := len(b)
		b = append(append(b, t.input...), '}')
		c.held += len(b) - from
		t.record = c.endBlock(m, b, "null")
		t.reply = m.id
		c.result(t)
	}
}

// result writes the record with a tool's result: as the model saw it, and the copy for the screen.
func (c *claude) result(t *tool) {
	if t.before != nil {
		t.before()
	}
	b := append(c.open("user"), `,"message":`...)
	if c.mirror != nil {
		c.mirror.from, c.mirror.typ = len(b), "user"
	}
	b = fill(b, `{"role":"user","content":[{"tool_use_id":"@","type":"tool_result","content":`, t.id)
	from := len(b)
	b = t.content(b)
	if t.image == 0 {
		c.held += len(b) - from
	}
	if t.failed {
		b = append(b, `,"is_error":true`...)
	}
	b = append(b, `}]}`...)
	if c.mirror != nil {
		c.mirror.to = len(b)
	}
	b = append(b, `,"toolUseResult":`...)
	b = t.copy(b)
	c.shut(b, `,"sourceToolAssistantUUID":"`+t.record+`"`)
}
