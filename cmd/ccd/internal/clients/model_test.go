//go:build rig && linux

package clients

import (
	"cmp"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"

	"ccd/internal/testkit"
)

// call is a tool call of the model.
type call struct {
	name, space string // space: Codex's namespace for the tools of a server
	input       map[string]any
}

// reply is a turn of the model.
type reply struct {
	thinking, text string
	calls          []call
	used           int // input tokens that the model reports; 0: a quarter of the request's bytes
}

// turn answers a request and, like a model, sees nothing else.
type turn func(*request) reply

func says(text string) turn { return func(*request) reply { return reply{text: text} } }

func uses(text string, calls ...call) turn {
	return func(*request) reply { return reply{text: text, calls: calls} }
}

// reporting returns the turn with that many reported input tokens.
func (t turn) reporting(tokens int) turn {
	return func(r *request) reply {
		said := t(r)
		said.used = tokens
		return said
	}
}

// part is one statement, for any API: role, kind, text and call.
type part struct {
	who, kind, id, name, text string
}

// request is a request of an agent.
type request struct {
	api      string // messages, responses, generate or chat
	lane     string // main, or compaction
	raw      []byte
	parts    []part
	problems []string // why the real API would reject it
	talk     int      // bytes of the conversation, without system prompt and tools
}

// model is a scripted model on loopback for four APIs. It answers with 400 what the real APIs reject.
type model struct {
	url string

	mu      sync.Mutex
	turns   []turn     // the next turns, then "done"
	summary turn       // answers the agent's own compaction
	asked   []*request // since the last call of requests
	replies int
}

// newModel starts a model for the test.
func newModel(t *testing.T) *model {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	testkit.Must(t, err)
	m := &model{url: "http://" + l.Addr().String(), summary: says("<analysis>read</analysis><summary>SUMMARY OF THE MODEL</summary>")}
	srv := &http.Server{Handler: m}
	go srv.Serve(l)
	t.Cleanup(func() { srv.Close() })
	return m
}

// plays sets the next turns of the model.
func (m *model) plays(turns ...turn) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.turns = turns
}

// requests returns the requests since the last call. It fails the test if the real API would have rejected one.
func (m *model) requests(t *testing.T) []*request {
	t.Helper()
	m.mu.Lock()
	defer m.mu.Unlock()
	all := m.asked
	m.asked = nil
	for i, r := range all {
		for _, p := range r.problems {
			t.Errorf("request %d (%s) would be refused: %s", i+1, r.lane, p)
		}
	}
	return all
}

// of returns the requests of one lane.
func of(all []*request, lane string) []*request {
	return slices.DeleteFunc(slices.Clone(all), func(r *request) bool { return r.lane != lane })
}

// ServeHTTP implements the parts of the APIs that agents use.
func (m *model) ServeHTTP(w http.ResponseWriter, q *http.Request) {
	raw, err := body(q)
	if err != nil {
		refuse(w, err.Error())
		return
	}
	switch path := q.URL.Path; {
	case strings.HasSuffix(path, "/messages/count_tokens"):
		answer(w, http.StatusOK, map[string]any{"input_tokens": len(raw) / 4})
	case strings.HasSuffix(path, "/messages"):
		m.reply(w, readMessages(raw), sendMessage)
	case strings.HasSuffix(path, "/responses"):
		m.reply(w, readResponses(raw), sendResponse)
	case strings.HasSuffix(path, "/chat/completions"):
		m.reply(w, readChat(raw), sendChat)
	case strings.HasSuffix(path, ":streamGenerateContent"):
		m.reply(w, readGenerate(raw), streamGenerated)
	case strings.HasSuffix(path, ":generateContent"):
		m.reply(w, readGenerate(raw), sendGenerated)
	case strings.HasSuffix(path, "/models"):
		answer(w, http.StatusOK, map[string]any{"object": "list", "data": []any{}, "models": []any{}})
	default:
		answer(w, http.StatusNotFound, apiError("not_found_error", path))
	}
}

func body(q *http.Request) ([]byte, error) {
	in := io.Reader(q.Body)
	if q.Header.Get("Content-Encoding") == "gzip" {
		z, err := gzip.NewReader(in)
		if err != nil {
			return nil, err
		}
		in = z
	}
	return io.ReadAll(in)
}

func (m *model) reply(w http.ResponseWriter, r *request, send func(w http.ResponseWriter, r *request, n int, said reply)) {
	n, next := m.take(r)
	if len(r.problems) > 0 {
		refuse(w, strings.Join(r.problems, "; "))
		return
	}
	said := next(r)
	said.used = cmp.Or(said.used, len(r.raw)/4)
	send(w, r, n, said)
}

// take records a request and returns the turn that answers it. A rejected request uses no turn.
func (m *model) take(r *request) (int, turn) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.asked = append(m.asked, r)
	m.replies++
	next := says("done")
	switch {
	case r.lane == "compaction":
		next = m.summary
	case r.lane == "main" && len(m.turns) > 0 && len(r.problems) == 0:
		next, m.turns = m.turns[0], m.turns[1:]
	}
	return m.replies, next
}

func apiError(kind, text string) any {
	return map[string]any{"type": "error", "error": map[string]any{"type": kind, "message": text}}
}

func refuse(w http.ResponseWriter, why string) {
	answer(w, http.StatusBadRequest, apiError("invalid_request_error", "the scripted model: "+why))
}

func answer(w http.ResponseWriter, code int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(code)
	json.NewEncoder(w).Encode(v)
}

// stream sends a reply as events, one data line each.
type stream struct{ w http.ResponseWriter }

func newStream(w http.ResponseWriter) stream {
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("Cache-Control", "no-cache")
	w.WriteHeader(http.StatusOK)
	return stream{w}
}

func (s stream) event(kind string, fields map[string]any) {
	fields["type"] = kind
	fmt.Fprintf(s.w, "event: %s\n", kind)
	s.data(fields)
}

func (s stream) data(fields map[string]any) {
	data, err := json.Marshal(fields)
	if err != nil {
		panic(err) // our own fields can always be encoded
	}
	fmt.Fprintf(s.w, "data: %s\n\n", data)
	if f, ok := s.w.(http.Flusher); ok {
		f.Flush()
	}
}
