package scorecard

import (
	"bytes"
	"flag"
	"fmt"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"ccd/compactor"
	"ccd/internal/agent/registry"
	"ccd/internal/mark"
	"ccd/internal/transcript"
)

// corpus is a directory of real transcripts beside the checkout, not part of it.
const corpus = "../../../shared/corpus"

// missing names a file to which the test writes every fact of the real sessions that a companion does not show. It
// contains text of transcripts, so it must be outside of the repository.
var missing = flag.String("missing", "", "write what companions of real sessions do not show to `FILE`")

// sized is a session's companion of so many chars (0: the default), and its source.
type sized struct {
	facts *Facts
	text  string
	kept  Restore
}

func companionOf(t *testing.T, agent string, data []byte, chars int) sized {
	t.Helper()
	o := compactor.Defaults()
	if chars > 0 {
		o.MaxTokens, o.LeadChars = (chars*4+2)/3, 0
	}
	fold := compactor.New(o, transcript.Session{Key: transcript.Key{Agent: agent, ID: "s"}})
	s := sized{facts: New()}
	for r := range (registry.Table{}).NewDecoder(agent, transcript.Main).Records(transcript.Segment{Data: data, Rest: true}) {
		fold.Add(r)
		s.facts.Add(r)
	}
	made, err := fold.Compaction(func(s transcript.Span) ([]byte, error) { return data[s.Off:s.End()], nil })
	if err != nil {
		t.Fatal(err)
	}
	for _, part := range made.Sections {
		s.text += "\n## " + part.Name + "\n" + part.Body
	}
	s.kept = func(id mark.ID) iter.Seq2[[]byte, error] {
		return func(yield func([]byte, error) bool) {
			i := slices.IndexFunc(made.Pointers, func(p transcript.Pointer) bool { return p.Hash.ID() == id })
			if i < 0 {
				yield(nil, fmt.Errorf("restore %s: no pointer", id))
				return
			}
			for _, part := range made.Pointers[i].Parts {
				b := data[part.Span.Off:part.Span.End()]
				if made.Pointers[i].Shape != transcript.Lines {
					b = transcript.Original(part.Kind, b)
				}
				for _, l := range bytes.Split(b, []byte("\n")) {
					if made.Pointers[i].Shape == transcript.Lines && !yield(l, nil) {
						return
					}
				}
				if made.Pointers[i].Shape != transcript.Lines && !yield(b, nil) {
					return
				}
			}
		}
	}
	return s
}

// realSessions yields the real sessions over 40,000 chars.
func realSessions(t *testing.T) iter.Seq2[string, []byte] {
	return func(yield func(string, []byte) bool) {
		for agent, dir := range map[string]string{"claude-code": "claude", "codex": "codex"} {
			files, err := filepath.Glob(filepath.Join(corpus, dir, "*.jsonl"))
			if err != nil || len(files) == 0 {
				t.Skipf("no real transcripts at %s: this test needs them", filepath.Join(corpus, dir))
			}
			for _, name := range files {
				data, err := os.ReadFile(name)
				if err != nil {
					t.Fatal(err)
				}
				if (&log{lines: []string{string(data)}, agent: agent}).facts().Chars() > 40000 && !yield(agent, data) {
					return
				}
			}
		}
	}
}

// The controls also pass on real sessions, except for facts that two sessions share.
func TestControlsOnRealSessions(t *testing.T) {
	other := ""
	for agent, data := range realSessions(t) {
		l := &log{lines: []string{string(data)}, agent: agent}
		f, plain := l.facts(), l.plain()
		var named []string
		for _, class := range []Class{Numbers, Identifiers, URLs, Hashes} {
			for _, one := range f.all()[class] {
				named = append(named, one.text)
			}
		}
		for name, c := range map[string]struct {
			text        string
			least, most float64
		}{
			"nothing": {"", 0, 0}, "all": {plain, 0.95, 1}, "names": {strings.Join(named, ", "), 0, 0.05}, "shuffled": {shuffled(plain), 0, 0.15},
			"another": {other, 0, 0.05},
		} {
			g := grade(t, f, c.text, nil)
			if g.Mean < c.least || g.Mean > c.most {
				t.Errorf("%s: mean %.3f, want %.2f to %.2f: %+v", name, g.Mean, c.least, c.most, g.Classes)
			}
		}
		other = plain
	}
}

// TestMissingFacts lists the facts of the real sessions that companions do not show, for work on the compactor.
func TestMissingFacts(t *testing.T) {
	if *missing == "" {
		t.Skip("no -missing FILE")
	}
	var out strings.Builder
	for agent, data := range realSessions(t) {
		for _, chars := range []int{0, 12000, 6000} {
			report(&out, agent, chars, companionOf(t, agent, data, chars))
		}
	}
	if err := os.WriteFile(*missing, []byte(out.String()), 0o600); err != nil {
		t.Fatal(err)
	}
}

func report(out *strings.Builder, name string, chars int, s sized) {
	g := s.facts.Grade(s.text, s.kept)
	fmt.Fprintf(out, "\n=== %s at %d: mean %.3f, %d chars of text, lost %d\n", name, chars, g.Mean, g.Chars, g.All.Lost)
	p, all := newPage(s.text), s.facts.all()
	for _, class := range append(Classes(), Traces()...) {
		if n := g.Count(class); n.Facts > 0 {
			fmt.Fprintf(out, "%-12s %4d facts, %.3f visible\n", class, n.Facts, n.Share())
		}
		for _, one := range all[class] {
			if !p.shows(class, one) {
				fmt.Fprintf(out, "    %.2f %q %q %q %q %s\n", one.weight, one.text, one.tail, one.status, one.spots, strings.Join(one.forms, " | "))
			}
		}
	}
}
