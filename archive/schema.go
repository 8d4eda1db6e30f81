package archive

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"strconv"

	bolt "go.etcd.io/bbolt"

	"ccd/internal/transcript"
)

// The schema is the version of the layout, in the bucket "meta". An archive with an older supported schema stays
// readable by older versions until something is written that they cannot read.
const (
	oldest = 2 // each generation is its own track
	newest = 4 // blocks have checksums
)

// idSize is the length of an archive's ID in bytes.
const idSize = 16

// buckets returns the names of all buckets.
func buckets() [][]byte {
	return [][]byte{
		bucketMeta, bucketSessions, bucketGenerations, bucketState, bucketManifest, bucketFrames, bucketTail,
		bucketHash, bucketIDs, bucketSummaries, bucketGone, bucketLog, bucketSalts,
	}
}

func initialise(tx *bolt.Tx) error {
	for _, name := range buckets() {
		if _, err := tx.CreateBucket(name); err != nil {
			return err
		}
	}
	if err := putID(tx); err != nil {
		return err
	}
	if err := putFile(tx); err != nil {
		return err
	}
	return putSchema(tx)
}

func putSchema(tx *bolt.Tx) error {
	now := []byte(strconv.Itoa(newest))
	if meta := tx.Bucket(bucketMeta); !bytes.Equal(meta.Get(keySchema), now) {
		return meta.Put(keySchema, now)
	}
	return nil
}

// putFile gives the file a number of its own: in another one, the same sessions and blocks may have other numbers.
func putFile(tx *bolt.Tx) error {
	var n [8]byte
	rand.Read(n[:]) // never fails
	return tx.Bucket(bucketMeta).Put(keyFile, n[:])
}

// fileOf returns what identifies the file, never "": files of older versions have no number.
func fileOf(tx *bolt.Tx) string { return "file " + string(tx.Bucket(bucketMeta).Get(keyFile)) }

func putID(tx *bolt.Tx) error {
	var id [idSize]byte
	rand.Read(id[:]) // never fails
	return tx.Bucket(bucketMeta).Put(keyID, seal(keyID, id[:]))
}

// getID returns the archive's ID in hex.
func getID(tx *bolt.Tx) (string, error) {
	id, err := unseal(keyID, tx.Bucket(bucketMeta).Get(keyID))
	if err == nil && len(id) != idSize {
		err = errors.New("wrong size")
	}
	if err != nil {
		return "", fmt.Errorf("id of the archive: %w", err)
	}
	return hex.EncodeToString(id), nil
}

// ID returns 32 hex digits that identify the archive and its copies, or "" if there is no archive yet.
func (a *Archive) ID(ctx context.Context) (id string, err error) {
	err = a.view(ctx, func(tx *bolt.Tx) (err error) {
		if id, err = getID(tx); err != nil {
			return a.damage("%w", err)
		}
		return nil
	})
	if err != nil && !errors.Is(err, errAbsent) {
		return "", fmt.Errorf("look up id of the archive: %w", err)
	}
	return id, nil
}

// SchemaError is returned for an archive with an unsupported schema. It wraps ErrNewer or ErrOlder.
type SchemaError struct {
	Path          string // of the archive
	Found         int
	Oldest, Known int // supported schemas
}

// Error includes the schemas.
func (e *SchemaError) Error() string {
	return fmt.Sprintf("%v: %s has schema %d, this ccd supports %d to %d", e.Unwrap(), e.Path, e.Found, e.Oldest, e.Known)
}

// Unwrap returns ErrNewer or ErrOlder.
func (e *SchemaError) Unwrap() error {
	if e.Found > e.Known {
		return ErrNewer
	}
	return ErrOlder
}

// Hint returns what to do about it.
func (e *SchemaError) Hint() string {
	if e.Found > e.Known {
		return "install the newer ccd again"
	}
	return fmt.Sprintf("read it with the ccd that wrote it; to archive existing transcripts again: mv %s %s", transcript.ShellWord(e.Path), transcript.ShellWord(e.Path+".old"))
}

// checkSchema fails if the schema is not supported.
func (s *store) checkSchema(tx *bolt.Tx) error {
	meta := tx.Bucket(bucketMeta)
	if meta == nil {
		return s.a.damage("bucket %q is missing: damaged, or not a ccd archive", bucketMeta)
	}
	v := meta.Get(keySchema)
	n, err := strconv.ParseUint(string(v), 10, 16)
	if err != nil || n == 0 || v[0] == '0' {
		return s.a.damage("the schema is unreadable")
	}
	if found := int(n); found < oldest || found > newest {
		return &SchemaError{Path: s.a.path, Found: found, Oldest: oldest, Known: newest}
	}
	return nil
}
