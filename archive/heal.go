package archive

import (
	"bytes"
	"context"
	"crypto/sha256"
	"io"
	"iter"
	"slices"

	"ccd/internal/transcript"
)

// Repaired is what was done about damage of the archive.
type Repaired struct {
	Found  int            // damaged places
	Filled int            // generations that had lost bytes, or their hash, and have them now
	Bytes  int64          // of them, from a source
	Aside  string         // path of the old file, "" if it is still in use
	Left   []*DamageError // damaged places that are left
}

// Repair reads the whole archive. If something is damaged, it rebuilds the file from what is intact in it, and takes what is lost, also
// since an earlier rebuild, from the sources (see fromSource). The file stays if all that is damaged was lost before, and no source has
// it; a file that lacks only that is not kept beside the new one. progress, if not nil, is called with what is done and the total.
func (a *Archive) Repair(ctx context.Context, sources Sources, progress Progress) (r Repaired, err error) {
	report, err := a.Verify(ctx, progress)
	r.Found, r.Left = len(report.Damage), report.Damage
	if err != nil || r.Found == 0 {
		return r, err
	}
	damaged := slices.ContainsFunc(r.Left, func(d *DamageError) bool { return !d.Missing() })
	if !damaged {
		if found, err := a.healable(ctx, sources); err != nil || !found {
			return r, err
		}
	}
	err = a.rebuild(ctx, &r, sources, damaged, progress)
	return r, err
}

// Sources returns what the caller has of a generation, the best first: its segments from the first one on, each time that they are ranged over.
type Sources func(s transcript.Session, g Generation) []iter.Seq2[transcript.Segment, error]

// healable reports whether a source has a generation of which the archive has lost something.
func (a *Archive) healable(ctx context.Context, sources Sources) (bool, error) {
	all, err := a.Sessions(ctx)
	if err = skipDamage(err); err != nil {
		return false, err
	}
	im := importer{from: a, damaged: a, sources: sources}
	for _, s := range all {
		for _, g := range s.Generations {
			c, err := a.copied(ctx, s.Key, g.N)
			if c.gap && err == nil {
				_, err = im.fromSource(ctx, s, g, c)
			}
			if err = skipDamage(err); err != nil || im.Repaired.Filled > 0 {
				return true, err
			}
		}
	}
	return false, nil
}

// fromSource returns a generation of which something is lost as a source has it: one that has all bytes of the generation, those that are
// left among them, and their hash is that of the generation. If that is lost, what is left must tell; where nothing is, the source of the
// newest generation is believed. Without such a source the generation stays as it is.
func (im *importer) fromSource(ctx context.Context, s Session, g Generation, c copied) (copied, error) {
	known := c.was != nil && !c.was.unknown()
	for _, source := range im.sources(s.Session, g) {
		source, sum := im.damaged.filled(s.Key, source), sha256.New()
		got, equal, err := common(until(source, c.end, sum), c.segments)
		switch {
		case err != nil:
			return c, err
		case equal < 0, got < c.end, known && c.was.matches(sum) != nil, !known && equal == 0 && g.N < len(s.Generations):
			continue
		}
		im.Repaired.Filled++
		im.Repaired.Bytes += c.end - equal
		whole := copied{head: c.head, end: c.end, segments: until(source, c.end, io.Discard)}
		if known {
			whole.was = c.was
		}
		return whole, nil
	}
	return c, ctx.Err()
}

// filled yields segments, from the first one on, in which what was forgotten in a session is replaced.
func (a *Archive) filled(k transcript.Key, source iter.Seq2[transcript.Segment, error]) iter.Seq2[transcript.Segment, error] {
	return func(yield func(transcript.Segment, error) bool) {
		filler := a.Filler(k)
		for seg, err := range source {
			seg.Data = bytes.Clone(seg.Data)
			if filler.Mask(seg.Data); !yield(seg, err) {
				return
			}
		}
	}
}

// until yields the bytes of a source down to an offset, and writes them to sum. It goes on after damage, and ends with any other error.
func until(source iter.Seq2[transcript.Segment, error], end int64, sum io.Writer) iter.Seq2[transcript.Segment, error] {
	return func(yield func(transcript.Segment, error) bool) {
		for seg, err := range source {
			if seg.Start.Offset >= end || skipDamage(err) != nil {
				return
			}
			seg.Data = seg.Data[:min(int64(len(seg.Data)), end-seg.Start.Offset)]
			_, _ = sum.Write(seg.Data) // a hash does not fail
			if !yield(seg, err) {
				return
			}
		}
	}
}

// common compares two runs of segments. It returns how many bytes the first one has, and how many of them are in both, -1 if the
// second one has others. What is damaged in one of them is in none.
func common(first, second iter.Seq2[transcript.Segment, error]) (got, equal int64, err error) {
	next, stop := iter.Pull2(second)
	defer stop()
	var other transcript.Segment
	for seg, err := range first {
		if err := skipDamage(err); err != nil {
			return got, equal, err
		}
		off, data := seg.Start.Offset, seg.Data
		for got += int64(len(data)); len(data) > 0; {
			from := other.Start.Offset
			end, ok := from+int64(len(other.Data)), true
			if end <= off {
				if other, err, ok = next(); !ok {
					break
				}
				if err := skipDamage(err); err != nil {
					return got, equal, err
				}
				continue
			}
			n := min(int64(len(data)), max(0, from-off)) // the second one lacks these
			if n == 0 {
				n = min(int64(len(data)), end-off)
				if !bytes.Equal(data[:n], other.Data[off-from:off-from+n]) {
					return got, -1, nil
				}
				equal += n
			}
			off, data = off+n, data[n:]
		}
	}
	return got, equal, nil
}
