package remote

import (
	"context"
	"errors"
	"fmt"
	"io"

	"filippo.io/age"
)

const (
	chunk     = 64 << 10 // age encrypts this many bytes at a time, and adds overhead
	overhead  = 16
	ageHeader = 4 << 10 // bytes before the first chunk are fewer
)

// partialPack reads some frames of a pack without the others. It cannot verify the hash of the pack; each stretch has its own.
type partialPack struct {
	get       func(off, n int64) ([]byte, error)
	size      int64 // of the object
	blocks    map[int64][]byte
	failed    error // of get; it does not mean damage
	plain     io.ReaderAt
	plainSize int64
}

// worthParts reports whether three requests for parts of a pack are better than one for all of it, because few bytes are needed.
func worthParts(pack Pack, stretches []placed) bool {
	need := int64(0)
	for _, t := range stretches {
		need += t.Size + 2*chunk
	}
	return need < pack.Size/8
}

// fetchParts opens a pack of which stretch reads what it needs.
func (r *Reader) fetchParts(ctx context.Context, machine string, pack Pack) (*opened, error) {
	name := packObject(machine, pack.Name)
	p := &partialPack{size: pack.Size, blocks: map[int64][]byte{}, get: func(off, n int64) ([]byte, error) {
		b, _, err := r.o.Store.Get(ctx, name, off, n)
		if errors.Is(err, ErrAbsent) {
			return nil, badCopy(name, "it is missing")
		}
		if err == nil && int64(len(b)) != n {
			err = badCopy(name, "it is shorter than %d bytes", pack.Size)
		}
		return b, err
	}}
	var err error
	p.plain, p.plainSize, err = age.DecryptReaderAt(p, pack.Size, r.coder.identities...)
	switch {
	case errors.As(err, new(*age.NoIdentityMatchError)):
		return nil, fmt.Errorf("decrypt %s: %w", name, ErrKey)
	case p.failed != nil:
		return nil, fmt.Errorf("read %s: %w", short(name), p.failed)
	case err != nil:
		return nil, badCopy(name, "%v", err)
	}
	return &opened{r.coder, name, nil, p}, nil
}

// load gets the blocks of a range that are not here, in one request.
func (p *partialPack) load(from, to int64) error {
	from, to = from/chunk, (min(to, p.size)+chunk-1)/chunk
	for from < to && p.blocks[from] != nil {
		from++
	}
	for from < to && p.blocks[to-1] != nil {
		to--
	}
	if from >= to {
		return nil
	}
	b, err := p.get(from*chunk, min(to*chunk, p.size)-from*chunk)
	if err != nil {
		p.failed = err
		return err
	}
	for ; from < to; from++ {
		n := min(chunk, len(b))
		p.blocks[from], b = b[:n], b[n:]
	}
	return nil
}

// ReadAt implements io.ReaderAt for the encrypted pack.
func (p *partialPack) ReadAt(b []byte, off int64) (n int, err error) {
	if off >= p.size {
		return 0, io.EOF
	}
	if err := p.load(off, off+int64(len(b))); err != nil {
		return 0, err
	}
	for n < len(b) && off < p.size {
		k := copy(b[n:], p.blocks[off/chunk][off%chunk:])
		n, off = n+k, off+int64(k)
	}
	if n < len(b) {
		err = io.EOF
	}
	return n, err
}

// frame returns the compressed bytes of a stretch.
func (p *partialPack) frame(t Stretch) ([]byte, error) {
	first, end := t.At/chunk, (t.At+t.Size)/chunk+1
	if err := p.load(first*(chunk+overhead), end*(chunk+overhead)+ageHeader); err != nil {
		return nil, err
	}
	b := make([]byte, t.Size)
	_, err := io.ReadFull(io.NewSectionReader(p.plain, t.At, t.Size), b)
	if p.failed == nil && err != nil {
		err = fmt.Errorf("%w: %w", ErrBadCopy, err)
	}
	return b, err
}
