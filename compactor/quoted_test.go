package compactor

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"ccd/compactor/lexicon"
	"ccd/compactor/unit"
	"ccd/internal/mark"
	"ccd/internal/testkit"
	"ccd/internal/transcript"
)

// quotes gives the quoted texts of a body, prefixes and escapes undone.
func quotes(t testing.TB, body string) (all []string) {
	t.Helper()
	open := ""
	for line := range strings.Lines(body + "\n") {
		if isQuote(line) {
			open += line
			continue
		}
		if open != "" {
			text, err := mark.Unquote(open)
			if err != nil {
				t.Fatal(err)
			}
			all, open = append(all, text), ""
		}
	}
	return all
}

// originals are an item as its reader saw it, and, of a result, without what the client says of it.
func (f *folded) originals(i int32) []string {
	row := f.Row(i)
	raw := f.data[f.Span(row).Off:f.Span(row).End()]
	text := string(transcript.Original(row.Kind, raw))
	switch row.Kind {
	case transcript.Human:
		said, _ := f.Client().Said(row.Frame(), text)
		return []string{said}
	case transcript.Result:
		return []string{text, f.Client().Explain(f.Tool(row), row.Op, raw, strings.HasPrefix(text, "Exit code")).Text}
	case transcript.Text, transcript.Summary:
		return []string{text}
	}
	return nil
}

// exact checks that what stands whole in a companion is exactly what was said, and counts it.
func (f *folded) exact(t testing.TB) int {
	t.Helper()
	d := f.draft(unit.Reader{Room: f.o.Budget(), Size: lexicon.Chars}, f.text(), nil)
	c, err := d.made()
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	look := func(body string, rows []int32) {
		said := quotes(t, body)
		for _, i := range rows {
			all := f.originals(i)
			if all == nil {
				continue
			}
			same := func(text string) bool {
				return slices.Contains(said, text) || strings.Contains(body, ": "+mark.Inline(text, 0)+"\n")
			}
			if !slices.ContainsFunc(all, same) {
				t.Errorf("#%d does not come back: %.80q in\n%.300s", f.Row(i).Record(), all[0], body)
			}
			n++
		}
	}
	for _, one := range d.chosen.Chosen {
		if one.Section != unit.Files && one.Kind != "agents" {
			look(one.Text, one.Rows)
		}
	}
	if d.chosen.Chosen == nil { // all stands whole
		from, to := f.Rows()
		for i := from; i < to; i++ {
			look(c.all(), []int32{i})
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
	texts := slices.Clone(testkit.Sample(t, hostile, 4))
	rng := rand.New(rand.NewPCG(1, 5))
	pieces := append(slices.Clone(hostile), "\n", "\n\n", " ", "> ", ">+ ", `\`, `\x`, "[", "[ccd ", "é", "\t", "word")
	for range testkit.Cases(t, 4, 60) {
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
			n += folding(t, saying(text, rounds).buf.Bytes(), Defaults()).exact(t)
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
		if got := slices.Contains(quotes(t, other), text); got != (name == "as it is") {
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
		g := folding(t, saying(text, 1).buf.Bytes(), Defaults())
		g.exact(t)
		g.check(t, g.compact(t))
	})
}
