package hook

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"
	"unicode/utf16"
	"unicode/utf8"

	"ccd/internal/mark"
)

// invent is a State of random parts and lengths, in the order of a companion.
func invent(r *rand.Rand) string {
	var b strings.Builder
	words := []string{"cents", "schema", "λόγος", "😀😀", "naïve", "[ccd 0123456789ab fake]", "</system-reminder>", "a < b <|x|>", "\x1b[31m", "a\\x41", "invoice 48213", strings.Repeat("x", 300*r.IntN(2))}
	text := func(n int) string {
		var t strings.Builder
		for range n {
			t.WriteString(words[r.IntN(len(words))] + []string{" ", " ", "\n"}[r.IntN(3)])
		}
		return t.String()
	}
	sizes := [][]int{{0, 0, 1, 2}, {0, 1, 3, 9}, {0, 9, 150}}[r.IntN(3)]
	most := func() int { return sizes[r.IntN(len(sizes))] }
	id := func() mark.ID { return mark.Sum([]byte(text(3))).ID() }
	if n := most(); n > 0 {
		fmt.Fprintf(&b, "### Asked (%d of %d, in order)\n", n, n)
		for i := range n {
			fmt.Fprintf(&b, "%d. #%d 11:40Z\n%s", i+1, 3*i, mark.Quote("   ", text(1+r.IntN(30))))
			if r.IntN(4) == 0 {
				fmt.Fprintf(&b, "   %s\n", mark.New(id(), "cut, 3000 chars"))
			}
		}
	}
	for _, title := range []string{"Corrections and constraints", "Plan as last left (#9), in the agent's own words", "Files (working directory /w)", "Commands, newest first (exit status)", "Open errors, newest first (no later success of the same)", "Errors made good since", "Decisions, and what was rejected", "Sub-agents", "Of another kind"} {
		if n := most(); n > 0 {
			fmt.Fprintf(&b, "### %s\n", title)
			for i := range n {
				fmt.Fprintf(&b, "- [%s] %s %s\n", []string{"x", " "}[i%2], mark.Inline(text(8), 1200), mark.New(id(), "output, 4 KB"))
				if r.IntN(3) == 0 {
					b.WriteString(mark.Quote("  ", text(r.IntN(20))))
				}
			}
		}
	}
	return b.String()
}

// TestContextLaw: whatever a companion's State holds, a context stays within the client's limit, names companion and
// restore within what is shown of a context that is too long, and says only what stands in the companion.
func TestContextLaw(t *testing.T) {
	short, whole := 0, 0
	for seed := range uint64(80) {
		r := rand.New(rand.NewPCG(seed, 7))
		p := newPlace(t)
		state := invent(r)
		for _, path := range []string{p.claude(uuid1), p.codex("2026/03/01", uuid1)} {
			p.write(path, "{}\n", time.Hour)
			at := p.companion(path, state, nil)
			a, err := p.ask(Event{Name: SessionStart, Source: "resume", Session: uuid1, Transcript: path})
			if err != nil {
				t.Fatalf("seed %d: %v", seed, err)
			}
			text := contextOf(t, a)
			length := len(text)
			if strings.Contains(path, ".claude") {
				length = len(utf16.Encode([]rune(text)))
			}
			if length > 10000 || utf8.RuneCountInString(text) > 10000 {
				t.Fatalf("seed %d: %d units", seed, length)
			}
			head := text[:min(len(text), 2000)]
			wants(t, head, at, "/opt/bin/ccd agent restore ID", "not instructions")
			if strings.Contains(text, "shortened") {
				short++
				onlyFrom(t, seed, text, tagless(state))
				newest := state[:max(0, strings.Index(state, "\n### Corr"))]
				if i := strings.LastIndex(newest, ". #"); i > 0 && !strings.Contains(text, newest[i:i+8]) {
					t.Errorf("seed %d: the newest message is not there", seed)
				}
			} else if whole++; !strings.HasSuffix(text, tagless(state)) || tag.MatchString(text) {
				t.Errorf("seed %d: State is not whole", seed)
			}
		}
	}
	if short < 60 || whole < 20 {
		t.Errorf("%d shortened, %d whole: the law says little", short, whole)
	}
}

// onlyFrom checks that each line behind the heading of State is one of State's, or a beginning of one, or our own note.
func onlyFrom(t *testing.T, seed uint64, text, state string) {
	t.Helper()
	_, body, _ := strings.Cut(text, "of the companion\n")
	state = "\n" + state
	for line := range strings.Lines(body) {
		line = strings.TrimSuffix(line, "\n")
		bare := strings.TrimSuffix(line, " …")
		if strings.HasPrefix(line, "- (shortened: lines ") || strings.Contains(state, "\n"+bare) {
			continue
		}
		t.Fatalf("seed %d: %q does not stand in State", seed, line)
	}
	if n := strings.Count(body, "[ccd "); n > strings.Count(state, "[ccd ") {
		t.Errorf("seed %d: %d markers", seed, n)
	}
	for rest := body; ; { // no marker is cut
		i := strings.Index(rest, "[ccd ")
		if i < 0 {
			break
		}
		rest = rest[i+1:]
		if line, _, _ := strings.Cut(rest, "\n"); !strings.Contains(line, "]") {
			t.Fatalf("seed %d: a marker is cut: %q", seed, line)
		}
	}
}

// TestWhereLinesStand holds that the line numbers of a shortened part are those of the companion.
func TestWhereLinesStand(t *testing.T) {
	p := newPlace(t)
	path := p.claude(uuid1)
	p.write(path, "{}\n", time.Hour)
	state := "### Asked (1 of 1, in order)\n1. #3\n   > go\n### Commands, newest first (exit status)\n" + strings.Repeat("- #5 `make` -> 0 "+strings.Repeat("y", 90)+"\n", 300)
	at := p.companion(path, state, nil)
	a, err := p.ask(Event{Name: SessionStart, Source: "resume", Session: uuid1, Transcript: path})
	if err != nil {
		t.Fatal(err)
	}
	file, err := read(at)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(string(file), "\n")
	first, last := 0, 0
	_, note, _ := strings.Cut(contextOf(t, a), "- (shortened: lines ")
	if _, err := fmt.Sscanf(note, "%d-%d", &first, &last); err != nil {
		t.Fatal(err)
	}
	if lines[first-1] != "### Commands, newest first (exit status)" || !strings.HasPrefix(lines[last-1], "- #5") || strings.HasPrefix(lines[last], "- #5") {
		t.Errorf("lines %d-%d: %q to %q", first, last, lines[first-1], lines[last-1])
	}
}

func TestWhatIsKeptFirst(t *testing.T) {
	list := func(n int, of string) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, of, i, strings.Repeat("w", 200))
		}
		return b.String()
	}
	state := "### Asked (99 of 99, in order)\n" + list(99, "%d. #7\n   > ask%[1]d %[2]s\n") +
		"### Corrections and constraints\n" + list(99, "- rule%d %s\n") +
		"### Commands, newest first (exit status)\n" + list(99, "- run%d %s\n") +
		"### Plan as last left (#9), in the agent's own words\n" + list(60, "- [x] done%d %s\n") + list(60, "- [ ] todo%d %s\n")
	p := newPlace(t)
	p.write(p.claude(uuid1), "{}\n", time.Hour)
	p.companion(p.claude(uuid1), state, nil)
	a, err := p.ask(Event{Name: SessionStart, Source: "compact", Session: uuid1, Transcript: p.claude(uuid1)})
	if err != nil {
		t.Fatal(err)
	}
	text := contextOf(t, a)
	wants(t, text, "ask98 ", "ask0 ", "ask97 ", "rule98 ", "run0 ", "todo0 ")
	for _, gone := range []string{"ask40 ", "rule0 ", "run98 ", "done0 "} {
		if strings.Contains(text, gone) {
			t.Errorf("%q has the place of something else", gone)
		}
	}
	if strings.Index(text, "ask0 ") > strings.Index(text, "ask98 ") {
		t.Error("the order is another")
	}
}

func BenchmarkSessionStart(b *testing.B) {
	p := newPlace(b)
	for i := range 200 {
		path := p.claude(fmt.Sprintf("%08x-90c4-4a1b-8a53-0c1d2e3f4a5b", i))
		p.write(path, "{}\n", time.Duration(i)*time.Hour)
		p.companion(path, strings.Repeat(ledger, 60), nil)
	}
	for _, source := range []string{"startup", "resume"} {
		e := Event{Name: SessionStart, Source: source, Session: uuid3, Transcript: p.claude("00000007-90c4-4a1b-8a53-0c1d2e3f4a5b")}
		b.Run(source, func(b *testing.B) {
			for b.Loop() {
				if _, err := p.ask(e); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
