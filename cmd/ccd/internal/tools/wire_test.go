package tools

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"strings"
	"testing"

	"ccd/internal/testkit"
)

const (
	discover   = `{"jsonrpc":"2.0","id":"server-discover-probe-1","method":"server/discover","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"claude-code","version":"2"},"io.modelcontextprotocol/clientCapabilities":{}}}}`
	initialize = `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"x","version":"2"}}}`
	sessions   = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"sessions","arguments":{}}}`
)

// reply is a line of the server.
type reply struct {
	ID     any
	Result map[string]any
	Error  *struct {
		Code    int
		Message string
	}
}

// lines serves the input to its end.
func lines(t *testing.T, a Archive, input ...string) map[any]reply {
	t.Helper()
	var out strings.Builder
	in := strings.NewReader(strings.Join(input, "\n") + "\n")
	testkit.Must(t, Serve(t.Context(), "1.2.3", quiet(a), in, &out, slog.New(slog.DiscardHandler)))
	all := map[any]reply{}
	for line := range strings.Lines(out.String()) {
		var r reply
		if err := json.Unmarshal([]byte(line), &r); err != nil || !strings.Contains(line, `"jsonrpc":"2.0"`) {
			t.Errorf("this is no JSON-RPC: %s", line)
		}
		all[r.ID] = r
	}
	return all
}

func one() Archive {
	return Archive{Sessions: func(_ context.Context, _ SessionsQuery, w io.Writer) (string, error) {
		_, err := io.WriteString(w, "a session\n")
		return "", err
	}}
}

func TestHandshakes(t *testing.T) {
	newer := strings.Replace(discover, `"server/discover","params":{`, `"tools/call","params":{"name":"sessions","arguments":{},`, 1)
	newer = strings.Replace(newer, `"server-discover-probe-1"`, "1", 1)
	for name, input := range map[string][]string{
		"a line that is none":     {initialize, "this is not JSON {", sessions},
		"JSON that is none":       {initialize, `{"jsonrpc":"2.0"}`, `[]`, `7`, sessions},
		"initialize":              {initialize, `{"jsonrpc":"2.0","method":"notifications/initialized"}`, sessions},
		"a probe, then that":      {discover, initialize, `{"jsonrpc":"2.0","method":"notifications/initialized"}`, sessions},
		"a probe, the newer form": {discover, newer},
		"empty lines":             {"", initialize, "", sessions, ""},
	} {
		got := lines(t, one(), input...)
		for id, r := range got {
			if id != nil && r.Error != nil {
				t.Errorf("%s: %v: %+v", name, id, r.Error)
			}
		}
		if bad := got[nil]; strings.Contains(name, "is none") != (bad.Error != nil && bad.Error.Code == -32700) {
			t.Errorf("%s: %+v", name, bad.Error)
		}
		if text, _ := json.Marshal(got[float64(1)].Result); !strings.Contains(string(text), "a session") {
			t.Errorf("%s: the call was answered with %s", name, text)
		}
		if r, ok := got["server-discover-probe-1"]; strings.Contains(name, "probe") {
			if text, _ := json.Marshal(r.Result); !ok || !strings.Contains(string(text), "2026-07-28") || !strings.Contains(string(text), "2025-11-25") {
				t.Errorf("%s: the probe was answered with %s", name, text)
			}
		}
	}
}

// TestLongLine: a line that is too long ends the server with an error.
func TestLongLine(t *testing.T) {
	in := strings.NewReader(initialize + "\n" + `{"x":"` + strings.Repeat("x", maxMessage) + "\n")
	if err := Serve(t.Context(), "1", quiet(one()), in, io.Discard, slog.New(slog.DiscardHandler)); err == nil {
		t.Error("no error")
	}
}

// A tool that panics fails, and the server continues.
func TestPanicIsAnError(t *testing.T) {
	a := one()
	a.Timeline = func(context.Context, OfSession, io.Writer) (string, error) { panic("the mill burns") }
	bad := strings.NewReplacer(`"id":1`, `"id":2`, `"sessions"`, `"timeline"`).Replace(sessions)
	var input []string
	for range maxCalls + 1 { // each call must free its slot
		input = append(input, bad)
	}
	got := lines(t, a, append(append([]string{initialize}, input...), sessions)...)
	if text, _ := json.Marshal(got[2.0].Result); !strings.Contains(string(text), `"isError":true`) || strings.Contains(string(text), "burns") {
		t.Errorf("the panic was answered with %s, %+v", text, got[2.0].Error)
	}
	if text, _ := json.Marshal(got[1.0].Result); !strings.Contains(string(text), "a session") {
		t.Errorf("the call behind it with %s", text)
	}
}

func TestUnknownToolIsAnError(t *testing.T) {
	got := lines(t, one(), initialize, strings.Replace(sessions, `"sessions"`, `"forget"`, 1))[float64(1)]
	if got.Error == nil || !strings.Contains(got.Error.Message, "forget") {
		t.Errorf("%+v", got)
	}
}

// TestServerEnds: it ends at once with its context, with the context's cause, even if its input and a call continue;
// and it ends if its input fails.
func TestServerEnds(t *testing.T) {
	cause := errors.New("told to")
	ctx, cancel := context.WithCancelCause(t.Context())
	in, client := io.Pipe()
	defer client.Close()
	ended := make(chan error, 1)
	go func() { ended <- Serve(ctx, "1", quiet(one()), in, io.Discard, slog.New(slog.DiscardHandler)) }()
	if _, err := io.WriteString(client, initialize+"\n"); err != nil {
		t.Fatal(err)
	}
	cancel(cause)
	if err := <-ended; !errors.Is(err, cause) {
		t.Errorf("it ended with %v", err)
	}

	ctx, cancel = context.WithCancelCause(t.Context())
	began := make(chan struct{})
	slow := Archive{Sessions: func(ctx context.Context, _ SessionsQuery, _ io.Writer) (string, error) {
		close(began)
		<-ctx.Done()
		return "", ctx.Err()
	}}
	again, other := io.Pipe()
	defer other.Close()
	go func() { ended <- Serve(ctx, "1", quiet(slow), again, io.Discard, slog.New(slog.DiscardHandler)) }()
	if _, err := io.WriteString(other, initialize+"\n"+sessions+"\n"); err != nil {
		t.Fatal(err)
	}
	<-began
	cancel(cause)
	if err := <-ended; !errors.Is(err, cause) {
		t.Errorf("it ended with %v in the middle of a call", err)
	}

	broken := io.MultiReader(strings.NewReader(initialize+"\n"), failing{})
	if err := Serve(t.Context(), "1", quiet(one()), broken, io.Discard, slog.New(slog.DiscardHandler)); err == nil {
		t.Error("an input that fails is no end")
	}
}

type failing struct{}

func (failing) Read([]byte) (int, error) { return 0, io.ErrUnexpectedEOF }

// TestEndWaitsForAnswers: requests before the end of the input are answered.
func TestEndWaitsForAnswers(t *testing.T) {
	var input []string
	for _, id := range []string{"1", "2", `"1"`} {
		input = append(input, strings.Replace(sessions, `"id":1`, `"id":`+id, 1))
	}
	got := lines(t, one(), append([]string{initialize}, input...)...)
	if len(got) != 4 {
		t.Errorf("%d answers, want 4", len(got))
	}
}
