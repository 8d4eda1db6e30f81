package tools

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// maxMessage is the length of the longest message, in bytes. No call needs a longer one, whose end is not kept.
const maxMessage = 16 << 20

// invalid is the answer to a line that is no message. The ID of its request, if it has one, is unknown.
var invalid = []byte(`{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"this line is not a JSON-RPC message, or too long"}}`)

// wire is the transport, one message per line. Unlike the SDK's it answers an invalid line and continues, and it answers all
// requests read before the input ended.
type wire struct {
	in  io.Reader
	out io.Writer
}

// Connect implements mcp.Transport.
func (w wire) Connect(context.Context) (mcp.Connection, error) {
	c := &connection{out: w.out, lines: make(chan []byte), closed: make(chan struct{}), open: map[string]bool{}, changed: make(chan struct{}, 1)}
	go c.read(w.in)
	return c, nil
}

// connection is a wire in use.
type connection struct {
	lines  chan []byte // closed when the input ends, after failed is set
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
		if len(line) > 0 {
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

// readLine reads a line without its newline. With an error it also returns what it read before.
func readLine(r *bufio.Reader) (line []byte, err error) {
	for {
		part, err := r.ReadSlice('\n')
		if len(line) <= maxMessage {
			line = append(line, part...)
		}
		if err != bufio.ErrBufferFull {
			return bytes.TrimRight(line, "\r\n"), err
		}
	}
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
			if msg, err := jsonrpc.DecodeMessage(line); err == nil {
				c.note(msg)
				return msg, nil
			}
			if err := c.write(invalid); err != nil {
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
