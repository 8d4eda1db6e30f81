//go:build rig

package browser

import (
	"bytes"
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"ccd/internal/testkit"
)

// The sessions of the invented home.
const (
	ledgerID  = "5d2f7a1e-90c4-4a1b-8a53-0c1d2e3f4a5b" // cmd/ccd/testdata: compacted once
	shopID    = "7c41d0aa-6a0e-4f4e-9d8b-2b1f6e5a9c10" // waits for its user now, nearly full
	secretID  = "3e9b1c77-0d52-4c1a-8f0e-6a7b8c9d0e1f" // printed a token
	hostileID = "bad00000-0000-4000-8000-000000000bad" // every text in it is an attack
)

// The titles of the sessions, by which a user finds them.
const (
	ledgerTitle  = "The nightly export writes 48,212 cents"
	shopTitle    = "The checkout test fails since the tax change"
	shopTest     = "pytest -q tests/test_checkout.py"
	shopLastEdit = "return (net * 119 + 50) // 100"
	shopBefore   = "return net * 119 // 100"
)

// secret has the form of a GitHub token. It is in two parts, so that scanners of this repository do not take it for one.
const secret = "ghp_" + "16C7e42F292c6912E7710c838347Ae178B4a"

func sessionURL(id string) string { return "/s/claude-code/" + id }

// transcript writes a session of Claude Code, one record per step.
type transcript struct {
	bytes.Buffer
	id, cwd string
	branch  string
	model   string
	at      time.Time // of the next record
	step    time.Duration
	n       int
	tokens  int // in the context, as the next answer reports them
}

func (w *transcript) add(kind string, more map[string]any) {
	w.n++
	record := map[string]any{
		"type": kind, "uuid": fmt.Sprintf("%08x-0000-4000-8000-%012x", w.n*7919, w.n), "sessionId": w.id, "cwd": w.cwd, "gitBranch": w.branch, "version": "2.1.112",
		"isSidechain": false, "userType": "external", "timestamp": w.at.UTC().Format("2006-01-02T15:04:05.000Z"),
	}
	for k, v := range more {
		record[k] = v
	}
	line, err := json.Marshal(record)
	if err != nil {
		panic(err)
	}
	w.Write(append(line, '\n'))
	w.at = w.at.Add(w.step)
}

func (w *transcript) asks(content any) {
	w.add("user", map[string]any{"message": map[string]any{"role": "user", "content": content}})
}

func (w *transcript) answers(content ...any) {
	w.tokens += 900
	w.add("assistant", map[string]any{"message": map[string]any{
		"id": fmt.Sprintf("msg_%04d", w.n), "type": "message", "role": "assistant", "model": w.model, "content": content,
		"usage": map[string]any{"input_tokens": 6, "cache_creation_input_tokens": 900, "cache_read_input_tokens": w.tokens - 906, "output_tokens": 120},
	}})
}

func (w *transcript) says(text string) { w.answers(map[string]any{"type": "text", "text": text}) }

func (w *transcript) calls(tool string, input map[string]any, output string, failed bool) {
	id := fmt.Sprintf("toolu_%04d", w.n)
	w.answers(map[string]any{"type": "tool_use", "id": id, "name": tool, "input": input})
	w.tokens += len(output) / 4
	w.asks([]any{map[string]any{"type": "tool_result", "tool_use_id": id, "content": output, "is_error": failed}})
}

func (w *transcript) runs(command, output string, exit int) {
	if exit != 0 {
		output = fmt.Sprintf("Exit code %d\n%s", exit, output)
	}
	w.calls("Bash", map[string]any{"command": command}, output, exit != 0)
}

// writes writes a whole file, so that ccd knows each version of it.
func (w *transcript) writes(path, text string) {
	w.calls("Write", map[string]any{"file_path": path, "content": text}, "File created successfully at: "+path, false)
}

func (w *transcript) edits(path, from, to string) {
	w.calls("Edit", map[string]any{"file_path": path, "old_string": from, "new_string": to}, "The file "+path+" has been updated.", false)
}

func (w *transcript) compacts(summary string) {
	w.add("system", map[string]any{"subtype": "compact_boundary", "content": "Conversation compacted", "compactMetadata": map[string]any{"trigger": "auto", "preTokens": w.tokens}})
	w.tokens = 14000
	w.add("user", map[string]any{
		"isCompactSummary": true, "isVisibleInTranscriptOnly": true,
		"message": map[string]any{"role": "user", "content": "This session is being continued from a previous conversation that ran out of context. The conversation is summarized below:\n\n" + summary},
	})
}

const taxFile = `"""Taxes of an order."""


def gross(net: int) -> int:
    """Cents of net with tax, rounded half up."""
    return int(net * 1.19)


def total(lines) -> int:
    return gross(sum(line.net for line in lines))
`

// shop returns a session of the last hour that waits for its user. Its context is filled by outputs.
func shop(now time.Time) *transcript {
	w := &transcript{id: shopID, cwd: "/home/me/shop", branch: "tax", model: "claude-opus-4-6", at: now, step: 8 * time.Second, tokens: 21000}
	tax := w.cwd + "/shop/tax.py"
	log := strings.Repeat("tests/test_orders.py::test_order_line PASSED with a tax of 19 percent and a rounding of cents\n", 900)
	w.asks(shopTitle + ". Find out why and fix it; never change the prices in the database.")
	w.says("I'll look at the tax code first, then at the test.")
	w.writes(tax, taxFile)
	w.runs(shopTest, "E       AssertionError: 1189 != 1190\n1 failed, 11 passed", 1)
	for n := range 5 {
		w.runs(fmt.Sprintf("pytest -v tests/test_orders_%d.py", n), log, 0)
	}
	w.edits(tax, "return int(net * 1.19)", shopBefore)
	w.runs(shopTest, "E       AssertionError: 1189 != 1190\n1 failed, 11 passed", 1)
	w.says("Integers alone are not enough: the half cent is cut off. I decided to add 50 before the division, because `round()` rounds to even.")
	w.compacts("1. The user asked to fix the checkout test.\n2. gross() uses integers now.\n3. Next: fix the rounding.")
	w.asks("and tell me which orders of last week were one cent too low")
	for n := range 4 {
		w.runs(fmt.Sprintf("python -m shop.audit --week %d", 47-n), log, 0)
	}
	w.edits(tax, shopBefore, shopLastEdit)
	w.runs(shopTest, "12 passed in 0.41s", 0)
	w.runs("ruff check .", "shop/tax.py:1:1: I001 Import block is un-sorted\nFound 1 error.", 1)
	w.runs("ruff check --fix .", "Found 1 error (1 fixed, 0 remaining).", 0)
	for n := range 4 {
		w.runs(fmt.Sprintf("python -m shop.audit --week %d --all", 43-n), log, 0)
	}
	w.asks("stop here, I want to look at the diff before you commit")
	w.runs("git diff --stat", " shop/tax.py | 2 +-\n 1 file changed, 1 insertion(+), 1 deletion(-)", 0)
	w.says("Nothing is committed. 14 orders of last week were one cent too low; the fix rounds half up.")
	return w.ending(now.Add(-3 * time.Minute))
}

// ending moves the times of a session, so that its last record is from then.
func (w *transcript) ending(then time.Time) *transcript {
	by := then.Sub(w.at.Add(-w.step))
	var out bytes.Buffer
	for line := range bytes.Lines(w.Bytes()) {
		var record map[string]any
		if err := json.Unmarshal(line, &record); err != nil {
			panic(err)
		}
		at, err := time.Parse(time.RFC3339, record["timestamp"].(string))
		if err != nil {
			panic(err)
		}
		record["timestamp"] = at.Add(by).UTC().Format("2006-01-02T15:04:05.000Z")
		moved, err := json.Marshal(record)
		if err != nil {
			panic(err)
		}
		out.Write(append(moved, '\n'))
	}
	w.Buffer = out
	return w
}

// leaky returns a session in which a command printed a token.
func leaky(now time.Time) *transcript {
	w := &transcript{id: secretID, cwd: "/home/me/deploy", branch: "main", model: "claude-opus-4-6", at: now.Add(-50 * time.Hour), step: 9 * time.Second, tokens: 20000}
	w.asks("Deploy the staging environment and say what failed.")
	w.runs("env | grep GITHUB", "GITHUB_TOKEN="+secret, 0)
	w.says("The deployment uses a token of the environment. Nothing failed.")
	return w
}

// ledger returns the session of cmd/ccd/testdata, which its agent compacted.
func ledger(t testing.TB) []byte {
	t.Helper()
	var all []byte
	for _, name := range []string{"ledger.jsonl", "compaction.jsonl"} {
		all = append(all, testkit.Read(t, filepath.Join("..", "..", "story", name))...)
	}
	return all
}

// put writes a transcript into a home.
func put(t testing.TB, home, id string, text []byte) (path string) {
	t.Helper()
	path = filepath.Join(home, ".claude", "projects", "-home-me", id+".jsonl")
	testkit.Put(t, path, string(text))
	return path
}

// others are sessions that fill the list: what was asked, where, how long ago, and how many times the agent read a lot.
var others = []struct {
	asked, project string
	ago            time.Duration
	reads          int
}{
	{"Move the price list from YAML to SQLite, one table per season", "shop", 26 * time.Hour, 22},
	{"Why does the invoice mail arrive twice for some customers?", "mailer", 31 * time.Hour, 9},
	{"Add a dry run to the deploy script, it must not touch the bucket", "deploy", 3 * 24 * time.Hour, 4},
	{"Replace the date picker; keep the keyboard shortcuts", "shop-web", 4 * 24 * time.Hour, 31},
	{"The export takes 40 s for 10,000 invoices. Profile it first, then propose", "ledger", 6 * 24 * time.Hour, 14},
	{"Write the release notes of 4.2 from the commits", "shop", 8 * 24 * time.Hour, 2},
	{"Review the retry logic of the mailer for lost messages", "mailer", 11 * 24 * time.Hour, 7},
}

// other returns one of others. Each read takes about 9,000 tokens; the agent compacts at 180,000.
func other(now time.Time, n int) *transcript {
	o := others[n]
	w := &transcript{id: fmt.Sprintf("%08x-6a0e-4f4e-9d8b-2b1f6e5a9c1%x", 0x2b7c1d90+n*0x1f3a5c7, n), cwd: "/home/me/" + o.project, branch: "main", model: "claude-opus-4-6", at: now.Add(-o.ago), step: 20 * time.Second, tokens: 18000}
	w.asks(o.asked)
	text := strings.Repeat("def line(order, price, season): return order.price(price, season)\n", 550)
	for i := range o.reads {
		w.calls("Read", map[string]any{"file_path": fmt.Sprintf("%s/module_%d.py", w.cwd, i)}, text, false)
		if w.tokens > 180000 {
			w.compacts("1. " + o.asked + ".\n2. The modules have been read.")
		}
	}
	w.says("Done. I changed nothing else.")
	return w
}

// story returns a home with the sessions that are not hostile, archived.
func story(t testing.TB) (home string) {
	t.Helper()
	home, now := t.TempDir(), time.Now()
	put(t, home, ledgerID, ledger(t))
	put(t, home, shopID, shop(now).Bytes())
	put(t, home, secretID, leaky(now).Bytes())
	for n := range others {
		w := other(now, n)
		put(t, home, w.id, w.Bytes())
	}
	codex := testkit.Read(t, filepath.Join("..", "..", "..", "..", "internal", "agent", "registry", "testdata", "story", "codex.jsonl"))
	testkit.Put(t, filepath.Join(home, ".codex", "sessions", "2026", "09", "14", "rollout-2026-09-14T10-00-00-019a4c00-7b1e-7c20-9f00-5a0b6c7d8e01.jsonl"), string(codex))
	once(t, home)
	return home
}
