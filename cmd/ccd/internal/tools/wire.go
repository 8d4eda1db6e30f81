package tools

import (
	"context"
	"errors"
	"io"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// wire is the SDK's transport, one message per line. Unlike that, it answers all calls read before the input ended.
type wire struct {
	in  io.Reader
	out io.Writer
}

// Connect implements mcp.Transport.
func (w wire) Connect(ctx context.Context) (mcp.Connection, error) {
	c, err := (&mcp.IOTransport{Reader: io.NopCloser(w.in), Writer: kept{w.out}}).Connect(ctx)
	closed := make(chan struct{})
	return &connection{
		Connection: c, closed: closed, end: sync.OnceFunc(func() { close(closed) }), open: map[jsonrpc.ID]bool{}, answered: make(chan struct{}, 1),
	}, err
}

// kept is an output that is not closed: the process ends with it.
type kept struct{ io.Writer }

// Close implements io.Closer.
func (kept) Close() error { return nil }

// connection is a wire in use.
type connection struct {
	mcp.Connection
	closed chan struct{}
	end    func() // closes closed

	mu       sync.Mutex
	open     map[jsonrpc.ID]bool // calls without an answer yet
	answered chan struct{}       // one was answered
}

// Read returns the next message. The SDK stops all calls at the end of the input, so that comes after their answers.
func (c *connection) Read(ctx context.Context) (jsonrpc.Message, error) {
	msg, err := c.Connection.Read(ctx)
	if req, ok := msg.(*jsonrpc.Request); ok && req.IsCall() {
		c.note(req.ID, true)
	}
	for errors.Is(err, io.EOF) && c.waits() {
		select {
		case <-c.answered:
		case <-c.closed:
			return nil, err
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	return msg, err
}

// note notes that a call is open, or no more.
func (c *connection) note(id jsonrpc.ID, open bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if open {
		c.open[id] = true
	} else {
		delete(c.open, id)
	}
}

func (c *connection) waits() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.open) > 0
}

// Write writes a message, perhaps the answer to a call.
func (c *connection) Write(ctx context.Context, msg jsonrpc.Message) error {
	err := c.Connection.Write(ctx, msg)
	if r, ok := msg.(*jsonrpc.Response); ok {
		c.note(r.ID, false)
		select {
		case c.answered <- struct{}{}:
		default:
		}
	}
	return err
}

// Close ends the waiting of Read, too.
func (c *connection) Close() error {
	c.end()
	return c.Connection.Close()
}
