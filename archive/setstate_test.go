package archive

import (
	"context"
	"fmt"

	bolt "go.etcd.io/bbolt"

	"ccd/internal/transcript"
)

// SetState stores a state whatever was stored before.
func (a *Archive) SetState(ctx context.Context, s transcript.Session, state []byte) error {
	err := a.update(ctx, int64(len(state)), func(tx *bolt.Tx) error {
		return a.putChange(tx, Change{Session: s, New: state})
	})
	if err != nil {
		return fmt.Errorf("store state of session %s %s: %w", s.Agent, s.ID, err)
	}
	return nil
}
