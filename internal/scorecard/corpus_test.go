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
	"ccd/internal/mark"
	"ccd/internal/transcript"
)

// corpus holds real transcripts, beside the checkout; they are no part of it.
const corpus = "../../../shared/corpus"

// missing names a file that gets every fact of the real sessions that a companion does not show. It holds content of
// transcripts, so it belongs outside of the tree.
var missing = flag.String("missing", "", "write what companions of real sessions do not show to `FILE`")

// sized is a session's companion of so many chars (0: the default), and what it was made from.
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
	for r := range transcript.NewDecoder(agent, transcript.Main).Records(transcript.Segment{Data: data, Rest: true}) {
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

// TestMissingFacts lists what is not shown of the real sessions, for whoever mends the compactor.
func TestMissingFacts(t *testing.T) {
	if *missing == "" {
		t.Skip("no -missing FILE")
	}
	var out strings.Builder
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
			for _, chars := range []int{0, 12000, 6000} {
				if s := companionOf(t, agent, data, chars); s.facts.Chars() > 40000 {
					report(&out, filepath.Base(name), chars, s)
				}
			}
		}
	}
	if err := os.WriteFile(*missing, []byte(out.String()), 0o600); err != nil {
		t.Fatal(err)
	}
}

func report(out *strings.Builder, name string, chars int, s sized) {
	g := s.facts.Grade(s.text, s.kept)
	fmt.Fprintf(out, "\n=== %s at %d: mean %.3f, strong %.3f, %d chars of text, lost %d\n", name, chars, g.Mean, g.Strong, g.Chars, g.All.Lost)
	p, all := newPage(s.text), s.facts.all()
	visible := p.visible(all)
	kept := held(all, visible, p.ids, s.kept)
	for _, class := range append(Classes(), Traces()...) {
		size := 0
		for _, one := range all[class] {
			size += len(one.text) + len(one.tail)
		}
		n, ok := g.Classes[class]
		if !ok {
			n, ok = g.Traces[class]
		}
		if ok {
			fmt.Fprintf(out, "%-12s %4d facts, %6d chars, %.3f visible, strong %d of %d\n", class, n.Facts, size, n.Share(), n.StrongSeen, n.Strong)
		}
		for _, one := range all[class] {
			if n := judge(one, visible[one], kept); n.Visible == 0 {
				fmt.Fprintf(out, "    lost=%d strong=%v %q %q %q %s\n", n.Lost, one.strong, one.text, one.tail, one.status, strings.Join(one.forms, " | "))
			}
		}
	}
}
