package archive

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"time"

	bolt "go.etcd.io/bbolt"

	"ccd/internal/transcript"
)

const (
	copyBytes = 2 << 20               // read under one lock, about
	copyTime  = 10 * time.Millisecond // after which a locked read stops
	copyGrow  = 64 << 20              // step in which the copy's file grows
)

// copier copies an archive while others write to it. Frames never change or go away. So it copies everything that
// refers to frames first, each session in one transaction with its tail pieces, and then all frames up to the newest
// one at that time. IDs are copied before the sessions that they refer to.
type copier struct {
	a        *Archive
	limit    int      // bytes that one read collects
	db       *bolt.DB // the copy
	held     time.Duration
	progress func(done, total int64)
	done     int64 // bytes copied
	total    int64 // about
	begun    time.Time
	puts     []taken         // collected by one locked read
	size     int             // of puts
	limits   map[kind]uint64 // the sequences of the buckets
	version  uint64          // the highest
	file     string          // identifies the archive's file
}

// taken is an entry to be written to the copy.
type taken struct {
	kind kind
	k, v []byte
}

// copyInto makes a synced copy at path, and returns the longest time that it held the lock.
func (a *Archive) copyInto(ctx context.Context, path string, progress func(done, total int64)) (held time.Duration, err error) {
	c := &copier{a: a, limit: copyBytes, progress: progress}
	err = c.run(ctx, path, c.begin, c.ids, c.sessions, c.rest, c.frames, c.finish)
	return c.held, err
}

// run makes a synced copy at path in steps.
func (c *copier) run(ctx context.Context, path string, steps ...func(context.Context) error) error {
	return c.a.build(path, func(into *Archive) error {
		c.db = into.held.db
		for _, step := range steps {
			if err := step(ctx); err != nil {
				return err
			}
		}
		return nil
	})
}

// build makes an archive at path, which fn fills. It is synced at the end.
func (a *Archive) build(path string, fn func(into *Archive) error) (err error) {
	db, err := bolt.Open(path, 0o600, &bolt.Options{Timeout: gateTimeout, FreelistType: bolt.FreelistMapType, NoSync: true, NoStatistics: true})
	if err != nil {
		return err
	}
	db.AllocSize = copyGrow
	into := &Archive{path: path, codec: a.codec}
	into.held = &store{a: into, db: db, write: true}
	var size int64
	if err = db.Update(initialise); err == nil {
		err = fn(into)
	}
	if err == nil {
		err = db.View(func(tx *bolt.Tx) error {
			size = tx.Size()
			return nil
		})
	}
	if err = errors.Join(err, db.Close()); err != nil {
		return err
	}
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	return errors.Join(f.Truncate(size), f.Sync(), f.Close()) // cut off the preallocated end
}

// read reads the archive under one lock, then writes the collected entries to the copy.
func (c *copier) read(ctx context.Context, fn func(tx *bolt.Tx) error) error {
	c.begun, c.puts, c.size = time.Time{}, c.puts[:0], 0
	err := c.a.view(ctx, func(tx *bolt.Tx) error {
		c.begun = time.Now()
		if c.file == "" {
			c.file = fileOf(tx)
		} else if c.file != fileOf(tx) {
			return errors.New("the archive was replaced meanwhile; try again")
		}
		return fn(tx)
	})
	if !c.begun.IsZero() {
		c.held = max(c.held, time.Since(c.begun))
	}
	if errors.Is(err, errAbsent) {
		err = fmt.Errorf("%w: the archive was removed", ErrNotFound)
	}
	if err != nil || len(c.puts) == 0 {
		return err
	}
	c.done += int64(c.size)
	c.progress(c.done, c.total)
	return c.db.Update(func(tx *bolt.Tx) error {
		for _, p := range c.puts {
			if err := putSealed(tx, p.kind, p.k, p.v); err != nil {
				return err
			}
		}
		return nil
	})
}

// full reports whether this read has collected enough. Each read collects at least one entry.
func (c *copier) full() bool {
	return len(c.puts) > 0 && (c.size >= c.limit || time.Since(c.begun) > copyTime)
}

// take collects an entry.
func (c *copier) take(kind kind, k, v []byte) {
	c.puts = append(c.puts, taken{kind, bytes.Clone(k), bytes.Clone(v)})
	c.size += len(k) + len(v)
}

// begin copies the ID.
func (c *copier) begin(ctx context.Context) error {
	return c.read(ctx, func(tx *bolt.Tx) error {
		c.total = tx.Size()
		c.take(kindMeta, keyID, tx.Bucket(bucketMeta).Get(keyID))
		return nil
	})
}

func (c *copier) ids(ctx context.Context) error { return c.all(ctx, kindID, nil) }

// all copies a bucket in key order, up to keys with the prefix limit if it is not nil.
func (c *copier) all(ctx context.Context, kind kind, limit []byte) error {
	var last []byte
	for more := true; more; {
		err := c.read(ctx, func(tx *bolt.Tx) error {
			more = false
			cur := kind.bucket(tx).Cursor()
			k, v := cur.Seek(last)
			if last != nil && bytes.Equal(k, last) {
				k, v = cur.Next()
			}
			for ; k != nil && (limit == nil || bytes.Compare(k[:min(len(k), len(limit))], limit) <= 0) && !more; k, v = cur.Next() {
				if v == nil { // it has a bucket of its own
					v = cur.Bucket().Bucket(k).Get(k)
				}
				c.take(kind, k, v)
				more = c.full()
			}
			return nil
		})
		if err != nil {
			return err
		}
		if n := len(c.puts); n > 0 {
			last = c.puts[n-1].k
		}
	}
	return nil
}

// sessions copies each session with everything that belongs to it except frames. It may miss sessions added meanwhile.
func (c *copier) sessions(ctx context.Context) error {
	var keys [][]byte
	err := c.a.each(ctx, kindSession, func(_ *bolt.Tx, k, _ []byte) error {
		keys = append(keys, bytes.Clone(k))
		return nil
	})
	for i := 0; i < len(keys) && err == nil; {
		err = c.read(ctx, func(tx *bolt.Tx) error {
			for ; i < len(keys) && !c.full(); i++ {
				if err := c.session(tx, keys[i]); err != nil {
					return err
				}
			}
			return nil
		})
	}
	return err
}

// session collects one session.
func (c *copier) session(tx *bolt.Tx, key []byte) error {
	v := tx.Bucket(bucketSessions).Get(key)
	if v == nil { // removed meanwhile
		return nil
	}
	name, _ := parseSessionKey(key) // only for error messages
	r, err := parseSession(key, v)
	if err != nil {
		return c.a.damageIn(name, transcript.Cursor{}, err)
	}
	c.take(kindSession, key, v)
	if state := tx.Bucket(bucketState).Get(key); state != nil {
		c.take(kindState, key, state)
	}
	streams := binary.BigEndian.AppendUint64(nil, r.Num)
	err = eachBelow(tx.Bucket(bucketGenerations), streams, func(k, v []byte) error {
		c.take(kindGeneration, k, v)
		return nil
	})
	if err != nil {
		return err
	}
	return eachBelow(tx.Bucket(bucketManifest), streams, func(k, v []byte) error {
		c.take(kindManifest, k, v)
		b, err := parseBlock(k, v)
		if err != nil {
			return c.a.damageIn(name, transcript.Cursor{Generation: stream(k[:len(stream{})]).generation(), Offset: manifestOffset(k)}, err)
		}
		if !b.Tail {
			return nil
		}
		if v, err = b.value(tx); err != nil {
			return c.a.damageIn(name, transcript.Cursor{}, err)
		}
		c.take(kindPiece, b.key(), v)
		return nil
	})
}

// eachBelow calls fn with every entry whose key begins with prefix.
func eachBelow(b *bolt.Bucket, prefix []byte, fn func(k, v []byte) error) error {
	cur := b.Cursor()
	for k, v := cur.Seek(prefix); bytes.HasPrefix(k, prefix); k, v = cur.Next() {
		if err := fn(k, v); err != nil {
			return err
		}
	}
	return nil
}

// rest copies the other references to frames, and then reads the current sequences.
func (c *copier) rest(ctx context.Context) error {
	for _, kind := range []kind{kindHash, kindSummary} {
		if err := c.all(ctx, kind, nil); err != nil {
			return err
		}
	}
	return c.read(ctx, func(tx *bolt.Tx) (err error) {
		c.limits = map[kind]uint64{}
		for _, k := range kinds() {
			c.limits[k] = k.bucket(tx).Sequence()
		}
		c.version, err = versionOf(tx)
		return err
	})
}

func (c *copier) frames(ctx context.Context) error {
	return c.all(ctx, kindFrame, block{ID: c.limits[kindFrame]}.key())
}

// finish sets the copy's numbers.
func (c *copier) finish(context.Context) error {
	return c.db.Update(func(tx *bolt.Tx) error {
		for _, k := range []kind{kindMeta, kindPiece, kindFrame} {
			if err := k.bucket(tx).SetSequence(c.limits[k]); err != nil {
				return err
			}
		}
		return continueFrom(tx, c.version)
	})
}
