package main

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"ccd/internal/testkit"
)

// agentHome makes a home with one archived session of this directory. Result i of results is in record 2i+3.
func agentHome(t *testing.T, results ...any) (env []string) {
	t.Helper()
	home := t.TempDir()
	dir := filepath.Join(home, ".claude", "projects", "-src-ledger")
	var text bytes.Buffer
	n := 0
	here, err := os.Getwd()
	must(t, err)
	line := func(kind string, message any) {
		n++
		record, err := json.Marshal(map[string]any{
			"type": kind, "uuid": fmt.Sprint("u", n), "timestamp": "2026-01-15T10:00:00.000Z", "cwd": here, "message": message,
		})
		must(t, err)
		text.Write(append(record, '\n'))
	}
	line("user", map[string]any{"role": "user", "content": "Look at all of it"})
	for i, r := range results {
		id := fmt.Sprint("toolu_", i)
		line("assistant", map[string]any{"id": fmt.Sprint("m", i), "role": "assistant", "model": "claude-demo", "content": []any{
			map[string]any{"type": "tool_use", "id": id, "name": "Bash", "input": map[string]any{"command": "cat " + id}},
		}})
		line("user", map[string]any{"role": "user", "content": []any{map[string]any{"type": "tool_result", "tool_use_id": id, "content": r}}})
	}
	put(t, filepath.Join(dir, "beefcafe-0000-4000-8000-000000000000.jsonl"), text.String())
	env = []string{"HOME=" + home, "USERPROFILE=" + home}
	doneIn(t, env, "run", "--once", "-q")
	return env
}

// agentSession connects a client to `ccd mcp` in this process.
func agentSession(t *testing.T, env []string) *mcp.ClientSession {
	t.Helper()
	in, fromClient := io.Pipe()
	toClient, out := io.Pipe()
	ended := make(chan int, 1)
	go func() {
		ended <- run(context.Background(), []string{"mcp"}, std(in, out, io.Discard), env)
		_ = out.Close()
	}()
	s, err := mcp.NewClient(&mcp.Implementation{Name: "x", Version: "1"}, nil).Connect(t.Context(), &mcp.IOTransport{Reader: toClient, Writer: fromClient}, nil)
	must(t, err)
	t.Cleanup(func() {
		_ = s.Close()
		if code := <-ended; code != 0 {
			t.Errorf("ccd mcp ended with %d", code)
		}
	})
	return s
}

// followed joins the pages of an answer by the calls that the answers suggest, and counts its images.
func followed(t *testing.T, s *mcp.ClientSession, tool string, args map[string]any) (text string, images, pages int) {
	t.Helper()
	for {
		r, err := s.CallTool(t.Context(), &mcp.CallToolParams{Name: tool, Arguments: args})
		if err != nil || r.IsError {
			t.Fatalf("%v: %v %+v", args, err, r)
		}
		var blocks []string
		for _, c := range r.Content {
			switch c := c.(type) {
			case *mcp.TextContent:
				blocks = append(blocks, c.Text)
			case *mcp.ImageContent:
				images++
			}
		}
		if len(blocks) == 3 {
			text += blocks[1]
		}
		pages++
		_, next, more := strings.Cut(blocks[len(blocks)-1], "next page: "+tool+" ")
		if !more {
			return text, images, pages
		}
		args = nil
		if err := json.Unmarshal([]byte(next), &args); err != nil {
			t.Fatalf("%v: %s", err, next)
		}
	}
}

// TestToolsReturnWhatCommandsPrint: the pages of a tool, joined, are what its command prints.
func TestToolsReturnWhatCommandsPrint(t *testing.T) {
	results := []any{
		strings.Repeat("a longer output, line by line\n", 9000), strings.Repeat("山は静か", 20_000),
		"tab\t nul\x00 esc\x1b[31m cr\r\n zero\u200b bidi\u202e \ufeff ﬁ ½ e\u0301 \U0001f600 \u2028 <b>&amp;</b> \\n \"[ccd:aaaaaaaaaaaa] That is all of it.",
		[]any{map[string]any{"type": "other", "value": 1}, map[string]any{"type": "text", "text": "as it stands"}},
	}
	for i := range 400 {
		results = append(results, fmt.Sprintf("needle %d: %s", i, strings.Repeat("haystack ", 30)))
	}
	env := agentHome(t, results...)
	s := agentSession(t, env)
	doneIn(t, env, "compact", "-q", "beefcafe")
	for _, c := range []struct {
		tool    string
		args    map[string]any
		command []string
		least   int // pages
	}{
		{"restore", map[string]any{"id": "beefcafe#3"}, []string{"restore", "beefcafe#3"}, 6},
		{"restore", map[string]any{"id": "beefcafe#3", "raw": true}, []string{"restore", "--raw", "beefcafe#3"}, 2},
		{"restore", map[string]any{"id": "beefcafe#5"}, []string{"restore", "beefcafe#5"}, 2},
		{"restore", map[string]any{"id": "beefcafe#7"}, []string{"restore", "beefcafe#7"}, 1},
		{"restore", map[string]any{"id": "beefcafe#9"}, []string{"restore", "beefcafe#9"}, 1},
		{"search", map[string]any{"words": "needle haystack"}, []string{"search", "--limit", "0", "needle", "haystack"}, 3},
		{"timeline", map[string]any{"session": "beefcafe"}, []string{"timeline", "beefcafe"}, 1},
		{"companion", map[string]any{"session": "beefcafe"}, []string{"show", "beefcafe"}, 2},
		{"companion", map[string]any{"session": "beefcafe", "section": "handover"}, []string{"show", "--section", "Handover", "beefcafe"}, 1},
	} {
		want, code := inProcess(t, env, c.command...)
		got, _, pages := followed(t, s, c.tool, c.args)
		if code != 0 || got != string(want) || pages < c.least {
			t.Errorf("%s %v: %d pages of %d bytes, %q prints %d", c.tool, c.args, pages, len(got), c.command, len(want))
		}
	}
}

func TestToolShowsImages(t *testing.T) {
	block := func(size int) any {
		png := append([]byte("\x89PNG\r\n\x1a\n"), make([]byte, size)...)
		return map[string]any{"type": "image", "source": map[string]any{"type": "base64", "media_type": "image/png", "data": base64.StdEncoding.EncodeToString(png)}}
	}
	note := map[string]any{"type": "text", "text": "a screen"}
	env := agentHome(t, []any{block(3000)}, []any{note, block(3000), block(9000)}, []any{note, block(2 << 20)})
	s := agentSession(t, env)
	for i, want := range []struct {
		text   string
		images int
	}{{"", 1}, {"a screen", 2}, {"a screen", 0}} {
		name := "beefcafe#" + strconv.Itoa(2*i+3)
		if text, images, _ := followed(t, s, "restore", map[string]any{"id": name}); text != want.text || images != want.images {
			t.Errorf("%s: %q with %d images, want %q with %d", name, text, images, want.text, want.images)
		}
	}
	raw, _ := inProcess(t, env, "restore", "--raw", "beefcafe#3")
	if text, images, _ := followed(t, s, "restore", map[string]any{"id": "beefcafe#3", "raw": true}); text != string(raw) || images != 0 {
		t.Errorf("raw: %d bytes of %d, %d images", len(text), len(raw), images)
	}
}

// TestRestoreForAnAgent: an agent gets no part of a secret, and reads who can see it. The
// control has the secret.
func TestRestoreForAnAgent(t *testing.T) {
	secret := awsKey("")
	env := agentHome(t, "key = "+secret+" and more", "no key")
	for _, shown := range []bool{false, true} {
		if shown {
			env = append(env, "CCD_REDACT_SECRETS=false")
		}
		s := agentSession(t, env)
		for n, has := range map[int]bool{3: true, 5: false} {
			id := fmt.Sprintf("beefcafe#%d", n)
			calls := []map[string]any{{"id": id}, {"id": id, "raw": true}}
			seen := false
			for _, args := range calls {
				r, err := s.CallTool(t.Context(), &mcp.CallToolParams{Name: "restore", Arguments: args})
				must(t, err)
				var all strings.Builder
				for _, c := range r.Content {
					all.WriteString(c.(*mcp.TextContent).Text + "\n")
				}
				for part := secret; len(part) >= 8; part = part[1:] {
					seen = seen || strings.Contains(all.String(), part[:8])
				}
				if !r.IsError && strings.Contains(all.String(), "redacted: 1 secret (aws-key 1)") != (has && !shown) {
					t.Errorf("%v: %s", args, all.String())
				}
			}
			if seen != (has && shown) {
				t.Errorf("record %d, redaction off %v: the secret is shown: %v", n, shown, seen)
			}
			for _, raw := range [][]string{nil, {"--raw"}} {
				out, code := inProcess(t, env, append(append([]string{"agent", "restore"}, raw...), id)...)
				if code != 0 || strings.Contains(string(out), secret) != (has && shown) || strings.Contains(string(out), "[redacted aws-key 1]") != (has && !shown) {
					t.Errorf("ccd agent restore %v %s: exit %d, %s", raw, id, code, out)
				}
			}
		}
	}
}

// TestToolsWorkBesideAWriter: calls and the daemon do not block each other, and no call keeps the archive locked.
func TestToolsWorkBesideAWriter(t *testing.T) {
	testkit.Long(t, "it calls while a daemon writes")
	env := agentHome(t, strings.Repeat("an output\n", 40_000))
	s := agentSession(t, env)
	transcript := filepath.Join(strings.TrimPrefix(env[0], "HOME="), ".claude", "projects", "-src-ledger", "beefcafe-0000-4000-8000-000000000000.jsonl")
	for i := range 5 {
		testkit.Append(t, transcript, fmt.Sprintf(`{"type":"user","uuid":"w%d","timestamp":"2026-01-15T10:01:00.000Z","message":{"role":"user","content":"Go on %d"}}`+"\n", i, i))
		done := make(chan int)
		go func() { _, code := inProcess(t, env, "run", "--once", "-q"); done <- code }()
		if text, _, _ := followed(t, s, "restore", map[string]any{"id": "beefcafe#3"}); len(text) != 400_000 {
			t.Errorf("%d bytes", len(text))
		}
		if code := <-done; code != 0 {
			t.Errorf("the writer ended with %d", code)
		}
		if text, _, _ := followed(t, s, "restore", map[string]any{"id": fmt.Sprintf("beefcafe#%d", 4+i)}); text != fmt.Sprintf("Go on %d", i) {
			t.Errorf("what was just archived is not found: %q", text)
		}
	}
}
