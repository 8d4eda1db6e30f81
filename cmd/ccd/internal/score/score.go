// Package score measures how many of a transcript's key facts are kept by its companion, by texts of other sizes, by the
// agent's own summary and by a hook's injection.
//
// It decides which texts are compared and at which size. Package internal/scorecard defines facts and grades texts. score
// keeps the transcript in memory and knows nothing of the archive, files and printing.
package score

import (
	"bytes"
	"fmt"
	"iter"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"ccd/cmd/ccd/internal/hook"
	"ccd/compactor"
	"ccd/compactor/sidecar"
	"ccd/internal/agent/registry"
	"ccd/internal/mark"
	"ccd/internal/scorecard"
	"ccd/internal/transcript"
)

// Transcript is the transcript to measure.
type Transcript struct {
	Session transcript.Session
	Agents  registry.Table
	Options compactor.Options
	Data    []byte
}

// stretch is a part of a transcript, in bytes, with the summary that the agent wrote of it.
type stretch struct {
	from, to int64
	end      int64 // offset of the end of the summary's record
	record   int   // number of the summary's record, 0 if there is none
	summary  string
}

// Card measures the transcript: its default companion, then each stretch that the agent summarized at the size of that
// summary or, if there is none, the whole transcript at size.
func (s *Transcript) Card(size int) (*scorecard.Card, error) {
	c := &scorecard.Card{Agent: s.Session.Agent, Session: s.Session.ID}
	stretches, err := s.companion(c)
	if err != nil {
		return nil, err
	}
	for _, p := range stretches {
		if err := s.measure(c, p, utf8.RuneCountInString(p.summary)); err != nil {
			return nil, err
		}
	}
	if len(c.Stretches) == 0 {
		err = s.measure(c, stretch{to: s.size()}, size)
	}
	return c, err
}

// companion measures the default companion and finds the stretches that the agent summarized.
func (s *Transcript) companion(c *scorecard.Card) (stretches []stretch, err error) {
	facts, fold := scorecard.New(), compactor.New(s.Options, s.Session)
	from := int64(0)
	for r := range s.records(0, s.size()) {
		facts.Add(r)
		start := time.Now()
		fold.Add(r)
		c.Took += time.Since(start)
		if text := scorecard.Summary(r); text != "" {
			stretches = append(stretches, stretch{from, r.Span.Off, r.Span.End() + 1, r.N, text})
			from = r.Span.End() + 1
		}
	}
	start := time.Now()
	made, err := s.compaction(fold, 0)
	if err != nil {
		return nil, err
	}
	c.Took += time.Since(start)
	doc := s.render(made)
	c.Companion = facts.Grade(string(doc.Text), s.restore(made, 0))
	c.Original, c.Saved, c.Chars, c.ToolHeavy = made.Header.Tokens.Original, doc.Saved, facts.Chars(), facts.ToolHeavy()
	return stretches, nil
}

func (s *Transcript) render(made *compactor.Compaction) sidecar.Document {
	return sidecar.Render(sidecar.Front{Header: made.Header, Host: s.Options.Host, Agent: s.Session.Agent, Session: s.Session.ID}, made.Sections)
}

// leastSummary is the shortest summary worth comparing with, in chars.
const leastSummary = 1000

// measure adds a stretch to the card. It skips a stretch whose summary has only a few words or is hardly shorter.
func (s *Transcript) measure(c *scorecard.Card, p stretch, size int) error {
	facts := scorecard.New()
	folds := map[string]*compactor.Compactor{scorecard.CCD: s.sized(size), scorecard.Half: s.sized(size / 2)}
	for r := range s.records(p.from, p.to) {
		facts.Add(r)
		for _, fold := range folds {
			fold.Add(r)
		}
	}
	if p.record > 0 && (size < leastSummary || facts.Chars() < 3*int64(size)) {
		return nil
	}
	told, restore, err := s.injection(p)
	if err != nil {
		return err
	}
	out := scorecard.Stretch{Summary: p.record, Size: size, Texts: map[string]scorecard.Grade{scorecard.Injection: facts.Grade(told, restore)}}
	if p.record > 0 {
		out.Texts[scorecard.Agent] = facts.Grade(p.summary, nil)
		out.Texts[scorecard.Both] = facts.Grade(p.summary+"\n"+told, restore)
	}
	for name, fold := range folds {
		made, err := s.compaction(fold, p.from)
		if err != nil {
			return err
		}
		out.Texts[name] = facts.Grade(sections(made), s.restore(made, p.from))
	}
	c.Stretches = append(c.Stretches, out)
	return nil
}

// injection returns what the hook adds to the agent's context after the compaction whose summary ends the stretch. If the
// agent never compacted, it assumes a compaction at the end with an empty summary.
func (s *Transcript) injection(p stretch) (string, scorecard.Restore, error) {
	fold := compactor.New(s.Options, s.Session)
	to := p.end
	if p.record == 0 {
		to = s.size()
	}
	for r := range s.records(0, to) {
		fold.Add(r)
	}
	text, made, err := hook.Hooks{}.AfterCompaction(s.Session, fold, s.span)
	if err != nil {
		return "", nil, fmt.Errorf("answer hook for session %s: %w", s.Session.ID, err)
	}
	return text, s.restore(made, 0), nil
}

// sized returns a fold whose text has at most that many chars, with none reserved for a lead.
func (s *Transcript) sized(chars int) *compactor.Compactor {
	o := s.Options
	o.MaxTokens, o.LeadChars = (chars*4+2)/3, 0
	return compactor.New(o, s.Session)
}

// compaction makes the text of a fold whose records begin at offset from.
func (s *Transcript) compaction(fold *compactor.Compactor, from int64) (*compactor.Compaction, error) {
	c, err := fold.Compaction(func(span transcript.Span) ([]byte, error) {
		return s.span(transcript.Span{Off: span.Off + from, Len: span.Len})
	})
	if err != nil {
		return nil, fmt.Errorf("compact session %s: %w", s.Session.ID, err)
	}
	return c, nil
}

func sections(c *compactor.Compaction) string {
	var b strings.Builder
	for _, s := range c.Sections {
		b.WriteString("\n## " + s.Name + "\n" + s.Body)
	}
	return b.String()
}

func (s *Transcript) size() int64 { return int64(len(s.Data)) }

func (s *Transcript) span(at transcript.Span) ([]byte, error) {
	if at.Off < 0 || at.End() > s.size() {
		return nil, fmt.Errorf("read session %s: no bytes at %d", s.Session.ID, at.End())
	}
	return s.Data[at.Off:at.End()], nil
}

// records decodes the lines from..to as a separate transcript: the first byte has offset 0 and the first record number 1.
func (s *Transcript) records(from, to int64) iter.Seq[*transcript.Record] {
	d := s.Agents.NewDecoder(s.Session.Agent, s.Session.Class)
	return d.Records(transcript.Segment{Data: s.Data[from:to], Rest: true})
}

// restore returns the originals of a compaction's IDs as `ccd restore` would, from its pointers.
func (s *Transcript) restore(c *compactor.Compaction, from int64) scorecard.Restore {
	pointers := map[mark.ID]transcript.Pointer{}
	for _, p := range c.Pointers {
		p.Parts = slices.Clone(p.Parts)
		for i := range p.Parts {
			p.Parts[i].Span.Off += from
		}
		pointers[p.Hash.ID()] = p
	}
	return func(id mark.ID) iter.Seq2[[]byte, error] {
		return func(yield func([]byte, error) bool) {
			p, ok := pointers[id]
			if !ok {
				yield(nil, fmt.Errorf("restore %s: no pointer", id))
				return
			}
			parts, err := s.Original(p)
			if err != nil {
				yield(nil, err)
				return
			}
			for i, part := range parts {
				if p.Shape != transcript.Lines {
					part = transcript.Original(p.Parts[i].Kind, part)
				}
				if !yield(part, nil) {
					return
				}
			}
		}
	}
}

// Original returns the raw parts of an original; for a range, its lines. It fails if their hash does not match the pointer.
func (s *Transcript) Original(p transcript.Pointer) (parts [][]byte, err error) {
	var ids []mark.ID
	var sum mark.Hash
	for _, part := range p.Parts {
		data, err := s.span(part.Span)
		if err != nil {
			return nil, err
		}
		if p.Shape == transcript.Lines {
			parts = append(parts, bytes.Split(data, []byte("\n"))...)
		} else {
			parts = append(parts, data)
		}
	}
	for _, part := range parts {
		sum = mark.Sum(part)
		ids = append(ids, sum.ID())
	}
	if p.Shape != transcript.Single {
		sum = mark.Combine(ids)
	}
	if sum != p.Hash {
		return nil, fmt.Errorf("restore %s: hash mismatch", p.Hash.ID())
	}
	return parts, nil
}
