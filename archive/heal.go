package archive

import (
	"context"
	"crypto/sha256"
	"hash"
	"slices"

	bolt "go.etcd.io/bbolt"

	"ccd/internal/mark"
	"ccd/internal/transcript"
)

// healing is a generation of a new archive that lacks bytes, or its hash.
type healing struct {
	*rebuilder
	g       *generationRecord
	left    []candidate // its blocks that are intact in the old file
	of      envelope    // of what is added
	current bool        // it is the session's current generation
}

// heal takes what the generation lacks from sources: from each what it has, unless it differs in a block that is left. What differs
// from the hash of the generation is not kept: then the first source is left out.
func (h *healing) heal(ctx context.Context, session transcript.Session) error {
	was, n := *h.g, h.of.Stream.generation()
	sum, _ := was.sum() // zero is that of nothing
	for sources := h.sources(ctx, session, Generation{N: n, Tip: was.cursor(n), Sum: sum}); len(sources) > 0; sources = sources[1:] {
		whole := false
		for _, source := range sources {
			same, err := h.patch(ctx, source)
			if err != nil {
				return err
			}
			whole = whole || same && source.Whole
		}
		right, err := h.settle(ctx, whole)
		if err != nil {
			return err
		}
		if right {
			_, still := h.g.lost()
			h.restored += was.missing() - h.g.missing()
			h.gained = h.gained || !still || was.missing() > h.g.missing()
			return nil
		}
		if err := h.drop(ctx, was); err != nil {
			return err
		}
	}
	return ctx.Err()
}

// missing returns how many bytes are lost.
func (g *generationRecord) missing() (n int64) {
	for _, b := range g.Blocks {
		if b.ID == 0 {
			n += b.Len
		}
	}
	return n
}

// drop makes the generation what it was, and removes the blocks that were added.
func (h *healing) drop(ctx context.Context, was generationRecord) error {
	defer func() { *h.g = was }()
	kept := map[uint64]bool{}
	for _, b := range was.Blocks {
		kept[b.ID] = true
	}
	return h.into.update(ctx, 0, func(tx *bolt.Tx) error {
		for _, b := range h.g.Blocks {
			if !kept[b.ID] {
				if err := removeBlock(tx, b.ID); err != nil {
					return err
				}
			}
		}
		return nil
	})
}

// patch stores what the generation lacks and a source has. A source that differs in a block leaves the generation as it was.
func (h *healing) patch(ctx context.Context, source Source) (same bool, err error) {
	g, was, left := h.g, *h.g, checker{blocks: h.left}
	g.Blocks = nil
	rest := slices.Clone(was.Blocks) // that are not in g yet
	for off, data := range source.Bytes {
		if !left.same(off, data) || ctx.Err() != nil {
			break
		}
		for end := off + int64(len(data)); len(rest) > 0 && rest[0].Off < end; {
			from, to := max(rest[0].Off, off), min(rest[0].end(), end)
			if rest[0].ID != 0 || to <= from {
				g.Blocks, rest = append(g.Blocks, rest[0]), rest[1:]
				continue
			}
			g.lose(from)
			to = min(to, from+maxFrame)
			if err := h.add(ctx, from, data[from-off:to-off]); err != nil {
				return false, err
			}
			if rest[0] = (block{Off: to, Len: rest[0].end() - to}); rest[0].Len == 0 {
				rest = rest[1:]
			}
		}
	}
	g.Blocks = append(g.Blocks, rest...)
	if left.differs || left.equal == 0 && was.unknown() && (len(h.left) > 0 || !h.current) { // nothing tells that it is the same text
		return false, h.drop(ctx, was)
	}
	return true, ctx.Err()
}

// add stores bytes of the generation as the next block.
func (h *healing) add(ctx context.Context, off int64, raw []byte) error {
	stored, err := h.into.codec.pack(raw)
	if err != nil {
		return err
	}
	b := packed{envelope: h.of, piece: true, stored: stored}
	b.Off, b.Len, b.Sum, b.Words = off, int64(len(raw)), mark.Sum(raw), filterOf(raw, len(stored))
	return h.into.update(ctx, 0, func(tx *bolt.Tx) error {
		made, err := b.write(tx)
		h.g.Blocks = append(h.g.Blocks, made)
		return err
	})
}

// settle reports whether the generation has its hash now, or lacks bytes still. If its end is not lost, an unknown hash becomes that
// of its bytes.
func (h *healing) settle(ctx context.Context, whole bool) (right bool, err error) {
	g := h.g
	if g.missing() > 0 || g.unknown() && !whole {
		return true, nil
	}
	sum := sha256.New()
	for _, b := range g.Blocks {
		var raw []byte
		err := h.into.view(ctx, func(tx *bolt.Tx) error {
			value, err := getBlock(tx, b.ID)
			if err == nil {
				raw, err = h.into.unpack(b, value, nil, true)
			}
			return err
		})
		if err != nil {
			return false, err
		}
		sum.Write(raw)
	}
	if g.unknown() {
		return true, g.setHash(sum)
	}
	return g.matches(sum) == nil, nil
}

// checker compares the bytes of a source with the blocks that are left of a generation.
type checker struct {
	blocks  []candidate // in order, those that are still to come
	sum     hash.Hash   // of the first block, as far as it was seen
	end     int64       // of what was seen
	equal   int         // blocks that were whole
	differs bool
}

// same returns false if a block that is whole now has other bytes.
func (c *checker) same(off int64, data []byte) bool {
	if off != c.end {
		c.sum = nil // a gap
	}
	for len(c.blocks) > 0 && len(data) > 0 {
		b := c.blocks[0]
		if c.sum == nil && b.Off < off { // it cannot be compared
			c.blocks = c.blocks[1:]
			continue
		}
		if skip := b.Off - off; c.sum == nil {
			if skip >= int64(len(data)) {
				break
			}
			data, off, c.sum = data[skip:], b.Off, sha256.New()
		}
		n := min(int64(len(data)), b.end()-off)
		c.sum.Write(data[:n])
		if data, off = data[n:], off+n; off < b.end() {
			break
		}
		if c.differs = mark.Hash(c.sum.Sum(nil)) != b.Sum; c.differs {
			return false
		}
		c.blocks, c.sum = c.blocks[1:], nil
		c.equal++
	}
	c.end = off + int64(len(data))
	return true
}
