package tools

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"io"
	"slices"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// wire is a transport and its connection, one message per line. Unlike the SDK's, it answers a line that is no message, and goes on, and
// it answers all calls read before the input ended.
type wire struct {
	in       io.Reader
	out      io.Writer
	messages chan jsonrpc.Message
	err      error // why there are no more messages
	closed   chan struct{}
	end      func() // closes closed

	mu       sync.Mutex // of out and open
	open     map[jsonrpc.ID]bool
	answered *sync.Cond // one of the open calls was answered
}

func newWire(in io.Reader, out io.Writer) *wire {
	w := &wire{in: in, out: out, messages: make(chan jsonrpc.Message), closed: make(chan struct{}), open: map[jsonrpc.ID]bool{}}
	w.answered, w.end = sync.NewCond(&w.mu), sync.OnceFunc(func() { close(w.closed) })
	return w
}

// Connect implements mcp.Transport. It never fails.
func (w *wire) Connect(context.Context) (mcp.Connection, error) {
	go w.receive()
	return w, nil
}

// SessionID implements mcp.Connection.
func (*wire) SessionID() string { return "" }

// maxMessage is the length of the longest line, in bytes. A longer one ends the server.
const maxMessage = 16 << 20

// invalid is the answer to a line that is no message. The ID of its request, if it has one, is unknown.
const invalid = `{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"this line is not a JSON-RPC message"}}`

// receive reads the messages. The SDK stops all calls at the end of the input, so that comes after their answers.
func (w *wire) receive() {
	defer close(w.messages)
	lines := bufio.NewScanner(w.in)
	lines.Buffer(nil, maxMessage)
	for w.err == nil && lines.Scan() {
		if len(bytes.TrimSpace(lines.Bytes())) == 0 {
			continue
		}
		msg, err := jsonrpc.DecodeMessage(slices.Clone(lines.Bytes()))
		if err != nil {
			w.err = w.print([]byte(invalid), jsonrpc.ID{})
			continue
		}
		if req, ok := msg.(*jsonrpc.Request); ok && req.IsCall() {
			w.mu.Lock()
			w.open[req.ID] = true
			w.mu.Unlock()
		}
		select {
		case w.messages <- msg:
		case <-w.closed:
			return
		}
	}
	w.err = cmp.Or(w.err, lines.Err(), io.EOF)
	w.mu.Lock()
	defer w.mu.Unlock()
	for w.err == io.EOF && len(w.open) > 0 {
		w.answered.Wait()
	}
}

// Read returns the next message, io.EOF as the error after the last one.
func (w *wire) Read(ctx context.Context) (jsonrpc.Message, error) {
	select {
	case msg, ok := <-w.messages:
		if !ok {
			return nil, w.err
		}
		return msg, nil
	case <-w.closed:
		return nil, io.EOF
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// Write writes a message, perhaps the answer to a call. It fails if the client is gone.
func (w *wire) Write(_ context.Context, msg jsonrpc.Message) error {
	line, err := jsonrpc.EncodeMessage(msg)
	if err != nil {
		return err
	}
	answer, _ := msg.(*jsonrpc.Response)
	return w.print(line, cmp.Or(answer, &jsonrpc.Response{}).ID)
}

// print writes a line, after which the call of this ID is answered.
func (w *wire) print(line []byte, call jsonrpc.ID) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	_, err := w.out.Write(append(line, '\n'))
	delete(w.open, call)
	w.answered.Signal()
	return err
}

// Close ends Read. It never fails.
func (w *wire) Close() error {
	w.end()
	return nil
}
