package archive

import (
	"context"
	"iter"
	"slices"

	"ccd/internal/transcript"
)

// mostEarlier is how many earlier generations a story has.
const mostEarlier = 16

// Records yields the records of one generation in order. A record is valid until the next one.
func (a *Archive) Records(ctx context.Context, k transcript.Key, generation int, d *transcript.Decoder) iter.Seq2[*transcript.Record, error] {
	return func(yield func(*transcript.Record, error) bool) {
		for seg, err := range a.Reader(k, generation).Segments(ctx) {
			if err != nil {
				yield(nil, err)
				return
			}
			for r := range d.Records(seg) {
				if !yield(r, nil) {
					return
				}
			}
		}
	}
}

// Story yields the records of a generation, which file yields each time it is used, behind those of earlier generations that
// it lacks: an agent that rewrites its transcript does not undo what was said. The earlier ones are numbered backwards
// from -1, and their spans are Span.Earlier; record 0 is the rewrite, a boundary. What has the UUID, or else the
// bytes, of a later record is not repeated. An earlier generation that cannot be read is left out. A transcript that is one
// JSON value is rewritten at each change, so its story is the generation.
func (a *Archive) Story(ctx context.Context, k transcript.Key, generation int, decoder func() *transcript.Decoder, file iter.Seq2[*transcript.Record, error]) iter.Seq2[*transcript.Record, error] {
	if generation < 2 || k.Unlined() {
		return file
	}
	return func(yield func(*transcript.Record, error) bool) {
		lost, err := a.lost(ctx, k, generation, decoder, file)
		if err != nil {
			yield(nil, err)
			return
		}
		number := 0
		for _, l := range lost {
			number -= len(l.numbers)
		}
		for _, l := range lost {
			first, i := number, 0
			for r, err := range a.Records(ctx, k, generation-l.back, decoder()) {
				if err != nil || i == len(l.numbers) {
					break
				}
				if r.N != l.numbers[i] {
					continue
				}
				if r.From > 0 {
					at, _ := slices.BinarySearch(l.numbers, r.From)
					r.From = first + at
				}
				r.Move(l.back, number)
				i, number = i+1, number+1
				if !yield(r, nil) {
					return
				}
			}
			number = first + len(l.numbers)
		}
		if len(lost) > 0 && !yield(&transcript.Record{UI: true, Boundary: &transcript.Boundary{Trigger: "rewrite"}}, nil) {
			return
		}
		file(yield)
	}
}

// lostRecords are the records of an earlier generation that no later one has.
type lostRecords struct {
	back    int
	numbers []int
}

// lost returns what the earlier generations have alone, the oldest first; nothing if no item is among it.
func (a *Archive) lost(ctx context.Context, k transcript.Key, generation int, decoder func() *transcript.Decoder, file iter.Seq2[*transcript.Record, error]) (all []lostRecords, err error) {
	known, items := map[string]bool{}, false
	isNew := func(r *transcript.Record) bool {
		name := r.UUID
		if name == "" {
			name = string(r.Hash[:])
		}
		was := known[name]
		known[name] = true
		return !was
	}
	for r, err := range file {
		if err != nil {
			return nil, err
		}
		isNew(r)
	}
	for back := 1; back < generation && back <= mostEarlier; back++ {
		one := lostRecords{back: back}
		for r, err := range a.Records(ctx, k, generation-back, decoder()) {
			if err != nil {
				break
			}
			if isNew(r) {
				one.numbers = append(one.numbers, r.N)
				items = items || len(r.Items) > 0
			}
		}
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if len(one.numbers) > 0 {
			all = append(all, one)
		}
	}
	slices.Reverse(all)
	if !items {
		return nil, nil
	}
	return all, nil
}
