package archive

import "context"

// Common returns how many bytes from the first one on the generations of two readers have in the same blocks: what was before the
// first change of a rewritten file, down to the end of a block. It fails with ErrNotFound if a generation is missing.
func (r *Reader) Common(ctx context.Context, other *Reader) (n int64, err error) {
	ours, err := r.generation(ctx)
	if err != nil {
		return 0, err
	}
	theirs, err := other.generation(ctx)
	if err != nil {
		return 0, err
	}
	for i := 0; i < len(ours.Blocks) && i < len(theirs.Blocks) && ours.Blocks[i] == theirs.Blocks[i] && ours.Blocks[i].ID != 0; i++ {
		n = ours.Blocks[i].end()
	}
	return n, nil
}
