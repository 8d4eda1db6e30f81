package tools

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"errors"
	"io"
	"slices"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// wire is the SDK's transport, one message per line. Unlike that, it answers a line that is no message, and goes on, and it answers all
// calls read before the input ended.
type wire struct {
	in  io.Reader
	out io.Writer
}

// Connect implements mcp.Transport.
func (w wire) Connect(ctx context.Context) (mcp.Connection, error) {
	out := &output{out: w.out}
	lines := bufio.NewScanner(w.in)
	lines.Buffer(nil, maxMessage)
	c, err := (&mcp.IOTransport{Reader: io.NopCloser(&messages{lines: lines, out: out}), Writer: out}).Connect(ctx)
	closed := make(chan struct{})
	return &connection{
		Connection: c, closed: closed, end: sync.OnceFunc(func() { close(closed) }), open: map[jsonrpc.ID]bool{}, answered: make(chan struct{}, 1),
	}, err
}

// output is written to by two, and not closed: the process ends with it.
type output struct {
	mu  sync.Mutex
	out io.Writer
}

// Write implements io.Writer.
func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.out.Write(p)
}

// Close implements io.Closer.
func (*output) Close() error { return nil }

// maxMessage is the length of the longest line, in bytes. A longer one ends the server.
const maxMessage = 16 << 20

// invalid is the answer to a line that is no message. The ID of its request, if it has one, is unknown.
const invalid = `{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"this line is not a JSON-RPC message"}}` + "\n"

// messages reads the lines that are messages, and answers the others.
type messages struct {
	lines *bufio.Scanner
	out   io.Writer
	rest  []byte
}

// Read implements io.Reader.
func (m *messages) Read(p []byte) (int, error) {
	for len(m.rest) == 0 {
		if !m.lines.Scan() {
			return 0, cmp.Or(m.lines.Err(), io.EOF)
		}
		if len(bytes.TrimSpace(m.lines.Bytes())) == 0 {
			continue
		}
		if _, err := jsonrpc.DecodeMessage(m.lines.Bytes()); err == nil {
			m.rest = append(slices.Clone(m.lines.Bytes()), '\n')
		} else if _, err := io.WriteString(m.out, invalid); err != nil {
			return 0, err
		}
	}
	n := copy(p, m.rest)
	m.rest = m.rest[n:]
	return n, nil
}

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
