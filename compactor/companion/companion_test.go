package companion

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/dustin/go-humanize"

	"ccd/compactor"
	"ccd/compactor/limits"
	"ccd/internal/mark"
	"ccd/internal/testkit"
	"ccd/internal/transcript"
)

func sections() []compactor.Section {
	return []compactor.Section{
		{Name: "Handover", Body: "#1 agent:\n" + mark.Quote("", "do it\n## Now\n---\nccd: 1")},
		{Name: "Record", Body: "## #1 human: \"do it\"\n#2 agent, last:\n" + mark.Quote("", "[ccd 0123456789ab cut] done")},
	}
}

func matter() Matter {
	f := Matter{
		Options: "8c1f02aa", Agent: "claude-code", Session: "5d2f7a1e", Source: "projects/-home-me/x: y\n.jsonl",
		Covers: Covers{3, 400, mark.Sum([]byte("x")).String()},
	}
	f.Tokens.Original, f.Window, f.Assumed, f.Level, f.Verified = 4000, 200000, true, compactor.Gentle, true
	return f
}

func TestRenderAndParse(t *testing.T) {
	doc := Render(matter(), "forge", sections())
	p, err := Parse(doc.Text)
	testkit.Must(t, err)
	if err := p.Check(); err != nil {
		t.Error(err)
	}
	for key, want := range map[string]string{
		"ccd": "1", "session": "5d2f7a1e", "source": "projects/-home-me/x: y\n.jsonl", "context_window": "200000 (assumed)",
		"covers": "{records: 3, bytes: 400, sha256: " + mark.Sum([]byte("x")).String() + "}", "verified": "true", "level": "gentle",
	} {
		if p.Fields[key] != want {
			t.Errorf("%s = %q, want %q", key, p.Fields[key], want)
		}
	}
	for i, line := range strings.Split(string(doc.Text), "\n") {
		if name, is := strings.CutPrefix(line, "## "); is && !strings.HasPrefix(name, "#") && !strings.Contains(p.Fields["sections"], fmt.Sprintf("%s: %d", name, i+1)) {
			t.Errorf("%s is at line %d, the front matter says %s", name, i+1, p.Fields["sections"])
		}
	}
	if len(p.Sections) != 2 || p.Sections[0].Body != sections()[0].Body+"\n" || p.Sections[1] != sections()[1] {
		t.Errorf("sections = %q", p.Sections)
	}
	if p.Lead != Lead("forge", "5d2f7a1e", doc.About)+"\n" {
		t.Errorf("lead = %q", p.Lead)
	}
	if got := mark.IDs(string(doc.Text)); len(got) != 0 {
		t.Errorf("IDs of quoted text: %v", got)
	}
	body := string(doc.Text)[strings.Index(string(doc.Text), "\n---\n")+5:]
	if doc.Tokens != Tokens(body) {
		t.Errorf("%d tokens, the text after the front matter has %d", doc.Tokens, Tokens(body))
	}
}

func TestEmptySession(t *testing.T) {
	p, err := Parse(Render(matter(), "forge", nil).Text)
	if err != nil || p.Check() != nil || len(p.Sections) != 0 {
		t.Errorf("%+v, %v, %v", p, err, p.Check())
	}
}

// TestAbout: the size that the reader is told is that of the text that tells it, by the chars that a token has.
func TestAbout(t *testing.T) {
	for chars, want := range map[int64]int64{0: 0, 32: 10, 3200: 1000, 3210: 1000, 3400: 1100, 30000: 9400, 172800: 54000} {
		if got := about(chars, 3.2); got != want {
			t.Errorf("%d chars are %d, want %d", chars, got, want)
		}
	}
	if got := about(3000, 0); got != 4000 {
		t.Errorf("without a measure %d, want the estimate", got)
	}
	for n := 0; n < 3000; n += testkit.Cases(t, 67, 1) {
		f := matter()
		f.Tokens.CharsPerToken = 1 + float64(n%40)/10
		doc := Render(f, "forge", []compactor.Section{{Name: "Handover", Body: strings.Repeat("x", n*n/60) + "\n"}})
		p, err := Parse(doc.Text)
		testkit.Must(t, err)
		_, body, _ := strings.Cut(string(doc.Text), "\n---\n")
		if want := about(int64(utf8.RuneCountInString(body)), f.Tokens.CharsPerToken); doc.About != want {
			t.Fatalf("%d chars, %v a token: about %d, want %d", utf8.RuneCountInString(body), f.Tokens.CharsPerToken, doc.About, want)
		}
		calls := ""
		if doc.About > readMost {
			calls = ", more than one call of a reading tool"
		}
		if want := fmt.Sprintf("About %s tokens%s. If", humanize.Comma(doc.About), calls); !strings.Contains(p.Lead, want) {
			t.Fatalf("%q does not stand in %q", want, p.Lead)
		}
	}
}

// TestLead: three lines, within the room that is kept for them, with a name that a shell takes.
func TestLead(t *testing.T) {
	o := compactor.Defaults()
	for session, want := range map[string]string{
		"5d2f7a1e": "`ccd agent restore 5d2f7a1e#N`", "5d2f7a1e-1a2b-4c3d-8e4f-5a6b7c8d9e0f": "`ccd agent restore 5d2f7a1e-1a2b-4c3d-8e4f-5a6b7c8d9e0f#N`",
		"a b": "`ccd agent restore SESSION#N`", "-x": "`ccd agent restore SESSION#N`", strings.Repeat("a", 40): "restore " + strings.Repeat("a", 40) + "#N`",
		strings.Repeat("a", 41): "`ccd agent restore SESSION#N`", "": "`ccd agent restore SESSION#N`",
	} {
		lead := Lead(strings.Repeat("h", 200), session, 1_000_000_000)
		if !strings.Contains(lead, want) || strings.Count(lead, "\n") != 3 {
			t.Errorf("%q is not in %q", want, lead)
		}
		if n := utf8.RuneCountInString(lead) + 1; n > o.LeadChars+limits.LongestHost+limits.LongestName { // an empty line stands behind it
			t.Errorf("%d chars, %d are kept for it", n, o.LeadChars)
		}
	}
	if lead := Lead("forge", "s", 0); strings.Contains(lead, "About") || !strings.HasSuffix(lead, "\nIf `ccd` is not found, ask the user.\n") {
		t.Errorf("without a size: %q", lead)
	}
}

func TestCheckSeesWhatIsMissing(t *testing.T) {
	whole := Render(matter(), "forge", sections()).Text
	for n := range len(whole) {
		p, err := Parse(whole[:n])
		if err == nil && p.Check() == nil {
			t.Fatalf("the first %d of %d bytes pass for a companion", n, len(whole))
		}
	}
}

func TestPath(t *testing.T) {
	s := transcript.Session{
		Key:  transcript.Key{Agent: "codex", ID: "x"},
		Path: "/h/.codex/sessions/2026/01/02/r.jsonl.zst", Source: "sessions/2026/01/02/r.jsonl",
	}
	if got, want := Path(s, ""), "/h/.codex/sessions/2026/01/02/r.ccd.md"; got != want {
		t.Errorf("beside: %s, want %s", got, want)
	}
	if got, want := Path(s, "/c"), filepath.FromSlash("/c/codex/sessions/2026/01/02/r.ccd.md"); got != want {
		t.Errorf("below a directory: %s, want %s", got, want)
	}
	for name, want := range map[string]bool{"a.ccd.md": true, ".ccd-0a.tmp": true, "a.jsonl": false, "notes.md": false} {
		if Is("/x/"+name) != want {
			t.Errorf("Is(%s) = %t", name, !want)
		}
	}
}

// A file that is not ours is never replaced, moved or removed, whatever its name.
func TestForeignFilesStay(t *testing.T) {
	dir := t.TempDir()
	doc := Render(matter(), "forge", sections()).Text
	for name, make := range map[string]func(path string) error{
		"text":      func(p string) error { return os.WriteFile(p, []byte("---\ntitle: x\n"), 0o600) },
		"empty":     func(p string) error { return os.WriteFile(p, nil, 0o600) },
		"symlink":   func(p string) error { return os.Symlink(filepath.Join(dir, "elsewhere"), p) },
		"directory": func(p string) error { return os.Mkdir(p, 0o700) },
	} {
		path := filepath.Join(dir, name+Suffix)
		testkit.Must(t, make(path))
		before, err := os.Lstat(path)
		testkit.Must(t, err)
		if _, err := Prepare(path, doc); !errors.Is(err, ErrForeign) {
			t.Errorf("%s: Prepare = %v", name, err)
		}
		if err := Remove(path); err != nil {
			t.Errorf("%s: Remove = %v", name, err)
		}
		if err := Copy(path, path+".copied"); err != nil {
			t.Errorf("%s: Copy = %v", name, err)
		}
		after, err := os.Lstat(path)
		if err != nil || !os.SameFile(before, after) || before.Size() != after.Size() {
			t.Errorf("%s was touched: %v", name, err)
		}
	}
	ours := filepath.Join(dir, "ours"+Suffix)
	p, err := Prepare(ours, doc)
	testkit.Must(t, err)
	testkit.Must(t, p.Commit())
	if err := Remove(ours); err != nil { // control
		t.Error(err)
	}
	if _, err := os.Lstat(ours); err == nil {
		t.Error("our own file stays: this test cannot fail")
	}
}

func TestCopy(t *testing.T) {
	dir := t.TempDir()
	from, to := filepath.Join(dir, "a"+Suffix), filepath.Join(dir, "below", "there", "a"+Suffix)
	doc := Render(matter(), "forge", sections()).Text
	testkit.Must(t, os.WriteFile(from, doc, 0o600))
	testkit.Must(t, Copy(from, to))
	if b, err := os.ReadFile(to); err != nil || string(b) != string(doc) {
		t.Errorf("copied: %v", err)
	}
	testkit.Must(t, Remove(from))
	if err := Copy(from, to); err != nil {
		t.Errorf("nothing to copy: %v", err)
	}
}
