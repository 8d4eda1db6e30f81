package main

import (
	"fmt"
	"iter"
	"strings"
	"time"
	"unicode/utf8"

	"ccd/archive"
	"ccd/cmd/ccd/internal/hook"
	"ccd/compactor"
	"ccd/compactor/sidecar"
	"ccd/internal/scorecard"
	"ccd/internal/transcript"
)

// scored is a transcript that is scored: its bytes, and how an original comes back.
type scored struct {
	session transcript.Session
	options compactor.Options
	size    int64 // bytes
	span    func(transcript.Span) ([]byte, error)
	raw     func(transcript.Pointer) iter.Seq2[archive.Piece, error] // an original's bytes, checked
}

// stretch is a part of a transcript, in bytes, and the summary that the agent wrote of it.
type stretch struct {
	from, to int64
	end      int64 // of the record of the summary
	record   int   // of the summary, 0 where there is none
	summary  string
}

// card measures the transcript: its default companion, then its stretches, each at its size.
func (s *scored) card(size int) (*scorecard.Card, error) {
	c := &scorecard.Card{Agent: s.session.Agent, Session: s.session.ID}
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
		err = s.measure(c, stretch{to: s.size}, size)
	}
	return c, err
}

// companion measures the default companion and finds the stretches that the agent summarized.
func (s *scored) companion(c *scorecard.Card) (stretches []stretch, err error) {
	facts, fold := scorecard.New(), compactor.New(s.options, s.session)
	from := int64(0)
	for r, err := range s.records(0, s.size) {
		if err != nil {
			return nil, err
		}
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

func (s *scored) render(made *compactor.Compaction) sidecar.Document {
	return sidecar.Render(sidecar.Front{Header: made.Header, Host: s.options.Host, Agent: s.session.Agent, Session: s.session.ID}, made.Sections)
}

// leastSummary is how long a summary is that others are held against, in chars.
const leastSummary = 1000

// measure adds a stretch to the card. One with a summary of a few words, or one that hardly shortens it, tells nothing
// and is passed over.
func (s *scored) measure(c *scorecard.Card, p stretch, size int) error {
	facts := scorecard.New()
	folds := map[string]*compactor.Compactor{scorecard.CCD: s.sized(size), scorecard.Half: s.sized(size / 2)}
	for r, err := range s.records(p.from, p.to) {
		if err != nil {
			return err
		}
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

// injection is what the hook adds to the agent's context after the compaction whose summary ends there. Where the agent
// never compacted, it is as if it did at the end, with a summary that says nothing.
func (s *scored) injection(p stretch) (string, scorecard.Restore, error) {
	fold := compactor.New(s.options, s.session)
	to := p.end
	if p.record == 0 {
		to = s.size
	}
	for r, err := range s.records(0, to) {
		if err != nil {
			return "", nil, err
		}
		fold.Add(r)
	}
	text, made, err := hook.Hooks{}.AfterCompaction(s.session, fold, s.span)
	if err != nil {
		return "", nil, fmt.Errorf("answer hook for session %s: %w", s.session.ID, err)
	}
	return text, s.restore(made, 0), nil
}

// sized is a fold whose text has at most that many chars, all of them its own.
func (s *scored) sized(chars int) *compactor.Compactor {
	o := s.options
	o.MaxTokens, o.LeadChars = (chars*4+2)/3, 0
	return compactor.New(o, s.session)
}

// compaction makes the text of a fold whose records begin at from.
func (s *scored) compaction(fold *compactor.Compactor, from int64) (*compactor.Compaction, error) {
	c, err := fold.Compaction(func(span transcript.Span) ([]byte, error) {
		return s.span(transcript.Span{Off: span.Off + from, Len: span.Len})
	})
	if err != nil {
		return nil, fmt.Errorf("compact session %s: %w", s.session.ID, err)
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
