package compactor_test

import (
	"fmt"
	"strings"
	"testing"

	"ccd/compactor"
	"ccd/internal/agent/registry"
	"ccd/internal/redact"
	"ccd/internal/testkit"
	"ccd/internal/transcript"
)

// TestNoPartOfASecret: in no room does a text have a part of a secret, wherever its forms cut what contains it. Without
// rules it has one.
func TestNoPartOfASecret(t *testing.T) {
	const secret = "AKIAQ7MZKXWVUTSRP2N3"
	rules, err := redact.New(redact.Config{})
	if err != nil {
		t.Fatal(err)
	}
	var lines []string
	line := func(kind, role, content string) {
		lines = append(lines, fmt.Sprintf(`{"type":%q,"uuid":"u%d","timestamp":"2026-03-04T09:00:%02dZ","sessionId":"s","cwd":"/w/%s","message":{"role":%q,"content":%s}}`,
			kind, len(lines), len(lines)%60, secret, role, content))
	}
	text := func(s string) string { return string(transcript.Quote(s)) }
	for i := range 40 {
		long := strings.Repeat("word ", 20*i) + secret + strings.Repeat(" more", 3000/(i+1)) + "\nError: no " + secret + "\n" + strings.Repeat("line\n", i) + secret
		line("user", "user", text("Do "+secret+" now. "+long))
		line("assistant", "assistant", fmt.Sprintf(`[{"type":"text","text":%s},{"type":"tool_use","id":"t%d","name":"Bash","input":{"command":%s}}]`, text("I decided "+long), i, text("run "+secret)))
		line("user", "user", fmt.Sprintf(`[{"type":"tool_result","tool_use_id":"t%d","content":%s}]`, i, text(strings.Repeat(long, 1+i%3*40))))
	}
	data := []byte(strings.Join(lines, "\n") + "\n")
	texts := func(table registry.Table, room int) (all []string) {
		c := compactor.New(options(room), transcript.Session{Key: transcript.Key{Agent: "claude-code", ID: "s"}})
		for r := range table.NewDecoder("claude-code", transcript.Main).Records(transcript.Segment{Data: data, Rest: true}) {
			c.Add(r)
		}
		span := func(at transcript.Span) ([]byte, error) { return data[at.Off:at.End()], nil }
		made, err := c.Compaction(span)
		if err != nil {
			t.Fatal(err)
		}
		hook, err := c.Injection(room, false, func(s string) int { return len(s) }, span)
		if err != nil {
			t.Fatal(err)
		}
		if table.Redact != nil && fmt.Sprint(made.Header.Secrets) != "[{aws-key 1}]" {
			t.Errorf("the front matter counts %v", made.Header.Secrets)
		}
		status := c.Status()
		return append(all, rendered(made), rendered(hook), status.Ask, status.Title, status.Cwd)
	}
	found, marked := 0, 0
	for _, room := range testkit.Sample(t, []int{400, 800, 1600, 3200, 6400, 12800, 25600, 51200}, 2) {
		for _, one := range texts(registry.Table{Redact: rules}, room) {
			for i := range len(secret) - 5 {
				if i > 0 && strings.Contains(one, secret[i:i+6]) { // its first letters are those of every key
					t.Fatalf("a room of %d has %q", room, secret[i:i+6])
				}
			}
			marked += strings.Count(one, "[redacted aws-key 1]")
		}
		for _, one := range texts(registry.Table{}, room) {
			found += strings.Count(one, secret)
		}
	}
	if least := testkit.Cases(t, 10, 100); found < least || marked < least {
		t.Errorf("%d marks, and %d secrets without rules", marked, found)
	}
}
