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

	"ccd/compactor/lexicon"
	"ccd/compactor/limits"
	"ccd/internal/mark"
	"ccd/internal/testkit"
)

// Each strategy that is switched off changes the companion, and no law with it.
func TestStrategiesCanBeSwitchedOff(t *testing.T) {
	data := everything().buf.Bytes()
	lists := []string{"merge", "entities", "code-split"} // change lists alone: cmd/ccd tests them
	whole := map[int]string{}
	for _, name := range testkit.Sample(t, limits.Strategies(), 6) {
		changes := slices.Contains(lists, name)
		for _, tokens := range []int{72000, 50000, 26000, 11000} {
			o := tokensOf(tokens)
			o.Focus = []string{"ferry"} // what is in focus stands where no strategy is due
			if changes {
				break
			}
			if whole[tokens] == "" {
				whole[tokens] = folding(t, data, o).compact(t).all()
			}
			o.Off = []string{name}
			f := folding(t, data, o)
			c := f.compact(t)
			f.check(t, c)
			changes = changes || c.all() != whole[tokens]
		}
		if !changes {
			t.Errorf("%s: switching it off changes nothing", name)
		}
	}
}

// workLine is the short form of a record's call: what stands for it where nothing stands whole.
func workLine(t *testing.T, s *script, record int, o Options) (line string, c *Compaction) {
	t.Helper()
	o.Off = append(o.Off, "score")
	f := folding(t, s.buf.Bytes(), o)
	c = f.compact(t)
	f.check(t, c)
	_, rest, ok := strings.Cut("\n"+c.section("Conversation"), fmt.Sprintf("\n- #%d ", record))
	if !ok {
		t.Errorf("no line for #%d in\n%s", record, c.section("Conversation"))
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

// TestShortForms has each kind of item stand in the form of its strategy, with the share that engine.md expects saved.
func TestShortForms(t *testing.T) {
	const path = "/home/me/ledger/money.py"
	content := strings.Repeat("def cents(text):\n    return int(text)\n", 60)
	out := strings.Repeat("tests/test_money.py ....\n", 60) + "E   AssertionError: 48212 != 48213\nwarning: slow test\nE   AssertionError: 48212 != 48213\n2 failed, 61 passed in 3.2s\n"
	hits := ""
	for i := range 40 {
		hits += fmt.Sprintf("src/money%d.go:%d: float64(cents)\n", i, i+3)
	}
	page := "# Decimal arithmetic\nA page about exact money. See https://example.org/decimal/spec for the rules. " + strings.Repeat("It goes on about rounding. ", 60)
	for _, c := range []struct {
		name  string
		work  func(s *script)
		want  []string
		not   []string
		kind  string // the strategy that saves
		of    string // of this text
		least float64
	}{
		{
			"a file", func(s *script) { s.read(path, content) },
			[]string{"Read [ccd ", " file money.py, 120 lines, read 2026-03-04T09:00Z]"},
			[]string{"edited", "def cents"},
			"file", numbered(content), 0.95,
		}, {
			"a file edited since", func(s *script) {
				s.read(path, content)
				s.edit(path, "def cents(text):\n    return int(text)\ndef", "def euros(text):\n    return 0\ndef")
				s.edit(path, "euros", "dollars")
				s.read(path, strings.Replace(content, "cents", "dollars", 1))
			},
			[]string{"file money.py", "edited 2x later]"},
			[]string{"def cents"},
			"file", numbered(content), 0.95,
		}, {
			"output", func(s *script) { s.fails("pytest -q", out, 1) },
			[]string{"Bash `pytest -q` -> 1: ", "`E AssertionError: 48212 != 48213`", "`warning: slow test`", "2 failed, 61 passed in 3.2s", " output, 64 lines, "},
			nil, "output", out, 0.7,
		}, {
			"a search", func(s *script) { s.do("Grep", map[string]any{"pattern": "float64", "path": "src"}, hits) },
			[]string{"Grep `float64 in src`: 40 hits: `src/money0.go:3: float64(cents)`", " result, 1.4 KB]"},
			nil, "result", hits, 0.6,
		}, {
			"a page", func(s *script) {
				s.do("WebFetch", map[string]any{"url": "https://example.org/decimal", "prompt": "what is it"}, page)
			},
			[]string{"WebFetch `https://example.org/decimal`: # Decimal arithmetic", "https://example.org/decimal/spec", " result, "},
			nil, "result", page, 0.6,
		}, {
			"another tool", func(s *script) {
				s.do("mcp__tickets__get", map[string]any{"id": "T-7"}, strings.Repeat("The ticket tells of a cent that is lost. ", 40))
			},
			[]string{"mcp__tickets__get `T-7`: The ticket tells", " result, 1.6 KB]"},
			nil, "result", page, 0.6,
		}, {
			"a copy", func(s *script) {
				s.bash("make once", strings.Repeat("a table of cents\n", 100))
				s.bash("make again", strings.Repeat("a table of cents\n", 100))
			},
			[]string{"Bash `make once`", " dup of #5, 1700 chars]"},
			[]string{"> a table"},
			"dup", strings.Repeat("a table of cents\n", 100), 0.9,
		},
	} {
		s := newScript()
		s.human("Go on.")
		c.work(s)
		line, done := workLine(t, s.later(), 2, Defaults())
		for _, w := range c.want {
			if !strings.Contains(line, w) {
				t.Errorf("%s: no %q in %s", c.name, w, line)
			}
		}
		for _, w := range c.not {
			if strings.Contains(line, w) {
				t.Errorf("%s: %q in %s", c.name, w, line)
			}
		}
		if got := float64(done.saving(c.kind).Tokens) / float64(limits.Tokens(lexicon.Chars(c.of))); got < c.least {
			t.Errorf("%s: %.2f is saved", c.name, got)
		}
	}
}

// TestSwitchedOffStandsWhole is the control: what a strategy would have shortened stands as it is.
func TestSwitchedOffStandsWhole(t *testing.T) {
	out := strings.Repeat("a line of the list\n", 40)
	for strategy, work := range map[string]func(s *script){
		"file":   func(s *script) { s.read("/home/me/ledger/money.py", out) },
		"output": func(s *script) { s.bash("make list", out) },
		"result": func(s *script) { s.do("mcp__lists__get", map[string]any{"id": "L"}, out) },
	} {
		s := newScript()
		s.human("Go on.")
		work(s)
		s.later()
		on, _ := workLine(t, s, 2, Defaults())
		o := Defaults()
		o.Off = []string{strategy}
		off, _ := workLine(t, s, 2, o)
		if strings.Contains(on, "> a line of the list") || strings.Count(off, "a line of the list") < 40 {
			t.Errorf("%s: on\n%s\noff\n%s", strategy, on, off)
		}
	}
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
	for _, c := range []struct {
		chars int
		off   []string
		large bool
	}{{29900, nil, false}, {30100, nil, true}, {30100, []string{"large"}, false}} { // 40000 tokens are 30000 chars
		s := remarks(100)
		s.bash("make dump", out(c.chars))
		s.say("That is all.")
		s.bash("true", "")
		o := tokensOf(160000)
		o.Off = c.off
		f := folding(t, s.buf.Bytes(), o)
		done := f.compact(t)
		f.check(t, done)
		text := done.section("Recent")
		errors := strings.Count(text, "> error: table ")
		if rows := strings.Count(text, " of the dump, "); c.large && (rows < 12 || rows > 24 || errors < 19) {
			t.Errorf("%d rows and %d error lines of a large output stand; 2000 chars are about 18 rows", rows, errors)
		} else if !c.large && (rows < 30 || errors >= 19) {
			t.Errorf("%d chars, off %q: %d rows and %d error lines of an output that is not large", c.chars, c.off, rows, errors)
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
	f := folding(t, s.buf.Bytes(), Defaults())
	c := f.compact(t)
	f.check(t, c)
	all := regexp.MustCompile(`#(\d+) \[ccd ([a-z0-9]{12}) image png 320x240, \d+(\.\d)? (K)?B\]`).FindAllStringSubmatch(c.all(), -1)
	if len(all) != 2 || all[0][2] != all[1][2] || all[0][1] == all[1][1] {
		t.Errorf("the pictures stand as %q in\n%s", all, c.section("Conversation"))
	}
	wantsNot(t, c.all(), "Secret musings")
	if !slices.ContainsFunc(mark.IDs(c.section("Rest")), func(id mark.ID) bool {
		return strings.Contains(f.under(c, id), "Secret musings")
	}) {
		t.Error("thinking is under no range")
	}
}

// under is the bytes that an ID of a compaction stands for.
func (f *folded) under(c *Compaction, id mark.ID) string {
	var b strings.Builder
	for _, p := range c.Pointers {
		if p.Hash.ID() == id {
			for _, part := range p.Parts {
				b.Write(f.data[part.Span.Off:part.Span.End()])
			}
		}
	}
	return b.String()
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
		f := folding(t, s.buf.Bytes(), tokensOf(tokens))
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
				t.Errorf("%d tokens: %s is gone: %q in\n%s%s", tokens, name, want, c.section("Now"), c.section("Conversation"))
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
	s.say(strings.Repeat("And so it is done, more or less as it was asked. ", 40))
	text := ""
	for _, tokens := range []int{72000, 30000, 13333, 6000} {
		f := folding(t, s.buf.Bytes(), tokensOf(tokens))
		c := f.compact(t)
		f.check(t, c)
		text += c.all()
	}
	for kind, form := range map[string]string{
		"file":   id + `file \S+, \d+ lines, read \d{4}-\d\d-\d\dT\d\d:\d\dZ(, edited \d+x later)?\]`,
		"dup":    id + `dup of #\d+, \d+ chars\]`,
		"answer": id + `answer, [\d.]+ [KM]?B: .+\]`,
		"output": id + `output, \d+ lines, [\d.]+ [KM]?B\]`,
		"result": id + `result, [\d.]+ [KM]?B\]`,
		"cut":    id + `cut, \d+ chars(: .+)?\]`,
		"range":  id + `range #\d+-#\d+, \d+ records, [\d.]+ [KM]?B.*\]`,
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
