// Package loopback answers a client that asks a model for the summary of a compaction, with a text that is ready. A process of its own
// listens on loopback until the client has asked once, at most for Patience. Nothing listens at any other time.
//
// It knows one API, OpenAI's Chat Completions as a stream. The address has a token of its process, and the client's request must have the
// mark of the text, which the client got from ccd's hook.
package loopback

import (
	"bufio"
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os/exec"
	"strings"
	"sync"
	"time"

	"ccd/cmd/ccd/internal/hook"
)

const (
	// Patience is how long a text waits for its client.
	Patience = 20 * time.Second
	// maxRequest is the size of the longest request that is read, in bytes: a context window and what is in it.
	maxRequest = 256 << 20
	// mostTokens limits the tokens that an answer is said to have: a client takes a longer one to be cut off.
	mostTokens = 19_000
	// overhead is what a client takes the request for a summary to have beside the context, in tokens.
	overhead = 1000
)

// Offer is a text that waits for its client.
type Offer struct {
	hook.Summary
	Mark string // in the client's request
}

// started is what the process prints once its address is in the client's settings.
const started = "listening"

// Start starts a process that calls Serve with o, and returns when that listens, or with an error why it does not.
func Start(argv []string, o Offer) error {
	in, err := json.Marshal(o)
	if err != nil {
		return err
	}
	cmd := exec.Command(argv[0], argv[1:]...) // it outlives this process, which the client waits for
	cmd.Stdin = bytes.NewReader(in)
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		return fmt.Errorf("listen on loopback: %w", err)
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	switch line = strings.TrimSpace(line); {
	case line == started:
		return nil
	case line == "":
		return fmt.Errorf("listen on loopback: %w", err)
	}
	return fmt.Errorf("listen on loopback: %s", line)
}

// Read reads the offer that Start sends. It fails for anything else.
func Read(in io.Reader) (o Offer, err error) { return o, json.NewDecoder(in).Decode(&o) }

// errUnasked is what Serve returns if nobody has asked.
var errUnasked = errors.New("the agent did not ask ccd on loopback")

// Serve listens until o was asked for. It gives tell the address of its model, tells out that it listens or why not, and withdraws the
// address before it returns. It fails if nobody asked.
func (o Offer) Serve(ctx context.Context, out io.Writer, tell func(url string) error) error {
	ctx, cancel := context.WithTimeout(ctx, Patience)
	defer cancel()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		fmt.Fprintln(out, err)
		return err
	}
	m := model{Offer: o, token: rand.Text(), asked: make(chan struct{})}
	m.done = sync.OnceFunc(func() { close(m.asked) })
	server := &http.Server{Handler: m, ReadHeaderTimeout: 5 * time.Second}
	go server.Serve(l) // it ends with Shutdown
	if err = tell("http://" + l.Addr().String() + "/" + m.token); err != nil {
		fmt.Fprintln(out, err)
	} else {
		fmt.Fprintln(out, started)
		select {
		case <-m.asked:
		case <-ctx.Done():
			err = errUnasked
		}
	}
	return errors.Join(err, tell(""), server.Shutdown(ctx))
}

// model is the model that the client asks.
type model struct {
	Offer
	token string
	asked chan struct{}
	done  func()
}

// ServeHTTP answers a request of the client.
func (m model) ServeHTTP(w http.ResponseWriter, q *http.Request) {
	path, known := strings.CutPrefix(q.URL.Path, "/"+m.token)
	if !known {
		http.Error(w, "wrong token", http.StatusUnauthorized)
		return
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, q.Body, maxRequest))
	switch {
	case path != "/chat/completions":
		http.NotFound(w, q)
	case err != nil:
		http.Error(w, "request not understood", http.StatusBadRequest)
	case !bytes.Contains(body, []byte(m.Mark)):
		http.Error(w, "no summary of this session is ready", http.StatusConflict)
	default:
		m.answer(w)
		m.done()
	}
}

// answer sends the text as a model that has read the whole context: the client then takes its context to be the text.
func (m model) answer(w http.ResponseWriter) {
	w.Header().Set("Content-Type", "text/event-stream")
	read, written := m.Context+overhead, min(int64(len(m.Text)/3), mostTokens)
	send := func(usage any, choices ...any) {
		line, _ := json.Marshal(map[string]any{"id": "ccd", "object": "chat.completion.chunk", "model": "ccd", "choices": append([]any{}, choices...), "usage": usage})
		fmt.Fprintf(w, "data: %s\n\n", line)
	}
	send(nil, map[string]any{"index": 0, "delta": map[string]any{"role": "assistant", "content": m.Text}})
	send(nil, map[string]any{"index": 0, "delta": map[string]any{}, "finish_reason": "stop"})
	send(map[string]any{"prompt_tokens": read, "completion_tokens": written, "total_tokens": read + written})
	fmt.Fprint(w, "data: [DONE]\n\n")
}
