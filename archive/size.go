package archive

import (
	"context"
	"errors"

	bolt "go.etcd.io/bbolt"
)

// Size is the size of the archive.
type Size struct {
	File     int64 // size of the archive file in bytes
	Free     int64 // unused bytes in it
	Raw      int64 // bytes of transcripts in it, all generations
	Sessions int
	IDs      int // entries of the index
}

// Size measures the archive. It returns zero if there is none yet. It fails with a DamageError if a record is damaged.
func (a *Archive) Size(ctx context.Context) (z Size, err error) {
	if err = a.measure(ctx, &z); err == nil {
		err = a.each(ctx, kindGeneration, func(_ *bolt.Tx, k, v []byte) error {
			g, err := parseGeneration(k, v)
			if err != nil {
				return a.damage("%w", err)
			}
			z.Raw += g.Offset
			return nil
		})
	}
	if errors.Is(err, errAbsent) {
		return z, nil
	}
	wrap(&err, "measure archive")
	return z, err
}

func (a *Archive) measure(ctx context.Context, z *Size) error {
	return a.use(ctx, &store{a: a, stats: true}, func(s *store) error {
		z.File = s.lock.info.Size()
		return s.view(func(tx *bolt.Tx) error {
			z.Sessions, z.IDs = int(kindSession.bucket(tx).Sequence()), int(kindID.bucket(tx).Sequence())
			z.Free = int64(s.db.Stats().FreePageN)*int64(s.db.Info().PageSize) + max(0, z.File-tx.Size())
			return nil
		})
	})
}
