package archive

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"strconv"

	bolt "go.etcd.io/bbolt"

	"ccd/internal/transcript"
)

// newest is the schema that this ccd writes: the version of the layout, in the bucket "meta". Every older one is read
// as it is; Upgrade alone writes to it.
const newest = 2

// idSize is the length of an archive's ID in bytes.
const idSize = 16

// step carries an archive from one schema to the next.
type step struct {
	from int
	what string // it adds
	do   func(tx *bolt.Tx) error
}

// steps are all that Upgrade knows, one for each older schema, in order.
func steps() []step {
	return []step{
		{1, "an id that tells copies of an archive from other archives, and a place for summaries", func(tx *bolt.Tx) error {
			if _, err := tx.CreateBucketIfNotExists(bucketSummaries); err != nil {
				return err
			}
			return putID(tx)
		}},
	}
}

// raise carries the archive from a schema to the newest, in the transaction that it is given.
func raise(tx *bolt.Tx, schema int) error {
	for _, st := range steps() {
		if st.from < schema {
			continue
		}
		if err := st.do(tx); err != nil {
			return fmt.Errorf("add %s: %w", st.what, err)
		}
	}
	return putSchema(tx)
}

func initialise(tx *bolt.Tx) error {
	for _, name := range [][]byte{
		bucketMeta, bucketSessions, bucketGenerations, bucketState, bucketManifest, bucketFrames, bucketTail,
		bucketHash, bucketIDs, bucketSummaries,
	} {
		if _, err := tx.CreateBucket(name); err != nil {
			return err
		}
	}
	if err := putID(tx); err != nil {
		return err
	}
	return putSchema(tx)
}

func putSchema(tx *bolt.Tx) error {
	return tx.Bucket(bucketMeta).Put(keySchema, []byte(strconv.Itoa(newest)))
}

func putID(tx *bolt.Tx) error {
	var id [idSize]byte
	rand.Read(id[:]) // never fails: crypto/rand ends the program instead
	return tx.Bucket(bucketMeta).Put(keyID, seal(keyID, id[:]))
}

// getID returns the archive's ID in hex, "" where its schema has none yet.
func getID(tx *bolt.Tx) (string, error) {
	v := tx.Bucket(bucketMeta).Get(keyID)
	if v == nil {
		return "", nil
	}
	id, err := unseal(keyID, v)
	if err == nil && len(id) != idSize {
		err = errors.New("wrong size")
	}
	if err != nil {
		return "", fmt.Errorf("id of the archive: %w", err)
	}
	return hex.EncodeToString(id), nil
}

// ID returns what tells the archive and its copies from other archives: 32 hex digits, "" where there is no archive yet
// or it was made by a ccd that gave none (Upgrade does).
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

// SchemaError tells that an archive's schema is not the one that this ccd writes. It wraps ErrNewer or ErrOlder.
type SchemaError struct {
	Path         string // of the archive
	Found, Known int
	Backup       string // what Upgrade left beside it that this ccd reads, "" where there is nothing
}

// Error names both schemas.
func (e *SchemaError) Error() string {
	return fmt.Sprintf("%v: %s has schema %d, this ccd knows %d", e.Unwrap(), e.Path, e.Found, e.Known)
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
	word := transcript.ShellWord
	switch {
	case e.Found < e.Known:
		return "ccd restart, or ccd run --once where no daemon runs"
	case e.Backup == "":
		return "install the newer ccd again"
	}
	return fmt.Sprintf("install the newer ccd again; or put the archive back as it was before it: mv %s %s && cp -p %s %s",
		word(e.Path), word(e.Path+".newer"), word(e.Backup), word(e.Path))
}

// checkSchema reads the schema, and fails where it is newer than any that is known here.
func (s *store) checkSchema(tx *bolt.Tx) error {
	meta := tx.Bucket(bucketMeta)
	if meta == nil {
		return s.a.damage("the bucket %q is missing: damaged, or no archive of ccd", bucketMeta)
	}
	v := meta.Get(keySchema)
	n, err := strconv.ParseUint(string(v), 10, 16)
	if err != nil || n == 0 || v[0] == '0' {
		return s.a.damage("the schema is unreadable")
	}
	if s.schema = int(n); s.schema > newest {
		e := &SchemaError{Path: s.a.path, Found: s.schema, Known: newest}
		for _, b := range Backups(s.a.path) {
			if schemaOf(s.a.path, b) <= newest {
				e.Backup = b
				break
			}
		}
		return e
	}
	return nil
}
