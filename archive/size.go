package archive

import (
	"context"
	"errors"
	"fmt"

	bolt "go.etcd.io/bbolt"
)

// Size tells how large the archive is.
type Size struct {
	File     int64 // length of the archive file in bytes
	Free     int64 // bytes of it that wait to be used again
	Raw      int64 // bytes of transcripts that it holds, all generations
	Frames   int   // stored, each once
	Sessions int
}

// Size measures the archive. One that does not exist yet has no size.
func (a *Archive) Size(ctx context.Context) (z Size, err error) {
	if err = a.measure(ctx, &z); err == nil {
		err = a.each(ctx, bucketGenerations, func(_ *bolt.Tx, k, v []byte) error {
			g, err := parseGeneration(k, v)
			z.Raw += g.Offset
			return err
		})
	}
	if err != nil && !errors.Is(err, errAbsent) {
		return z, fmt.Errorf("measure archive: %w", err)
	}
	return z, nil
}

func (a *Archive) measure(ctx context.Context, z *Size) error {
	s := &store{a: a, stats: true}
	if err := s.open(ctx, nil); err != nil {
		return err
	}
	defer s.close()
	z.File = s.lock.info.Size()
	return s.view(func(tx *bolt.Tx) error {
		z.Frames = int(tx.Bucket(bucketFrames).Sequence())
		z.Sessions = int(tx.Bucket(bucketSessions).Sequence())
		z.Free = int64(s.db.Stats().FreePageN)*int64(s.db.Info().PageSize) + max(0, z.File-tx.Size())
		return nil
	})
}
