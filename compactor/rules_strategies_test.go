package compactor

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"image"
	"image/png"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"ccd/compactor/lexicon"
	"ccd/internal/mark"
	"ccd/internal/transcript"
)

// later lets hours of other work follow, so that strategies by age are due.
func (s *script) later() *script {
	s.at = s.at.Add(3 * time.Hour)
	for i := range 60 {
		s.bash(fmt.Sprintf("make target%d", i), strings.Repeat(fmt.Sprintf("building unit %d\n", i), 90))
	}
	return s
}

// earlierLine is the line of a record in Earlier, with what is quoted below it.
func earlierLine(t *testing.T, s *script, record int, o Options) (line string, c *Compaction) {
	t.Helper()
	f := fold(t, s.buf.Bytes(), o)
	c = f.compact(t)
	f.check(t, c)
	_, rest, ok := strings.Cut("\n"+c.section("Earlier"), fmt.Sprintf("\n- #%d ", record))
	if !ok {
		t.Errorf("no line for #%d in\n%s", record, c.all())
		return "", c
	}
	line, _, _ = strings.Cut(rest, "\n- ")
	return line, c
}

func (c *Compaction) saving(kind string) Saving {
	i := slices.IndexFunc(c.Header.Saved, func(s Saving) bool { return s.Kind == kind })
	if i < 0 {
		return Saving{}
	}
	return c.Header.Saved[i]
}

// share is the part of a text that a strategy saves.
func share(s Saving, text string) float64 {
	return float64(s.Tokens) / float64(tokens(lexicon.Chars(text)))
}

func TestFileContent(t *testing.T) {
	content := strings.Repeat("def cents(text):\n    return int(text)\n", 60)
	s := newScript()
	s.human("Read it.")
	s.read("/home/me/ledger/money.py", content)
	line, c := earlierLine(t, s.later(), 2, Defaults())
	wants(t, line, "Read [ccd ", " file money.py, 120 lines, read 2026-03-04T09:00Z]")
	wantsNot(t, line, "edited", "def cents")
	if got := share(c.saving("file"), numbered(content)); got < 0.95 {
		t.Errorf("%.2f of a file's content is saved", got)
	}
	// With an edit behind it, and with a newer read of the same file.
	s = newScript()
	s.human("Read it.")
	s.read("/home/me/ledger/money.py", content)
	s.edit("/home/me/ledger/money.py", "def cents(text):\n    return int(text)\ndef", "def euros(text):\n    return 0\ndef")
	s.edit("/home/me/ledger/money.py", "euros", "dollars")
	s.read("/home/me/ledger/money.py", strings.Replace(content, "cents", "dollars", 1))
	line, _ = earlierLine(t, s.later(), 2, Defaults())
	wants(t, line, "edited 2x later]")
}

// A file's content younger than an hour stays where there is room, unless a newer read or an edit has made it old.
func TestFileContentByAge(t *testing.T) {
	content := strings.Repeat("cents = 1\n", 40)
	for _, c := range []struct {
		name string
		age  time.Duration
		then func(*script)
		want bool
	}{
		{"59 minutes", 59 * time.Minute, func(*script) {}, true},
		{"61 minutes", 61 * time.Minute, func(*script) {}, false},
		{"read again", 0, func(s *script) { s.read("/home/me/ledger/money.py", content+"more = 2\n") }, false},
		{"edited since", 0, func(s *script) { s.edit("/home/me/ledger/money.py", "cents", "euros") }, false},
	} {
		s := newScript()
		s.human("Read it.")
		s.read("/home/me/ledger/money.py", content)
		c.then(s)
		end := s.at.Add(c.age)
		for s.at.Before(end.Add(-7 * time.Second)) {
			s.at = s.at.Add(min(10*time.Minute, end.Sub(s.at)-7*time.Second))
			s.say("It goes on.")
		}
		f := fold(t, s.buf.Bytes(), Defaults())
		d := newDraft(f.Compactor, f.text())
		d.keep = int32(f.rows.n) // none is among the newest
		if got := d.stands(2, detail{whole: true}); got != c.want {
			t.Errorf("%s: content stands: %t, want %t", c.name, got, c.want)
		}
	}
}

func TestTalkIsSummarised(t *testing.T) {
	s := newScript()
	s.human("What of the export?")
	var texts []string
	for i := range 6 {
		text := fmt.Sprintf("The fix of exportRows%d was to parse the text in src/export/rows%d.go. ", i, i) + strings.Repeat("It may also be the import. ", 20)
		texts = append(texts, text)
		s.say(texts[i])
	}
	s.at = s.at.Add(3 * time.Hour)
	for i := range 12 {
		s.bash(fmt.Sprintf("make target%d", i), strings.Repeat(fmt.Sprintf("building unit %d\n", i), 300))
	}
	f := fold(t, s.buf.Bytes(), tokensOf(24000))
	c := f.compact(t)
	f.check(t, c)
	m := regexp.MustCompile(`- #2-#6 assistant \[ccd [a-z0-9]{12} summary: (.+) \(5 messages merged\)(.*)\]\n`).FindStringSubmatch(c.section("Earlier"))
	if m == nil {
		t.Fatalf("no merged summary in\n%s", c.section("Earlier"))
	}
	wants(t, m[1], "The fix of exportRows0 was to parse", " ... ", "The fix of exportRows4 was to parse")
	if got := share(c.saving("talk"), strings.Join(texts, "")); got < 0.5 {
		t.Errorf("%.2f of the talk is saved", got)
	}
}

// What is younger than half an hour is shown in twice the length.
func TestYoungTalkIsLonger(t *testing.T) {
	f := fold(t, remarks(3).buf.Bytes(), Defaults())
	d := newDraft(f.Compactor, f.text())
	d.recent = d.last
	d.decideTalk(d.candidates(d.last), 0)
	v := detail{text: 120}
	d.now = d.c.records.at(1).milli() + f.o.TalkAge.Milliseconds()
	old := d.talkForm(1, "assistant", v)
	d.now--
	if young := d.talkForm(1, "assistant", v); lexicon.Chars(young.line) <= lexicon.Chars(old.line)+60 {
		t.Errorf("young talk in %d chars, old in %d:\n%s\n%s", lexicon.Chars(young.line), lexicon.Chars(old.line), young.line, old.line)
	}
}

func TestCommandOutput(t *testing.T) {
	out := strings.Repeat("tests/test_money.py ....\n", 60) + "E   AssertionError: 48212 != 48213\nwarning: slow test\nE   AssertionError: 48212 != 48213\n" + "2 failed, 61 passed in 3.2s\n"
	s := newScript()
	s.human("Test it.")
	s.fails("pytest -q", out, 1)
	line, c := earlierLine(t, s.later(), 2, Defaults())
	wants(t, line, "Bash `pytest -q` -> 1: ", "`E AssertionError: 48212 != 48213`", "`warning: slow test`", "2 failed, 61 passed in 3.2s", " output, 64 lines, ")
	if strings.Count(line, "AssertionError") != 1 {
		t.Errorf("an error line stands twice: %s", line)
	}
	if got := share(c.saving("output"), out); got < 0.7 {
		t.Errorf("%.2f of the outputs is saved", got)
	}
	// The duration, where the transcript tells it.
	var x codexScript
	x.human("Test it.")
	x.shell("/w", "make test", `{"output":"`+strings.Repeat("a line of it ", 200)+`","metadata":{"exit_code":0,"duration_seconds":12.3}}`)
	for i := range 60 {
		x.shell("/w", fmt.Sprintf("make part%d", i), `{"output":"`+strings.Repeat("a line of it ", 100)+`","metadata":{"exit_code":0}}`)
	}
	f := foldAs(t, "codex", transcript.Main, x.buf.Bytes(), Defaults())
	done := f.compact(t)
	f.check(t, done)
	wants(t, done.section("Earlier"), "`make test` -> 0: ", ", 12.3s [ccd ")
	// Below the limit an output stands where there is room.
	for n, want := range map[int]bool{999: true, 1000: false} {
		d := newDraft(f.Compactor, f.text())
		i := int32(2)
		d.row(i).chars = uint32(n)
		if got := d.stands(i, detail{whole: true}); got != want {
			t.Errorf("an output of %d chars stands: %t", n, got)
		}
	}
}

func TestOtherResults(t *testing.T) {
	hits := ""
	for i := range 40 {
		hits += fmt.Sprintf("src/money%d.go:%d: float64(cents)\n", i, i+3)
	}
	page := "# Decimal arithmetic\nA page about exact money. See https://example.org/decimal/spec for the rules. " + strings.Repeat("It goes on about rounding. ", 60)
	s := newScript()
	s.human("Search it.")
	s.do("Grep", map[string]any{"pattern": "float64", "path": "src"}, hits)
	s.do("WebFetch", map[string]any{"url": "https://example.org/decimal", "prompt": "what is it"}, page)
	s.do("mcp__tickets__get", map[string]any{"id": "T-7"}, strings.Repeat("The ticket tells of a cent that is lost. ", 40))
	s.later()
	line, c := earlierLine(t, s, 2, Defaults())
	wants(t, line, "Grep `float64 in src`: 40 hits: `src/money0.go:3: float64(cents)`", " result, 1.4 KB]")
	if got := share(c.saving("result"), hits+page); got < 0.6 {
		t.Errorf("%.2f of the results is saved", got)
	}
	line, _ = earlierLine(t, s, 4, Defaults())
	wants(t, line, "WebFetch `https://example.org/decimal`: # Decimal arithmetic", "https://example.org/decimal/spec", " result, ")
	line, _ = earlierLine(t, s, 6, Defaults())
	wants(t, line, "mcp__tickets__get `T-7`: The ticket tells", " result, 1.6 KB]")
}

// Results of more than 1000 estimated tokens are replaced, but for the last three.
func TestMicrocompact(t *testing.T) {
	text := func(n int) string { return strings.Repeat("x", n) }
	s := newScript()
	s.human("Look.")
	for i := range 5 {
		s.do("mcp__notes__get", map[string]any{"id": "N"}, fmt.Sprint(i)+text(760))
	}
	f := fold(t, s.buf.Bytes(), Defaults())
	d := newDraft(f.Compactor, f.text())
	stands := func(i int32, chars int) bool {
		d.row(i).chars = uint32(chars)
		return d.stands(i, detail{whole: true})
	}
	// 1000 estimated tokens are 750 chars.
	for _, c := range []struct {
		row   int32
		chars int
		want  bool
	}{{2, 750, true}, {2, 751, false}, {4, 751, false}, {6, 751, true}, {8, 751, true}, {10, 751, true}} {
		if got := stands(c.row, c.chars); got != c.want {
			t.Errorf("row %d with %d chars stands: %t, want %t", c.row, c.chars, got, c.want)
		}
	}
	for keep, want := range map[int]int32{0: 11, 1: 10, 3: 6, 5: 2, 99: 0} {
		f.o.MicroKeep = keep
		if got := f.keepFrom(); got != want {
			t.Errorf("%d newest results begin at row %d, want %d", keep, got, want)
		}
	}
	s.later()
	line, _ := earlierLine(t, s, 2, Defaults())
	wants(t, line, "mcp__notes__get `N`: 0xxx", " result, ")
}

// One output above 40000 estimated tokens is its first 2000 chars and its error lines wherever it stands.
func TestLargeOutputs(t *testing.T) {
	out := func(chars int) string {
		var b strings.Builder
		for i := 0; b.Len() < chars; i++ {
			fmt.Fprintf(&b, "row %d of the dump, %s\n", i, strings.Repeat("and on ", 12))
			if i%12 == 11 && i < 20*12 {
				fmt.Fprintf(&b, "error: table %d is cut\n", i)
			}
		}
		return b.String()[:chars]
	}
	for chars, large := range map[int]bool{29900: false, 30100: true} { // 40000 tokens are 30000 chars
		s := remarks(100)
		s.bash("make dump", out(chars))
		s.say("That is all.")
		s.say("No more.")
		f := fold(t, s.buf.Bytes(), Defaults())
		c := f.compact(t)
		f.check(t, c)
		text := c.section("Recent")
		errors := strings.Count(text, "> error: table ")
		if rows := strings.Count(text, " of the dump, "); large && (rows < 12 || rows > 20 || errors < 19) {
			t.Errorf("%d rows and %d error lines of a large output stand; 2000 chars are about 18 rows", rows, errors)
		}
		if !large && errors >= 19 {
			t.Errorf("%d error lines of an output that is not large", errors)
		}
	}
}

func picture(t *testing.T, width, height int) string {
	t.Helper()
	var b bytes.Buffer
	if err := png.Encode(&b, image.NewRGBA(image.Rect(0, 0, width, height))); err != nil {
		t.Fatal(err)
	}
	return base64.StdEncoding.EncodeToString(b.Bytes())
}

// Images are their kind, dimensions and size; the same one has the same ID wherever it stands. Thinking is not shown.
func TestImagesAndThinking(t *testing.T) {
	s := newScript()
	block := map[string]any{"type": "image", "source": map[string]any{"type": "base64", "media_type": "image/png", "data": picture(t, 320, 240)}}
	show := func(words string) {
		s.line("user", map[string]any{"role": "user", "content": []any{map[string]any{"type": "text", "text": words}, block}}, nil)
	}
	show("Look at this.")
	s.think("Secret musings about the picture.")
	show("And at this again.")
	s.later()
	f := fold(t, s.buf.Bytes(), Defaults())
	c := f.compact(t)
	f.check(t, c)
	all := regexp.MustCompile(`#(\d+) \[ccd ([a-z0-9]{12}) image png 320x240, \d+(\.\d)? (K)?B\]`).FindAllStringSubmatch(c.all(), -1)
	if len(all) != 2 || all[0][2] != all[1][2] || all[0][1] == all[1][1] {
		t.Errorf("the pictures stand as %q in\n%s", all, c.all())
	}
	wantsNot(t, c.all(), "Secret musings")
	for i := range f.rows.n {
		if row := f.rows.at(i); row.kind == transcript.Thinking {
			found := false
			for _, p := range c.Pointers {
				found = found || p.Record <= row.record() && row.record() <= p.Last && p.Note == "range"
			}
			if !found {
				t.Error("thinking is under no range")
			}
		}
	}
}

// TestNeverElided has what stands in a companion whatever the strategy, far back and in little room.
func TestNeverElided(t *testing.T) {
	noise := strings.Repeat("collected one more unit of it\n", 80)
	s := newScript()
	s.human("Go on.")
	s.do("TodoWrite", map[string]any{"todos": []any{
		map[string]any{"content": "find the cent", "status": "completed"}, map[string]any{"content": "write the test", "status": "pending"},
	}}, "ok")
	s.fails("make lint", noise+"ledger.go:7:2: error: unused variable total\n"+noise, 3)
	s.fails("pytest -q", noise+"E   AssertionError: assert 48212 == 48213\n1 failed\n", 1)
	s.fails("python run.py", noise+"Traceback (most recent call last):\n  File \"/home/me/ledger/money.py\", line 12, in cents\n    raise ValueError(text)\nValueError: no cents in 'x'\n", 1)
	s.fails("go test ./...", noise+"panic: runtime error: index out of range [3] with length 3\n\ngoroutine 1 [running]:\nmain.cents(...)\n\t/home/me/ledger/main.go:31\n", 2)
	s.do("Task", map[string]any{"description": "look for floats", "prompt": "look"}, "Seven floats are left, all in export.py.")
	s.later()
	for _, tokens := range []int{72000, 13333} {
		f := fold(t, s.buf.Bytes(), tokensOf(tokens))
		c := f.compact(t)
		f.check(t, c)
		for name, want := range map[string]string{
			"an error line":             "ledger.go:7:2: error: unused variable total",
			"an assertion":              "AssertionError: assert 48212 == 48213",
			"an exit code":              "`make lint` -> 3",
			"an exit code of a panic":   "`go test ./...` -> 2",
			"the exception":             "ValueError: no cents in 'x'",
			"the panic":                 "panic: runtime error: index out of range [3] with length 3",
			"a sub-agent's report":      "Seven floats are left, all in export.py.",
			"the todo list as left":     "- [x] find the cent\n- [ ] write the test\n",
			"the top of a Python stack": "line 12, in cents",
			"the top of a Go stack":     "main.go:31",
		} {
			if !strings.Contains(c.all(), want) {
				t.Errorf("%d tokens: %s is gone: %q in\n%s", tokens, name, want, c.section("State"))
			}
		}
	}
}

// TestMarkerKinds has each kind of marker in a session that needs it.
func TestMarkerKinds(t *testing.T) {
	id := `\[ccd [0-9a-hjkmnp-tv-z]{12} `
	s := everything()
	s.human(strings.Repeat("A long paste about invoices. ", 200))
	s.bash("cat same", strings.Repeat("the same output\n", 100))
	s.read("/home/me/ledger/late.py", strings.Repeat("late = 1\n", 200))
	s.edit("/home/me/ledger/late.py", "late", "soon")
	s.bash("cat same again", strings.Repeat("the same output\n", 100))
	for i := range 20 {
		s.bash(fmt.Sprintf("make target%d", i), strings.Repeat(fmt.Sprintf("building unit %d\n", i), 200))
	}
	text := ""
	for _, tokens := range []int{72000, 30000} {
		f := fold(t, s.buf.Bytes(), tokensOf(tokens))
		c := f.compact(t)
		f.check(t, c)
		text += c.all()
	}
	for kind, form := range map[string]string{
		"file":    id + `file \S+, \d+ lines, read \d{4}-\d\d-\d\dT\d\d:\d\dZ(, edited \d+x later)?\]`,
		"dup":     id + `dup of #\d+, \d+ chars\]`,
		"summary": id + `summary: .+\]`,
		"output":  id + `output, \d+ lines, [\d.]+ [KM]?B\]`,
		"result":  id + `result, [\d.]+ [KM]?B\]`,
		"cut":     id + `cut, \d+ chars(: .+)?\]`,
		"range":   id + `range #\d+-#\d+, \d+ records, [\d.]+ [KM]?B\]`,
	} {
		if !regexp.MustCompile(form).MatchString(text) {
			t.Errorf("no marker %s", kind)
		}
	}
	for _, m := range regexp.MustCompile(`\[ccd \S+`).FindAllString(text, -1) {
		if !mark.IsID(strings.TrimPrefix(m, "[ccd ")) {
			t.Errorf("%q: the ID is not second", m)
		}
	}
}
