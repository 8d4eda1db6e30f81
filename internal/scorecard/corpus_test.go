package scorecard

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"
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
	s.kept = func(id mark.ID) ([][]byte, error) {
		for _, p := range made.Pointers {
			if p.Hash.ID() != id {
				continue
			}
			var parts [][]byte
			for _, part := range p.Parts {
				b := data[part.Span.Off:part.Span.End()]
				if p.Shape == transcript.Lines {
					return bytes.Split(b, []byte("\n")), nil
				}
				parts = append(parts, transcript.Original(part.Kind, b))
			}
			return parts, nil
		}
		return nil, fmt.Errorf("restore %s: no pointer", id)
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
	p, kept := newPage(s.text), restored(mark.IDs(s.text), s.kept)
	all := s.facts.all()
	for _, class := range Classes() {
		size := 0
		for _, one := range all[class] {
			size += len(one.text) + len(one.tail)
		}
		if n, ok := g.Classes[class]; ok {
			fmt.Fprintf(out, "%-12s %4d facts, %6d chars, %.3f visible, strong %d of %d\n", class, n.Facts, size, n.Share(), n.StrongSeen, n.Strong)
		}
		for _, one := range all[class] {
			if n := judge(&p, class, one, kept); n.Visible == 0 {
				fmt.Fprintf(out, "    lost=%d strong=%v %q %q %q %s\n", n.Lost, one.strong, one.text, one.tail, one.status, strings.Join(one.forms, " | "))
			}
		}
	}
}
