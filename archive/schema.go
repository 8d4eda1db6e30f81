package archive

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"strconv"

	bolt "go.etcd.io/bbolt"

	"ccd/internal/words"
)

// schema is the version of the layout, in the bucket "meta" and in each entry. Another one is refused.
const schema = "\x05"

// idSize is the length of an archive's ID in bytes.
const idSize = 16

func initialise(tx *bolt.Tx) error {
	for k := range buckets {
		if _, err := tx.CreateBucket(buckets[k]); err != nil {
			return err
		}
	}
	var id [idSize]byte
	rand.Read(id[:]) // never fails
	if err := put(tx, kindMeta, keyID, id[:]); err != nil {
		return err
	}
	var file [8]byte // its own: in another file, the same blocks may have other numbers
	rand.Read(file[:])
	meta := kindMeta.bucket(tx)
	return errors.Join(meta.Put(keyFile, file[:]), meta.Put(keySchema, strconv.AppendInt(nil, int64(schema[0]), 10)))
}

// fileOf returns what identifies the file, never "".
func fileOf(tx *bolt.Tx) string { return "file " + string(kindMeta.bucket(tx).Get(keyFile)) }

// getID returns the archive's ID in hex.
func getID(tx *bolt.Tx) (string, error) {
	id, err := get(tx, kindMeta, keyID)
	if err == nil && len(id) != idSize {
		err = errors.New("wrong size")
	}
	if err != nil {
		return "", fmt.Errorf("id of the archive: %w", err)
	}
	return hex.EncodeToString(id), nil
}

// setID gives the archive the ID of the one that it is made from, if that is known.
func (a *Archive) setID(ctx context.Context, id string) error {
	b, err := hex.DecodeString(id)
	if err != nil || len(b) != idSize {
		return nil
	}
	return a.update(ctx, 0, func(tx *bolt.Tx) error { return put(tx, kindMeta, keyID, b) })
}

// ID returns 32 hex digits that identify the archive and its copies, or "" if there is no archive yet.
// It fails with a DamageError if it is damaged.
func (a *Archive) ID(ctx context.Context) (id string, err error) {
	err = a.viewAny(ctx, func(tx *bolt.Tx) (err error) {
		if id, err = getID(tx); err != nil {
			return a.damage("%w", err)
		}
		return nil
	})
	if err != nil {
		return "", fmt.Errorf("look up id of the archive: %w", err)
	}
	return id, nil
}

// checkSchema fails if the schema is not supported.
func (s *store) checkSchema(tx *bolt.Tx) error {
	meta := kindMeta.bucket(tx)
	if meta == nil {
		return s.a.damage("bucket %q is missing: damaged, or not a ccd archive", buckets[kindMeta])
	}
	v := meta.Get(keySchema)
	n, err := strconv.ParseUint(string(v), 10, 16)
	if err != nil || n == 0 || v[0] == '0' {
		return s.a.damage("the schema is unreadable")
	}
	if n != uint64(schema[0]) {
		err := fmt.Errorf("%w: %s has schema %d, this ccd supports %d", ErrNewer, s.a.path, n, schema[0])
		return words.Hint(err, "use the ccd that wrote it, or move the file away: ccd then makes a new archive from the transcripts")
	}
	for k := range buckets {
		if k.bucket(tx) == nil {
			return s.a.damage("bucket %q is missing", buckets[k])
		}
	}
	return nil
}
