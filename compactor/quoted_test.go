package compactor

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"ccd/compactor/lexicon"
	"ccd/internal/mark"
	"ccd/internal/transcript"
)

// quotes gives the quoted texts below each line of ours that begins with a record's number, prefixes and escapes undone.
func quotes(t testing.TB, body string) map[string][]string {
	t.Helper()
	all := map[string][]string{}
	label, open := "", ""
	flush := func() {
		if open == "" {
			return
		}
		text, err := mark.Unquote(open)
		if err != nil {
			t.Fatal(err)
		}
		all[label], open = append(all[label], text), ""
	}
	for line := range strings.Lines(body) {
		if isQuote(line) {
			open += line
			continue
		}
		flush()
		if n, _, ok := strings.Cut(strings.TrimLeft(line, "- "), " "); ok && strings.HasPrefix(n, "#") {
			label = n
		} else if _, rest, ok := strings.Cut(line, ". #"); ok {
			label, _, _ = strings.Cut("#"+rest, " ")
			label = strings.TrimSpace(label)
		}
	}
	flush()
	return all
}

// exact checks that what stands whole in a companion is exactly what was said, and counts it.
func (f *folded) exact(t testing.TB) int {
	t.Helper()
	d := newDraft(f.Compactor, f.text())
	p := d.fitted()
	if small := d.tiny(p); small != nil {
		p = small
	}
	n := 0
	check := func(part string, got map[string][]string, i int32) {
		row := d.row(i)
		text := d.text(i)
		found := slices.Contains(got[fmt.Sprintf("#%d", row.record())], text)
		if !found && row.pair >= 0 { // a result stands with its call
			found = slices.Contains(got[fmt.Sprintf("#%d", d.row(row.pair).record())], text)
		}
		if !found {
			t.Errorf("%s: #%d does not come back: %.80q", part, row.record(), text)
		}
		n++
	}
	recent := quotes(t, p.recent.text)
	for _, i := range p.recent.shown {
		switch d.row(i).kind {
		case transcript.Human, transcript.Text, transcript.Result, transcript.Summary:
			check("Recent", recent, i)
		}
	}
	asked := quotes(t, p.state)
	for i := range d.notes.asked {
		if lexicon.Chars(d.text(i)) <= longAsk {
			check("Asked", asked, i)
		}
	}
	return n
}

// saying is a session in which a text is said by everybody.
func saying(text string, rounds int) *script {
	s := day(rounds)
	s.human(text)
	s.say(text)
	s.bash("cat it", text)
	s.do("Look", map[string]any{"at": text}, text)
	s.line("user", map[string]any{"role": "user", "content": text}, map[string]any{"isCompactSummary": true})
	s.say("That is all.")
	return s
}

// TestWhatIsQuotedComesBack undoes prefixes and escapes of whatever stands whole.
func TestWhatIsQuotedComesBack(t *testing.T) {
	texts := slices.Clone(hostile)
	rng := rand.New(rand.NewPCG(1, 5))
	pieces := append(slices.Clone(hostile), "\n", "\n\n", " ", "> ", ">+ ", `\`, `\x`, "[", "[ccd ", "é", "\t", "word")
	for range 60 {
		var b strings.Builder
		for range 1 + rng.IntN(12) {
			p := pieces[rng.IntN(len(pieces))]
			b.WriteString(p[:min(len(p), 1+rng.IntN(300))])
		}
		texts = append(texts, b.String())
	}
	n := 0
	for _, text := range texts {
		for _, rounds := range []int{0, 6} {
			n += fold(t, saying(text, rounds).buf.Bytes(), Defaults()).exact(t)
		}
	}
	if n < 4*len(texts) {
		t.Errorf("%d quotes were looked at", n)
	}
	for _, s := range append(realSessions(t), invented(t, 1, 150000)...) {
		s.fold(t, Defaults()).exact(t)
	}
}

// TestChangedQuotesAreSeen is the control.
func TestChangedQuotesAreSeen(t *testing.T) {
	const text = "one [ccd 0123456789ab] line\n> and \x1b[1m another"
	body := "#7 assistant\n" + mark.Quote("", text)
	for name, other := range map[string]string{
		"as it is": body, "a line less": strings.Replace(body, "> > and", "> and", 1), "not escaped": strings.Replace(body, `[\ccd`, "[CCD", 1),
	} {
		if got := slices.Contains(quotes(t, other)["#7"], text); got != (name == "as it is") {
			t.Errorf("%s: comes back %t", name, got)
		}
	}
}

func FuzzWhatIsQuotedComesBack(f *testing.F) {
	for _, text := range hostile {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if !utf8.ValidString(text) || len(text) > 20000 {
			t.Skip("JSON holds Unicode")
		}
		g := fold(t, saying(text, 1).buf.Bytes(), Defaults())
		g.exact(t)
		g.check(t, g.compact(t))
	})
}

// TestAnyBudgetIsKept has sessions under many budgets: never above it, nor above the lines that one call of a reading
// tool shows, and every record with items stands under an ID or whole.
func TestAnyBudgetIsKept(t *testing.T) {
	samples := []sample{
		{"day", "claude-code", day(40).buf.Bytes()},
		{"everything", "claude-code", everything().buf.Bytes()},
		{"hostile", "claude-code", everywhere(strings.Join(hostile, "\n")).buf.Bytes()},
	}
	samples = append(append(samples, invented(t, 1, 150000)...), realSessions(t)...)
	rng := rand.New(rand.NewPCG(2, 6))
	draws := 12
	if raceEnabled {
		draws = 2
	}
	for _, s := range samples {
		budgets := []int{2000, 200000}
		for range draws {
			budgets = append(budgets, 2000+rng.IntN(1+rng.IntN(198000)))
		}
		for _, tokens := range budgets {
			f := s.fold(t, tokensOf(tokens))
			c := f.compact(t)
			f.check(t, c)
			if c.Header.KeyInformation.Lost > 0 || strings.Contains(c.Header.Reason, "budget") || strings.Contains(c.Header.Reason, "under no ID") {
				t.Errorf("%s, %d tokens: %+v %s", s.name, tokens, c.Header.KeyInformation, c.Header.Reason)
			}
			if t.Failed() {
				t.Fatalf("%s, %d tokens", s.name, tokens)
			}
		}
	}
}
