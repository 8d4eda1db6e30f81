package main

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"ccd/internal/mark"
	"ccd/internal/testkit"
	"ccd/internal/testkit/gen"
)

// resumeHome makes a home with one long session, and returns a function that runs ccd in it.
func resumeHome(t *testing.T) (ccd func(want int, args ...string) string, transcript string) {
	t.Helper()
	home := t.TempDir()
	dir := filepath.Join(home, ".claude", "projects", "-home-dev-ledger")
	transcript = filepath.Join(dir, "3f9a2b17-5c1e-4a80-9f4d-2b1c0de5a001.jsonl")
	var b bytes.Buffer
	must(t, gen.Write(&b, gen.Claude, 11, 400_000))
	put(t, transcript, b.String())
	at := time.Now().Add(-time.Hour)
	must(t, os.Chtimes(transcript, at, at))
	return func(want int, args ...string) string {
		t.Helper()
		var out, talk bytes.Buffer
		if got := run(context.Background(), args, std(strings.NewReader(""), &out, &talk), []string{"HOME=" + home, "USERPROFILE=" + home}); got != want {
			t.Fatalf("ccd %s: exit %d, want %d: %s", strings.Join(args, " "), got, want, talk.String())
		}
		return out.String()
	}, transcript
}

// resumedSession is what resume --json prints.
type resumedSession struct {
	Session, Source, Title, Path string
	Tokens                       struct{ Before, After int64 }
	Redacted                     map[string]int
}

func resumed(t *testing.T, text string) (o resumedSession) {
	t.Helper()
	must(t, json.Unmarshal([]byte(text), &o))
	return o
}

// TestResumedCopies: a copy becomes latest only when someone continues it. It is then a session like any other, and a
// copy of it reaches back to the first one. Every ID can be restored.
func TestResumedCopies(t *testing.T) {
	ccd, source := resumeHome(t)
	ccd(0, "run", "--once", "-q")
	one := resumed(t, ccd(0, "resume", "--max-tokens", "20000", "--json", "latest"))
	info, err := os.Stat(one.Path)
	must(t, err)
	if old, err := os.Stat(source); err != nil || !info.ModTime().Before(old.ModTime()) {
		t.Errorf("the copy is newer than its source: %v, %v", info.ModTime(), err)
	}
	if filepath.Dir(one.Path) != filepath.Dir(source) || one.Tokens.After > 20000 || !strings.HasPrefix(one.Title, "ccd: ") {
		t.Errorf("got %+v", one)
	}
	ccd(0, "run", "--once", "-q")
	if got := ccd(0, "resume", "--dry-run", "--json", "latest"); resumed(t, got).Source != one.Source {
		t.Errorf("latest means the copy: %s", got)
	}
	if got := ccd(0, "ls", "--all"); !strings.Contains(got, "copy") {
		t.Errorf("ls does not mark it: %s", got)
	}
	continueSession(t, one.Path)
	ccd(0, "run", "--once", "-q")
	two := resumed(t, ccd(0, "resume", "--max-tokens", "60000", "--json", "latest")) // a summary with IDs has room
	if two.Source != one.Session {
		t.Fatalf("latest is %s, want the copy that was gone on with", two.Source)
	}
	text := read(t, two.Path)
	if !bytes.Contains(text, []byte("of session 3f9a2b17")) || !bytes.Contains(text, []byte("audit the third quarter")) {
		t.Error("the copy of the copy tells not of both")
	}
	var first struct{ Message struct{ Content string } }
	must(t, json.Unmarshal(text[:bytes.IndexByte(text, '\n')], &first))
	ids := mark.IDs(first.Message.Content)
	if len(ids) == 0 {
		t.Fatalf("no IDs: %s", first.Message.Content)
	}
	for _, id := range ids {
		ccd(0, "restore", "--info", string(id))
	}
	// also once both transcripts are gone
	for _, path := range []string{source, one.Path} {
		must(t, os.Remove(path))
	}
	ccd(0, "resume", "--as", "codex", one.Session)
}

// continueSession appends what an agent writes when a person continues the session.
func continueSession(t *testing.T, path string) {
	t.Helper()
	at := time.Now().UTC().Format(time.RFC3339Nano)
	for _, line := range []string{
		`{"type":"user","uuid":"n1","timestamp":"` + at + `","message":{"role":"user","content":"Now audit the third quarter. ` + strings.Repeat("Weigh every parcel of it. ", 400) + `"}}`,
		`{"type":"assistant","uuid":"n2","parentUuid":"n1","timestamp":"` + at + `","message":{"id":"mn","role":"assistant","content":[{"type":"text","text":"Auditing."}]}}`,
	} {
		testkit.Append(t, path, line+"\n")
	}
}

// TestResumeUnarchived: a copy can be resumed by its ID before any daemon has seen it.
func TestResumeUnarchived(t *testing.T) {
	ccd, _ := resumeHome(t)
	ccd(0, "run", "--once", "-q")
	one := resumed(t, ccd(0, "resume", "--json", "latest"))
	if two := resumed(t, ccd(0, "resume", "--json", one.Session[:13])); two.Source != one.Session {
		t.Errorf("got %+v", two)
	}
}

// TestChainOfCopies: if there are more copies of copies than ccd follows, the last one says where the rest is.
func TestChainOfCopies(t *testing.T) {
	testkit.Long(t, "it makes nine copies")
	ccd, _ := resumeHome(t)
	ccd(0, "run", "--once", "-q")
	arg, last := "latest", resumedSession{}
	var ids []string
	for range 9 { // one more than are followed back
		last = resumed(t, ccd(0, "resume", "--max-tokens", "9000", "--json", arg))
		continueSession(t, last.Path)
		ids, arg = append(ids, last.Source), last.Session
	}
	text := read(t, last.Path)
	if want := "Made from session " + ids[0]; !bytes.Contains(text, []byte(want)) {
		t.Errorf("no %q in %.3000s", want, text)
	}
}

func TestResumeBudgetIsBounded(t *testing.T) {
	ccd, _ := resumeHome(t)
	for _, n := range []string{"4611686018427387904", "1000000001", "3999"} {
		ccd(2, "resume", "--max-tokens", n, "latest")
	}
}

// TestResumeKeepsSecrets: a copy goes back to the session, so nothing in it is changed, while what others read is.
func TestResumeKeepsSecrets(t *testing.T) {
	secret := awsKey("")
	env := agentHome(t, "key = "+secret+" and more", "no key")
	for _, to := range []string{"claude", "codex", "gemini", "qwen", "pi"} {
		home := strings.TrimPrefix(env[0], "HOME=")
		for _, dir := range []string{".codex/sessions", ".gemini/tmp", ".qwen/projects", ".pi/agent/sessions"} {
			must(t, os.MkdirAll(filepath.Join(home, dir), 0o700))
		}
		args := []string{"resume", "--as", to, "beefcafe", "--json"}
		var out, talk bytes.Buffer
		if code := run(t.Context(), args, std(strings.NewReader(""), &out, &talk), env); code != 0 {
			t.Fatalf("%v: exit %d: %s", args, code, talk.String())
		}
		if strings.Contains(out.String()+talk.String(), secret[4:]) {
			t.Errorf("%v prints the secret", args)
		}
		data := read(t, resumed(t, out.String()).Path)
		if !bytes.Contains(data, []byte("key = "+secret+" and more")) || bytes.Contains(data, []byte("[redacted")) {
			t.Errorf("%v: %s", args, data)
		}
	}
	if out, _ := inProcess(t, env, "agent", "show", "beefcafe"); bytes.Contains(out, []byte(secret[4:])) {
		t.Errorf("agent show prints the secret: %s", out)
	}
}
