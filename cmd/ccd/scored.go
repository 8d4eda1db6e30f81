package main

import (
	"bytes"
	"context"
	"fmt"
	"iter"
	"os"
	"strings"
	"time"
	"unicode/utf8"

	"ccd/archive"
	"ccd/compactor"
	"ccd/internal/mark"
	"ccd/internal/scorecard"
	"ccd/internal/sidecar"
	"ccd/internal/transcript"
	"ccd/watcher"
)

// scored is a transcript that is scored: its bytes, and how an original comes back.
type scored struct {
	session  transcript.Session
	options  compactor.Options
	segments func() iter.Seq2[transcript.Segment, error]
	span     func(transcript.Span) ([]byte, error)
	parts    func(transcript.Pointer) ([][]byte, error)
}

// stretch is a part of a transcript, in bytes, and the summary that the agent wrote of it.
type stretch struct {
	from, to int64
	record   int // of the summary
	summary  string
}

// scoreArchived scores a session from the archive: what an ID stands for is restored from there.
func (l *library) scoreArchived(ctx context.Context, e entry, size int) (*scorecard.Card, error) {
	g, err := e.generation(0)
	if err != nil {
		return nil, err
	}
	reader := l.archive.Reader(e.Key, g.N)
	s := scored{
		session: e.Session.Session, options: l.options(e),
		segments: func() iter.Seq2[transcript.Segment, error] { return reader.Segments(ctx) },
		span:     func(s transcript.Span) ([]byte, error) { return reader.Span(ctx, s) },
		parts: func(p transcript.Pointer) (all [][]byte, err error) {
			var part []byte
			for piece, err := range l.archive.Raw(ctx, archive.Found{Pointer: p, Key: e.Key, Generation: g.N}) {
				if err != nil {
					return nil, err
				}
				if part = append(part, piece.Data...); !piece.More {
					all, part = append(all, part), nil
				}
			}
			return all, nil
		},
	}
	return s.card(size)
}

// scoreFile scores a transcript where it lies.
func (l *library) scoreFile(ctx context.Context, session transcript.Session, size int) (*scorecard.Card, error) {
	f, done, err := unpacked(ctx, session)
	if err != nil {
		return nil, err
	}
	defer done()
	s := scored{
		session: session, options: compactionOptions(l.config),
		segments: func() iter.Seq2[transcript.Segment, error] {
			return watcher.Tail(ctx, session, transcript.Cursor{}, watcher.TailOptions{Rest: true, Torn: true})
		},
		span: func(s transcript.Span) ([]byte, error) {
			b := make([]byte, s.Len)
			_, err := f.ReadAt(b, s.Off)
			return b, err
		},
	}
	s.parts = func(p transcript.Pointer) (all [][]byte, err error) {
		for _, part := range p.Parts {
			b, err := s.span(part.Span)
			if err != nil {
				return nil, err
			}
			all = append(all, b)
		}
		return all, nil
	}
	return s.card(size)
}

// unpacked opens a transcript to be read at any place; a compressed one through a temporary file.
func unpacked(ctx context.Context, s transcript.Session) (f *os.File, done func(), err error) {
	if !s.Packed {
		if f, err = os.Open(s.Path); err != nil {
			return nil, nil, fmt.Errorf("read transcript: %w", err)
		}
		return f, func() { f.Close() }, nil
	}
	if f, err = os.CreateTemp("", "ccd-*.jsonl"); err != nil {
		return nil, nil, fmt.Errorf("unpack transcript: %w", err)
	}
	done = func() {
		f.Close()
		os.Remove(f.Name())
	}
	for seg, err := range watcher.Tail(ctx, s, transcript.Cursor{}, watcher.TailOptions{Rest: true, Torn: true}) {
		if err == nil {
			_, err = f.Write(seg.Data)
		}
		if err != nil {
			done()
			return nil, nil, fmt.Errorf("unpack transcript: %w", err)
		}
	}
	return f, done, nil
}

// card measures the transcript: its default companion, then the stretches at their sizes.
func (s *scored) card(size int) (*scorecard.Card, error) {
	c := &scorecard.Card{Agent: s.session.Agent, Session: s.session.ID}
	facts, fold := scorecard.New(), compactor.New(s.options, s.session)
	var took time.Duration
	var parts []stretch
	last := stretch{}
	for r, err := range s.records(0, 1<<62) {
		if err != nil {
			return nil, err
		}
		facts.Add(r)
		start := time.Now()
		fold.Add(r)
		took += time.Since(start)
		if text := scorecard.Summary(r); text != "" {
			parts = append(parts, stretch{last.from, r.Span.Off, r.N, text})
			last.from = r.Span.End() + 1
		}
		last.to = r.Span.End() + 1
	}
	start := time.Now()
	made, err := fold.Compaction(s.span)
	if err != nil {
		return nil, fmt.Errorf("compact session %s: %w", s.session.ID, err)
	}
	c.Took = took + time.Since(start)
	doc := sidecar.Render(sidecar.Front{Header: made.Header, Host: s.options.Host}, made.Sections)
	c.Companion = facts.Grade(string(doc.Text), s.restore(made, 0))
	c.Original, c.Saved, c.Chars, c.ToolHeavy = made.Header.Tokens.Original, doc.Saved, facts.Chars(), facts.ToolHeavy()
	for _, p := range parts {
		if err := s.measure(c, p, utf8.RuneCountInString(p.summary)); err != nil {
			return nil, err
		}
	}
	if len(c.Stretches) == 0 {
		return c, s.measure(c, stretch{to: last.to}, size)
	}
	return c, nil
}

// measure adds a stretch to the card. One that its summary hardly shortens is passed over: it tells nothing.
func (s *scored) measure(c *scorecard.Card, p stretch, size int) error {
	facts, plain := scorecard.New(), scorecard.NewBaselines()
	whole, half := s.sized(size), s.sized(size/2)
	for r, err := range s.records(p.from, p.to) {
		if err != nil {
			return err
		}
		facts.Add(r)
		plain.Add(r)
		whole.Add(r)
		half.Add(r)
	}
	if p.record > 0 && facts.Chars() < 3*int64(size) {
		return nil
	}
	out := scorecard.Stretch{Summary: p.record, Size: size, Texts: map[string]scorecard.Grade{
		"tail":      facts.Grade(plain.Tail(size), nil),
		"head_tail": facts.Grade(plain.HeadTail(size), nil),
		"stub":      facts.Grade(plain.Stub(size), nil),
	}}
	if p.record > 0 {
		out.Texts["agent"] = facts.Grade(p.summary, nil)
	}
	for name, fold := range map[string]*compactor.Compactor{"ccd": whole, "half": half} {
		made, err := fold.Compaction(func(span transcript.Span) ([]byte, error) {
			return s.span(transcript.Span{Off: span.Off + p.from, Len: span.Len})
		})
		if err != nil {
			return fmt.Errorf("compact session %s: %w", s.session.ID, err)
		}
		out.Texts[name] = facts.Grade(sections(made), s.restore(made, p.from))
	}
	c.Stretches = append(c.Stretches, out)
	return nil
}

// sized is a fold whose text has at most that many chars, all of them its own.
func (s *scored) sized(chars int) *compactor.Compactor {
	o := s.options
	o.MaxTokens, o.LeadChars = (chars*4+2)/3, 0
	return compactor.New(o, s.session)
}

func sections(c *compactor.Compaction) string {
	var b strings.Builder
	for _, s := range c.Sections {
		b.WriteString("\n## " + s.Name + "\n" + s.Body)
	}
	return b.String()
}

// records decodes the lines between two places as a transcript of their own.
func (s *scored) records(from, to int64) iter.Seq2[*transcript.Record, error] {
	return func(yield func(*transcript.Record, error) bool) {
		d := transcript.NewDecoder(s.session.Agent, s.session.Class)
		for seg, err := range s.segments() {
			if err != nil {
				yield(nil, fmt.Errorf("read session %s: %w", s.session.ID, err))
				return
			}
			begin, end := seg.Start.Offset, seg.Start.Offset+int64(len(seg.Data))
			cut := seg
			cut.Data = seg.Data[min(max(from-begin, 0), int64(len(seg.Data))):max(0, min(int64(len(seg.Data)), to-begin))]
			cut.Start.Offset = max(begin, from) - from
			cut.Rest = seg.Rest || end >= to
			if begin >= to || end <= from && !seg.Rest {
				continue
			}
			for r := range d.Records(cut) {
				if !yield(r, nil) {
					return
				}
			}
		}
	}
}

// restore gives back what the IDs of a compaction stand for, as `ccd restore` would, from what its pointers name.
func (s *scored) restore(c *compactor.Compaction, from int64) scorecard.Restore {
	pointers := map[mark.ID]transcript.Pointer{}
	for _, p := range c.Pointers {
		pointers[p.Hash.ID()] = p
	}
	return func(id mark.ID) ([][]byte, error) {
		p, ok := pointers[id]
		if !ok {
			return nil, fmt.Errorf("restore %s: no pointer", id)
		}
		moved := p
		moved.Parts = append([]transcript.Part{}, p.Parts...)
		for i := range moved.Parts {
			moved.Parts[i].Span.Off += from
		}
		parts, err := s.parts(moved)
		if err != nil {
			return nil, err
		}
		return checked(p, parts)
	}
}

// checked holds the raw parts against the pointer's hash and returns them as the agent saw them, a range line by line.
func checked(p transcript.Pointer, parts [][]byte) ([][]byte, error) {
	if p.Shape == transcript.Lines && len(parts) == 1 {
		parts = bytes.Split(parts[0], []byte("\n"))
	}
	var ids []mark.ID
	for _, b := range parts {
		ids = append(ids, mark.Sum(b).ID())
	}
	if sum := mark.Combine(ids); sum != p.Hash && (len(parts) != 1 || mark.Sum(parts[0]) != p.Hash) {
		return nil, fmt.Errorf("restore %s: the bytes hash to %s", p.Hash.ID(), sum.ID())
	}
	if p.Shape != transcript.Lines {
		for i, b := range parts {
			parts[i] = transcript.Original(p.Parts[i].Kind, b)
		}
	}
	return parts, nil
}
