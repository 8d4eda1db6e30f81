package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
	bolt "go.etcd.io/bbolt"

	"ccd/archive"
	"ccd/cmd/ccd/internal/account"
	"ccd/cmd/ccd/internal/cli"
	"ccd/daemon"
	"ccd/internal/mark"
	"ccd/internal/words"
)

// scriptCommands are the additional commands of scripts beside ccd and code, with their arguments. Those in brackets may be left out.
var scriptCommands = map[string]func(ts *testscript.TestScript, args []string){
	"fill FILE":                            cmdFill,
	"story FILE [FROM TO]":                 cmdStory,
	"pick COMPANION OUT":                   cmdPick,
	"event FILE TRANSCRIPT [key=value...]": cmdEvent,
	"demoted ANSWER TRANSCRIPT":            cmdDemoted,
	"schema ARCHIVE N":                     cmdSchema,
	"older ARCHIVE COMPANION":              cmdOlder,
	"spoil ARCHIVE N":                      cmdSpoil,
	"lost COMPANION":                       cmdLost,
	"talks FILE":                           cmdTalks,
	"asks FILE TEXT":                       cmdAsks,
	"tree OUT DIR...":                      cmdTree,
	"rpc TOOL ARGUMENTS":                   cmdRPC,
}

// commands returns all commands of scripts.
func commands() map[string]func(ts *testscript.TestScript, neg bool, args []string) {
	all := map[string]func(ts *testscript.TestScript, neg bool, args []string){"ccd": cmdCCD, "code": cmdCode}
	for usage, do := range scriptCommands {
		words := strings.Fields(usage)
		needed, _, open := strings.Cut(usage, " [")
		least, any := len(strings.Fields(needed)), strings.Contains(usage, "...")
		all[words[0]] = func(ts *testscript.TestScript, neg bool, args []string) {
			if n := len(args) + 1; neg || n < least || !any && (n > len(words) || !open && n > least) {
				ts.Fatalf("usage: %s", usage)
			}
			do(ts, args)
		}
	}
	return all
}

// cmdFill makes a small transcript long enough to compact: it replaces each FILL by a long text.
func cmdFill(ts *testscript.TestScript, args []string) {
	was := ts.ReadFile(args[0])
	long := strings.ReplaceAll(was, "FILL", strings.Repeat("another bushel of grain\\n", 1000))
	if was == long {
		ts.Fatalf("no FILL in %s", args[0])
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), []byte(long), 0o600))
}

// cmdStory appends the demo's session to a transcript: `story FILE [FROM TO]`, lines counted from 0.
func cmdStory(ts *testscript.TestScript, args []string) {
	story, _ := newStory()
	lines := bytes.SplitAfter(story.buf.Bytes(), []byte("\n"))
	if len(args) == 3 {
		from, err := strconv.Atoi(args[1])
		ts.Check(err)
		to, err := strconv.Atoi(args[2])
		ts.Check(err)
		lines = lines[from:to]
	}
	path := ts.MkAbs(args[0])
	ts.Check(os.MkdirAll(filepath.Dir(path), 0o700))
	f, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	ts.Check(err)
	_, err = f.Write(bytes.Join(lines, nil))
	ts.Check(errors.Join(err, f.Close()))
}

// cmdPick sets $ID to an ID of a companion that names an output of the story, and writes that output to a file: `pick
// COMPANION OUT`.
func cmdPick(ts *testscript.TestScript, args []string) {
	known := map[mark.ID]string{}
	_, outputs := newStory()
	for _, out := range outputs {
		known[mark.Sum(quoted(out)).ID()] = out
	}
	text := ts.ReadFile(args[0])
	for _, id := range mark.IDs(text) {
		if out, ok := known[id]; ok && !strings.Contains(text, "[ccd "+string(id)+" content unavailable: ") {
			ts.Setenv("ID", string(id))
			ts.Setenv("PREFIX", string(id[:6]))
			ts.Check(os.WriteFile(ts.MkAbs(args[1]), []byte(out), 0o600))
			return
		}
	}
	ts.Fatalf("%s points at no output of the story", args[0])
}

// cmdEvent writes an event for a hook: `event FILE TRANSCRIPT [key=value...]`. A value may be JSON. lines=N is an
// output of N lines, which is also written to FILE.out.
func cmdEvent(ts *testscript.TestScript, args []string) {
	e := map[string]any{
		"session_id": strings.TrimSuffix(filepath.Base(args[1]), ".jsonl"), "transcript_path": ts.MkAbs(args[1]), "cwd": ts.MkAbs("."),
		"permission_mode": "default",
	}
	for _, pair := range args[2:] {
		key, value, _ := strings.Cut(pair, "=")
		if key == "lines" {
			n, err := strconv.Atoi(value)
			ts.Check(err)
			var out strings.Builder
			for i := range n {
				fmt.Fprintf(&out, "%d of the build\n", i)
			}
			out.WriteString("FATAL: disk full\n")
			ts.Check(os.WriteFile(ts.MkAbs(args[0]+".out"), []byte(out.String()), 0o600))
			e["tool_name"], e["tool_input"] = "Bash", map[string]string{"command": "make"}
			e["content"] = out.String()
			continue
		}
		if e[key] = value; json.Valid([]byte(value)) {
			e[key] = json.RawMessage(value)
		}
	}
	b, err := json.Marshal(e)
	ts.Check(err)
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), append(b, '\n'), 0o600))
}

// cmdDemoted appends the records that Claude Code writes when ccd replaced an output, and sets $ID to the original's
// ID: `demoted ANSWER TRANSCRIPT`.
func cmdDemoted(ts *testscript.TestScript, args []string) {
	var answer struct{ Content string }
	ts.Check(json.Unmarshal([]byte(ts.ReadFile(args[0])), &answer))
	preview := answer.Content
	ts.Setenv("ID", string(mark.IDs(preview)[0]))
	session := strings.TrimSuffix(filepath.Base(args[1]), ".jsonl")
	f, err := os.OpenFile(ts.MkAbs(args[1]), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	ts.Check(err)
	common := map[string]any{"sessionId": session, "cwd": "/home/you/ledger", "timestamp": "2026-03-02T10:00:00Z", "isSidechain": false}
	w := json.NewEncoder(f)
	line := func(kind, uuid string, message map[string]any) {
		l := map[string]any{"type": kind, "uuid": uuid, "message": message}
		maps.Copy(l, common)
		ts.Check(w.Encode(l))
	}
	line("assistant", "d1", map[string]any{"id": "msg_d", "role": "assistant", "model": "claude-sonnet-4-5", "content": []any{
		map[string]any{"type": "tool_use", "id": "toolu_d", "name": "Bash", "input": map[string]any{"command": "make"}},
	}})
	line("user", "d2", map[string]any{"role": "user", "content": []any{
		map[string]any{"type": "tool_result", "tool_use_id": "toolu_d", "content": preview},
	}})
	ts.Check(f.Close())
}

// cmdSchema makes an archive one of another schema, which has other buckets: `schema ARCHIVE N`.
func cmdSchema(ts *testscript.TestScript, args []string) {
	db, err := bolt.Open(ts.MkAbs(args[0]), 0o600, nil)
	ts.Check(err)
	err = db.Update(func(tx *bolt.Tx) error {
		return errors.Join(tx.DeleteBucket([]byte("blocks")), tx.Bucket([]byte("meta")).Put([]byte("schema"), []byte(args[1])))
	})
	ts.Check(errors.Join(err, db.Close()))
}

// cmdOlder changes a companion, and the archive's notes of all companions, to what a ccd with version 1 of the rules
// wrote: `older ARCHIVE COMPANION`.
func cmdOlder(ts *testscript.TestScript, args []string) {
	path := ts.MkAbs(args[1])
	info, err := os.Stat(path)
	ts.Check(err)
	text := regexp.MustCompile(`(?m)^rules: \d+$`).ReplaceAllString(ts.ReadFile(args[1]), "rules: 1")
	ts.Check(os.WriteFile(path, []byte(text), 0o600))
	ts.Check(os.Chtimes(path, info.ModTime(), info.ModTime()))
	a, err := archive.Open(ts.MkAbs(args[0]), archive.Options{})
	ts.Check(err)
	sessions, err := a.Sessions(context.Background())
	ts.Check(err)
	var changes []archive.Change
	for _, session := range sessions {
		s, err := daemon.DecodeState(session.State)
		ts.Check(err)
		if s.Options != "" {
			s.Options = "0123456789abcdef"
			changes = append(changes, archive.Change{Session: session.Session, Old: session.State, New: s.Encode()})
		}
	}
	if len(changes) == 0 {
		ts.Fatalf("no state says with which options its companion was made")
	}
	_, err = a.Save(context.Background(), nil, changes)
	ts.Check(err)
}

// cmdSpoil damages stored block N of an archive, from 0 in the order of storing: `spoil ARCHIVE N`.
func cmdSpoil(ts *testscript.TestScript, args []string) {
	want, err := strconv.Atoi(args[1])
	ts.Check(err)
	db, err := bolt.Open(ts.MkAbs(args[0]), 0o600, nil)
	ts.Check(err)
	err = db.Update(func(tx *bolt.Tx) error {
		n, last := -1, uint64(0)
		b := tx.Bucket([]byte("blocks"))
		for k, v := b.Cursor().First(); k != nil; k, v = next(b, k) {
			if id := binary.BigEndian.Uint64(k); n < 0 || id != last {
				n, last = n+1, id
			}
			if n == want {
				if v == nil { // a large block has a bucket of its own
					b = b.Bucket(k)
					v = b.Get(k)
				}
				spoilt := append([]byte(nil), v...)
				spoilt[len(spoilt)/2] ^= 0x10
				return b.Put(k, spoilt)
			}
		}
		return errors.New("no such block")
	})
	ts.Check(errors.Join(err, db.Close()))
}

// cmdLost sets $LOST to the ID of the first original that a companion calls unavailable, and $ID to one that is
// available: `lost COMPANION`.
func cmdLost(ts *testscript.TestScript, args []string) {
	m := regexp.MustCompile(`\[ccd ([0-9a-z]{12}) content unavailable: `).FindStringSubmatch(ts.ReadFile(args[0]))
	if m == nil {
		ts.Fatalf("nothing is called unavailable")
	}
	ts.Setenv("LOST", m[1])
}

// cmdTalks writes a transcript in which the agent answers at length: `talks FILE`.
func cmdTalks(ts *testscript.TestScript, args []string) {
	place(ts, args[0], muchTalk())
}

// cmdAsks writes a transcript whose first message is the text of a file: `asks FILE TEXT`.
func cmdAsks(ts *testscript.TestScript, args []string) {
	place(ts, args[0], append(line("user", ts.ReadFile(args[1]), 0), line("assistant", "The model says so.", 1)...))
}

// cmdTree lists the files below directories with name, mode and bytes: `tree OUT DIR...`.
func cmdTree(ts *testscript.TestScript, args []string) {
	var b bytes.Buffer
	for _, dir := range args[1:] {
		text, err := treeOf(ts.MkAbs(dir))
		ts.Check(err)
		b.WriteString(text)
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), b.Bytes(), 0o600))
}

// cmdRPC calls one tool of the server and prints the answer: `rpc TOOL ARGUMENTS`.
func cmdRPC(ts *testscript.TestScript, args []string) {
	lines := `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"x","version":"1"}}}` + "\n" +
		fmt.Sprintf(`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":%q,"arguments":%s}}`, args[0], args[1]) + "\n"
	ts.Check(os.WriteFile(ts.MkAbs("rpc.jsonl"), []byte(lines), 0o600))
	cmdCCD(ts, false, []string{"mcp", "<rpc.jsonl"})
}

func next(b *bolt.Bucket, k []byte) ([]byte, []byte) {
	c := b.Cursor()
	c.Seek(k)
	return c.Next()
}

func treeOf(dir string) (string, error) {
	var b strings.Builder
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		what := ""
		switch {
		case info.Mode().IsRegular():
			text, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			what = fmt.Sprintf("%x", sha256.Sum256(text))
		case info.Mode()&fs.ModeSymlink != 0:
			if what, err = os.Readlink(path); err != nil {
				return err
			}
		}
		fmt.Fprintln(&b, path, info.Mode(), what)
		return nil
	})
	return b.String(), err
}

func TestAnswer(t *testing.T) {
	ask := func(ctx context.Context, in io.Reader) (bool, error) {
		return (&cli.App{Std: std(in, io.Discard, io.Discard)}).Yes(ctx, "?", true)
	}
	for in, want := range map[string]bool{"yes\n": true, " YES \n": true, "y": true, "\n": true, "": false, "yes please\n": false, "n\n": false} {
		if got, err := ask(t.Context(), strings.NewReader(in)); got != want || err != nil {
			t.Errorf("%q: %v, %v", in, got, err)
		}
	}
	in, out := io.Pipe() // never answers
	defer out.Close()
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(cli.ErrInterrupted)
	if got, err := ask(ctx, in); got || cli.ExitCode(err) != words.ExitInterrupted {
		t.Errorf("interrupted: %v, %v", got, err)
	}
}

func stateOf(t *testing.T, home string) string {
	t.Helper()
	p, err := account.Env{Vars: []string{"HOME=" + home, "USERPROFILE=" + home}}.State()
	must(t, err)
	return p.StateDir
}
