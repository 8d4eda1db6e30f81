package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"iter"
	"os"

	"ccd/archive"
	"ccd/compactor"
	"ccd/internal/agent/registry"
	"ccd/internal/mark"
	"ccd/internal/scorecard"
	"ccd/internal/transcript"
	"ccd/watcher"
)

// scoreArchived scores a session from the archive: what an ID stands for is restored from there.
func (l *library) scoreArchived(ctx context.Context, e entry, size int) (*scorecard.Card, error) {
	g, err := e.generation(0)
	if err != nil {
		return nil, err
	}
	reader := l.archive.Reader(e.Key, g.N)
	s := scored{
		session: e.Session.Session, options: l.options(e), size: g.Tip.Offset,
		span: func(s transcript.Span) ([]byte, error) { return reader.Span(ctx, s) },
		raw: func(p transcript.Pointer) iter.Seq2[archive.Piece, error] {
			return l.archive.Raw(ctx, archive.Found{Pointer: p, Key: e.Key, Generation: g.N})
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
		span: func(s transcript.Span) ([]byte, error) {
			b := make([]byte, s.Len)
			_, err := f.ReadAt(b, s.Off)
			return b, err
		},
	}
	if s.size, err = f.Seek(0, io.SeekEnd); err != nil {
		return nil, fmt.Errorf("read transcript: %w", err)
	}
	s.raw = s.checked
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

// chunk is how many bytes are read at once.
const chunk = 4 << 20

// records decodes the lines from..to as a transcript of their own: the first byte has offset 0, the first record
// number 1.
func (s *scored) records(from, to int64) iter.Seq2[*transcript.Record, error] {
	return func(yield func(*transcript.Record, error) bool) {
		d := registry.NewDecoder(s.session.Agent, s.session.Class)
		for at := from; at < to; at += chunk {
			n := min(chunk, to-at)
			data, err := s.span(transcript.Span{Off: at, Len: n})
			if err != nil {
				yield(nil, fmt.Errorf("read session %s: %w", s.session.ID, err))
				return
			}
			seg := transcript.Segment{Start: transcript.Cursor{Offset: at - from}, Data: data, Rest: at+n == to}
			for r := range d.Records(seg) {
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
		parts := make([]transcript.Part, 0, len(p.Parts))
		for _, part := range p.Parts {
			part.Span.Off += from
			parts = append(parts, part)
		}
		p.Parts = parts
		pointers[p.Hash.ID()] = p
	}
	return func(id mark.ID) iter.Seq2[[]byte, error] {
		return func(yield func([]byte, error) bool) {
			p, ok := pointers[id]
			if !ok {
				yield(nil, fmt.Errorf("restore %s: it has no pointer", id))
				return
			}
			for part, err := range parts(p.Shape, s.raw(p)) {
				if err == nil && p.Shape != transcript.Lines {
					part.Data = transcript.Original(part.Part.Kind, part.Data)
				}
				if !yield(part.Data, err) {
					return
				}
			}
		}
	}
}

// parts joins pieces to whole parts; of a range, to its lines.
func parts(shape transcript.Shape, pieces iter.Seq2[archive.Piece, error]) iter.Seq2[archive.Piece, error] {
	return func(yield func(archive.Piece, error) bool) {
		var held []byte // of a part that goes on
		for piece, err := range pieces {
			if err != nil {
				yield(piece, err)
				return
			}
			data := append(held, piece.Data...)
			for shape == transcript.Lines {
				line, rest, ok := bytes.Cut(data, []byte("\n"))
				if !ok {
					break
				}
				if piece.Data, data = line, rest; !yield(piece, nil) {
					return
				}
			}
			if held = data; piece.More {
				continue
			}
			if piece.Data, held = data, nil; !yield(piece, nil) {
				return
			}
		}
	}
}

// checked reads an original where it lies: all of it is hashed first, and none is given where it is not what the
// pointer names.
func (s *scored) checked(p transcript.Pointer) iter.Seq2[archive.Piece, error] {
	return func(yield func(archive.Piece, error) bool) {
		var ids []mark.ID
		var last mark.Hash
		for part, err := range parts(p.Shape, s.pieces(p)) {
			if err != nil {
				yield(part, err)
				return
			}
			last = mark.Sum(part.Data)
			ids = append(ids, last.ID())
		}
		if p.Shape != transcript.Single {
			last = mark.Combine(ids)
		}
		if last != p.Hash {
			yield(archive.Piece{}, fmt.Errorf("restore %s: the bytes are not what it names", p.Hash.ID()))
			return
		}
		for piece, err := range s.pieces(p) {
			if !yield(piece, err) {
				return
			}
		}
	}
}

// pieces reads the parts of an original, a chunk at a time.
func (s *scored) pieces(p transcript.Pointer) iter.Seq2[archive.Piece, error] {
	return func(yield func(archive.Piece, error) bool) {
		for i, part := range p.Parts {
			for at := part.Span.Off; at <= part.Span.End(); at += chunk {
				n := min(chunk, part.Span.End()-at)
				b, err := s.span(transcript.Span{Off: at, Len: n})
				more := at+n < part.Span.End()
				if !yield(archive.Piece{Index: i, Part: part, Data: b, More: more}, err) || err != nil {
					return
				}
				if !more {
					break
				}
			}
		}
	}
}
