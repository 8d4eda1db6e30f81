package compactor

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"ccd/compactor/lexicon"
	"ccd/compactor/unit"
	"ccd/internal/mark"
	"ccd/internal/testkit"
	"ccd/internal/transcript"
)

// marker is a marker of a companion, with the line that it stands in.
type marker struct {
	id         mark.ID
	text, line string
}

var ours = regexp.MustCompile(`\[ccd ([0-9a-hjkmnp-tv-z]{12})[ \]]`)

// markersOf gives the markers of a companion. One goes on to the next one of its line, or to the line's last bracket.
func markersOf(body string) []marker {
	var all []marker
	for line := range strings.Lines(body) {
		if t := strings.TrimLeft(line, " "); strings.HasPrefix(t, "> ") || strings.HasPrefix(t, ">+ ") {
			continue
		}
		at := ours.FindAllStringSubmatchIndex(line, -1)
		for n, m := range at {
			end := len(line)
			if n+1 < len(at) {
				end = at[n+1][0]
			}
			text := line[m[0]:end]
			text = text[:strings.LastIndexByte(text, ']')+1]
			all = append(all, marker{id: mark.ID(line[m[2]:m[3]]), text: text, line: strings.TrimSuffix(line, "\n")})
		}
	}
	return all
}

// original is what restore gives for a pointer: lines as they stand, items as the agent saw them.
func (f *folded) original(p transcript.Pointer) string {
	parts := make([]string, 0, len(p.Parts))
	for _, part := range p.Parts {
		raw := f.data[part.Span.Off:part.Span.End()]
		if p.Shape != transcript.Lines {
			raw = transcript.Original(part.Kind, raw)
		}
		parts = append(parts, string(raw))
	}
	return strings.Join(parts, "\n")
}

// tooLong gives the markers that are longer than what they replaced, and the lines for one message that are
// longer than the line would be that holds it whole.
func (f *folded) tooLong(c *Compaction, body string) []string {
	pointers := map[mark.ID]transcript.Pointer{}
	for _, p := range c.Pointers {
		pointers[p.Hash.ID()] = p
	}
	var long []string
	for _, m := range markersOf(body) {
		p := pointers[m.id]
		whole := f.original(p)
		if p.Note == "image" { // whose bytes are what the agent was given
			whole = string(f.data[p.Parts[0].Span.Off:p.Parts[0].Span.End()])
		}
		if lexicon.Chars(m.text) > lexicon.Chars(whole) {
			long = append(long, fmt.Sprintf("%s for %d chars", m.text, lexicon.Chars(whole)))
		}
		if p.Note == "text" && m.line == fmt.Sprintf("- #%d %s", p.Record, m.text) {
			if line := fmt.Sprintf("- #%d summary: %s", p.Record, mark.Inline(whole, 0)); lexicon.Chars(m.line) > lexicon.Chars(line) {
				long = append(long, fmt.Sprintf("%s for %q", m.line, line))
			}
		}
	}
	return long
}

// smallest are sessions whose items are as short as can be, of an agent and as plain lists, some with one record in
// their last range.
func smallest() []sample {
	var claude strings.Builder
	for i := range 400 {
		fmt.Fprintf(&claude, `{"type":"user","message":{"role":"user","content":"%d"}}`+"\n", i)
		fmt.Fprintf(&claude, `{"type":"assistant","message":{"role":"assistant","content":[{"type":"text","text":"ok %d"}]}}`+"\n", i)
	}
	all := []sample{{"short", "claude-code", []byte(claude.String())}}
	for _, n := range []int{65, 449, 513, 808} {
		var list strings.Builder
		for i := range n {
			fmt.Fprintf(&list, `{"role":"user","content":"%d"}`+"\n", i%10)
		}
		all = append(all, sample{fmt.Sprintf("list of %d", n), transcript.Messages, []byte(list.String())})
	}
	return all
}

// TestMarkersAreShorterThanWhatTheyReplace restores each marker of many companions by its pointer and compares lengths;
// and no companion is longer than its items would stand whole.
func TestMarkersAreShorterThanWhatTheyReplace(t *testing.T) {
	samples := append(smallest(), sample{"day", "claude-code", day(30).buf.Bytes()})
	samples = append(append(samples, invented(t, 1, 150000)...), realSessions(t)...)
	seen := 0
	for _, s := range samples {
		for _, tokens := range testkit.Sample(t, []int{72000, 16000, 4000}, 1) {
			o := tokensOf(tokens)
			f := s.fold(t, o)
			c := f.compact(t)
			body := c.all()
			seen += len(markersOf(body))
			for _, long := range f.tooLong(c, body) {
				t.Errorf("%s, %d tokens: %s", s.name, tokens, long)
			}
			if n, most := lexicon.Chars(body), lexicon.Chars(unit.Whole(unit.NewSource(f.Fold, f.o, &unit.Memory{}, f.text())))+200; n > most {
				t.Errorf("%s, %d tokens: %d chars, the items stand in %d", s.name, tokens, n, most)
			}
		}
	}
	if seen < testkit.Cases(t, 20, 250) { // the sessions of the repository alone have more
		t.Errorf("%d markers were looked at", seen)
	}
}

// TestLongMarkersAreSeen is the control.
func TestLongMarkersAreSeen(t *testing.T) {
	f := folding(t, day(30).buf.Bytes(), tokensOf(16000))
	c := f.compact(t)
	ms := markersOf(c.all())
	if len(ms) < 10 || len(f.tooLong(c, c.all())) > 0 {
		t.Fatalf("%d markers, too long: %q", len(ms), f.tooLong(c, c.all()))
	}
	m := ms[len(ms)/2]
	grown := strings.TrimSuffix(m.text, "]") + strings.Repeat(" and more", 1<<16) + "]"
	if got := f.tooLong(c, strings.Replace(c.all(), m.text, grown, 1)); len(got) == 0 {
		t.Error("a marker that is longer than what it replaced goes unnoticed")
	}
}
