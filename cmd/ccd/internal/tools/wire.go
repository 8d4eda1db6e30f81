package tools

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"regexp"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// The length of the longest message that is read, and how much is kept of each end of a longer one, in bytes.
const (
	maxMessage = 16 << 20
	maxEdge    = 1 << 10
)

// wire is the transport, one message per line. Unlike the SDK's it answers an invalid line and continues, and it answers all
// requests read before the input ended.
type wire struct {
	in  io.Reader
	out io.Writer
}

// Connect implements mcp.Transport.
func (w wire) Connect(context.Context) (mcp.Connection, error) {
	c := &connection{out: w.out, lines: make(chan input), closed: make(chan struct{}), open: map[string]bool{}, changed: make(chan struct{}, 1)}
	go c.read(w.in)
	return c, nil
}

// connection is a wire in use.
type connection struct {
	lines  chan input // closed when the input ends, after failed is set
	failed error
	close  sync.Once
	closed chan struct{}

	mu      sync.Mutex
	out     io.Writer
	open    map[string]bool // calls without an answer yet
	changed chan struct{}   // an answer was written
}

// read sends lines until the input ends. It cannot be interrupted, so it may still wait in Read when the process exits.
func (c *connection) read(in io.Reader) {
	defer close(c.lines)
	r := bufio.NewReaderSize(in, 64<<10)
	for {
		line, err := readLine(r)
		if len(line.text) > 0 {
			select {
			case c.lines <- line:
			case <-c.closed:
				return
			}
		}
		if err != nil {
			if err != io.EOF {
				c.failed = fmt.Errorf("read request: %w", err)
			}
			return
		}
	}
}

// input is a line without its newline. Of a line that is too long it has only both ends.
type input struct {
	text []byte
	end  []byte // nil if text is the whole line
}

// readLine reads a line. With an error it also returns what it read before.
func readLine(r *bufio.Reader) (input, error) {
	var line input
	for {
		part, err := r.ReadSlice('\n')
		switch {
		case line.end != nil:
			line.end = lastBytes(append(line.end, part...))
		case len(line.text)+len(part) > maxMessage:
			line = input{bytes.Clone(line.text[:maxEdge]), lastBytes(append(lastBytes(line.text), part...))}
		default:
			line.text = append(line.text, part...)
		}
		if err == bufio.ErrBufferFull {
			continue
		}
		if line.end == nil {
			line.text = bytes.TrimRight(line.text, "\r\n")
		}
		return line, err
	}
}

// lastBytes returns a copy of the last maxEdge bytes.
func lastBytes(b []byte) []byte { return bytes.Clone(b[max(0, len(b)-maxEdge):]) }

// The places where programs write the ID of a request: before its parameters, or after them at the end of the line. No JSON
// string can contain either match in full.
var (
	idAhead  = regexp.MustCompile(`^\s*\{\s*(?:"(?:jsonrpc|method)"\s*:\s*"[^"\\]*"\s*,\s*)*"id"\s*:\s*(\d{1,15}|"[^"\\\x00-\x1f]*")\s*,`)
	idBehind = regexp.MustCompile(`,\s*"id"\s*:\s*(\d{1,15}|"[^"\\\x00-\x1f]*")\s*(?:,\s*"(?:jsonrpc|method)"\s*:\s*"[^"\\]*"\s*)*\}\s*$`)
)

// refusal returns the answer to an unreadable line, with the ID of its request if that can be found.
func (line input) refusal() []byte {
	if line.end == nil {
		return []byte(`{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"this line is not a JSON-RPC message"}}`)
	}
	id := "null"
	if m := idAhead.FindSubmatch(line.text); m != nil {
		id = string(m[1])
	} else if m := idBehind.FindSubmatch(line.end); m != nil {
		id = string(m[1])
	}
	return fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%s,"error":{"code":-32600,"message":"this line is longer than %d MiB"}}`, id, maxMessage>>20)
}

// Read implements mcp.Connection.
func (c *connection) Read(ctx context.Context) (jsonrpc.Message, error) {
	for {
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-c.closed:
			return nil, io.EOF
		case line, ok := <-c.lines:
			if !ok && c.failed != nil {
				return nil, c.failed
			} else if !ok {
				return nil, c.drained(ctx)
			}
			if line.end == nil {
				if msg, err := jsonrpc.DecodeMessage(line.text); err == nil {
					c.note(msg)
					return msg, nil
				}
			}
			if err := c.write(line.refusal()); err != nil {
				return nil, err
			}
		}
	}
}

// note remembers a call until it is answered or cancelled.
func (c *connection) note(msg jsonrpc.Message) {
	req, ok := msg.(*jsonrpc.Request)
	if !ok {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if req.IsCall() {
		c.open[key(req.ID)] = true
		return
	}
	var cancelled struct {
		RequestID any `json:"requestId"`
	}
	if req.Method == "notifications/cancelled" && json.Unmarshal(req.Params, &cancelled) == nil {
		if id, err := jsonrpc.MakeID(cancelled.RequestID); err == nil {
			delete(c.open, key(id))
		}
	}
}

// key returns an ID as a map key. 1 and "1" are different IDs.
func key(id jsonrpc.ID) string { return fmt.Sprintf("%T %v", id.Raw(), id.Raw()) }

// drained waits until all calls are answered, then returns io.EOF.
func (c *connection) drained(ctx context.Context) error {
	for {
		c.mu.Lock()
		left := len(c.open)
		c.mu.Unlock()
		if left == 0 {
			return io.EOF
		}
		select {
		case <-c.changed:
		case <-c.closed:
			return io.EOF
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// Write implements mcp.Connection.
func (c *connection) Write(ctx context.Context, msg jsonrpc.Message) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	text, err := jsonrpc.EncodeMessage(msg)
	if err != nil {
		return fmt.Errorf("encode answer: %w", err)
	}
	err = c.write(text)
	if r, ok := msg.(*jsonrpc.Response); ok {
		c.mu.Lock()
		delete(c.open, key(r.ID))
		c.mu.Unlock()
		select {
		case c.changed <- struct{}{}:
		default:
		}
	}
	return err
}

func (c *connection) write(line []byte) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if _, err := c.out.Write(append(line, '\n')); err != nil {
		return fmt.Errorf("write answer: %w", err)
	}
	return nil
}

// Close implements mcp.Connection.
func (c *connection) Close() error {
	c.close.Do(func() { close(c.closed) })
	return nil
}

// SessionID implements mcp.Connection. There is one session per process.
func (c *connection) SessionID() string { return "" }
