package tools

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// wire is the SDK's transport, one message per line. Unlike that it answers all requests read before the input ended: the SDK cancels
// them.
type wire struct {
	in  io.Reader
	out io.Writer
}

// Connect implements mcp.Transport.
func (w wire) Connect(ctx context.Context) (mcp.Connection, error) {
	out := struct {
		io.Writer
		io.Closer
	}{w.out, io.NopCloser(nil)}
	inner, err := (&mcp.IOTransport{Reader: io.NopCloser(w.in), Writer: out}).Connect(ctx)
	return &connection{Connection: inner, open: map[string]bool{}, changed: make(chan struct{}, 1), closed: make(chan struct{})}, err
}

// connection is a wire in use.
type connection struct {
	mcp.Connection
	mu      sync.Mutex
	open    map[string]bool // calls without an answer yet
	changed chan struct{}   // an answer was written
	close   sync.Once
	closed  chan struct{}
}

// Read implements mcp.Connection.
func (c *connection) Read(ctx context.Context) (jsonrpc.Message, error) {
	msg, err := c.Connection.Read(ctx)
	if req, ok := msg.(*jsonrpc.Request); ok && err == nil {
		c.note(req)
	}
	if errors.Is(err, io.EOF) {
		return nil, c.drained(ctx)
	}
	return msg, err
}

// note remembers a call until it is answered or cancelled.
func (c *connection) note(req *jsonrpc.Request) {
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
	err := c.Connection.Write(ctx, msg)
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

// Close implements mcp.Connection.
func (c *connection) Close() error {
	c.close.Do(func() { close(c.closed) })
	return c.Connection.Close()
}
