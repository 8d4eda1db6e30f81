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
	copyBytes = 2 << 20               // that one locked read takes
	copyTime  = 10 * time.Millisecond // after which it takes no more
	copyGrow  = 64 << 20              // bytes in which the copy's file grows
)

// copier makes a copy of an archive that others write to meanwhile. What a frame holds never changes and no frame goes
// away, so everything that leads to frames comes first, each session in one transaction with the pieces of its tail, and
// the frames at last, all up to the newest that was there by then. IDs come before the sessions that they lead to.
type copier struct {
	a        *Archive
	limit    int      // bytes that one locked read takes, about, at most
	db       *bolt.DB // the copy
	held     time.Duration
	progress func(done, total int64)
	done     int64    // bytes copied
	total    int64    // about
	arena    []byte   // what one locked read has taken
	puts     []put    // views of arena
	limits   []uint64 // the sequences of the buckets in sequenced
}

// put is an entry on its way into the copy; from and to are its places in the arena.
type put struct {
	bucket     []byte
	at, mid, z int // key is arena[at:mid], value is arena[mid:z]
}

// copyInto makes a copy at path, synced, and returns for how long at most it held the archive at a time.
func (a *Archive) copyInto(ctx context.Context, path string, progress func(done, total int64)) (held time.Duration, err error) {
	c := &copier{a: a, limit: copyBytes, progress: progress}
	err = c.into(ctx, path, c.begin, c.ids, c.sessions, c.rest, c.frames, c.finish)
	return c.held, err
}

// into makes a copy at path in steps, synced.
func (c *copier) into(ctx context.Context, path string, steps ...func(context.Context) error) (err error) {
	c.db, err = bolt.Open(path, 0o600, &bolt.Options{Timeout: turn, FreelistType: bolt.FreelistMapType, NoSync: true, NoStatistics: true})
	if err != nil {
		return err
	}
	c.db.AllocSize = copyGrow
	for _, step := range steps {
		if err == nil {
			err = step(ctx)
		}
	}
	var size int64
	if err == nil {
		err = c.db.View(func(tx *bolt.Tx) error {
			size = tx.Size()
			return nil
		})
	}
	if err = errors.Join(err, c.db.Close()); err != nil {
		return err
	}
	return trim(path, size)
}

// trim cuts off what the file grew ahead, and makes it durable.
func trim(path string, size int64) error {
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	return errors.Join(f.Truncate(size), f.Sync(), f.Close())
}

// look is one locked read of the archive.
func (c *copier) look(ctx context.Context, fn func(tx *bolt.Tx, begun time.Time) error) error {
	var begun time.Time
	c.arena, c.puts = c.arena[:0], c.puts[:0]
	err := c.a.view(ctx, func(tx *bolt.Tx) error {
		begun = time.Now()
		return fn(tx, begun)
	})
	if !begun.IsZero() {
		c.held = max(c.held, time.Since(begun))
	}
	if errors.Is(err, errAbsent) {
		err = fmt.Errorf("%w: the archive has gone", ErrNotFound)
	}
	return err
}

// full reports whether a look that began then has taken enough; one takes something always.
func (c *copier) full(begun time.Time) bool {
	return len(c.puts) > 0 && (len(c.arena) >= c.limit || time.Since(begun) > copyTime)
}

// take keeps an entry until write.
func (c *copier) take(bucket, k, v []byte) {
	at := len(c.arena)
	c.arena = append(append(c.arena, k...), v...)
	c.puts = append(c.puts, put{bucket, at, at + len(k), len(c.arena)})
}

// write puts into the copy what the last look has taken.
func (c *copier) write() error {
	c.done += int64(len(c.arena))
	c.progress(c.done, c.total)
	return c.db.Update(func(tx *bolt.Tx) error {
		for _, p := range c.puts {
			b := tx.Bucket(p.bucket)
			b.FillPercent = 0.95 // most keys come in order, and few come later
			if err := b.Put(c.arena[p.at:p.mid], c.arena[p.mid:p.z]); err != nil {
				return err
			}
		}
		return nil
	})
}

// begin makes the buckets and copies what tells the schema and the ID.
func (c *copier) begin(ctx context.Context) error {
	var names [][]byte
	err := c.look(ctx, func(tx *bolt.Tx, _ time.Time) error {
		c.total = tx.Size()
		err := tx.ForEach(func(name []byte, _ *bolt.Bucket) error {
			names = append(names, bytes.Clone(name))
			return nil
		})
		if err != nil {
			return err
		}
		return tx.Bucket(bucketMeta).ForEach(func(k, v []byte) error {
			c.take(bucketMeta, k, v)
			return nil
		})
	})
	if err != nil {
		return err
	}
	err = c.db.Update(func(tx *bolt.Tx) error {
		for _, name := range names {
			if _, err := tx.CreateBucketIfNotExists(name); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	return c.write()
}

func (c *copier) ids(ctx context.Context) error { return c.all(ctx, bucketIDs, nil) }

// all copies a bucket in the order of its keys, up to those that begin behind limit if there is one.
func (c *copier) all(ctx context.Context, bucket, limit []byte) error {
	var last []byte
	for more := true; more; {
		err := c.look(ctx, func(tx *bolt.Tx, begun time.Time) error {
			more = false
			b := tx.Bucket(bucket)
			if b == nil { // summaries, in an archive of schema 1
				return nil
			}
			cur := b.Cursor()
			k, v := cur.Seek(last)
			if last != nil && bytes.Equal(k, last) {
				k, v = cur.Next()
			}
			for ; k != nil && (limit == nil || bytes.Compare(k[:min(len(k), len(limit))], limit) <= 0); k, v = cur.Next() {
				if c.full(begun) {
					more = true
					return nil
				}
				c.take(bucket, k, v)
			}
			return nil
		})
		if err == nil && len(c.puts) > 0 {
			p := c.puts[len(c.puts)-1]
			last = bytes.Clone(c.arena[p.at:p.mid])
			err = c.write()
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// sessions copies each session with all that belongs to it but its frames. One that comes meanwhile may be left out.
func (c *copier) sessions(ctx context.Context) error {
	var keys [][]byte
	err := c.a.each(ctx, bucketSessions, func(_ *bolt.Tx, k, _ []byte) error {
		keys = append(keys, bytes.Clone(k))
		return nil
	})
	if err != nil {
		return err
	}
	for i := 0; i < len(keys); {
		err := c.look(ctx, func(tx *bolt.Tx, begun time.Time) error {
			for ; i < len(keys) && !c.full(begun); i++ {
				if err := c.session(tx, keys[i]); err != nil {
					return err
				}
			}
			return nil
		})
		if err == nil {
			err = c.write()
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// session takes one session as it is in a transaction.
func (c *copier) session(tx *bolt.Tx, key []byte) error {
	v := tx.Bucket(bucketSessions).Get(key)
	if v == nil { // gone meanwhile
		return nil
	}
	r, err := parseSession(key, v)
	if err != nil {
		k, _ := parseSessionKey(key) // names it, if it can
		return c.a.damageIn(k, transcript.Cursor{}, err)
	}
	c.take(bucketSessions, key, v)
	if state := tx.Bucket(bucketState).Get(key); state != nil {
		c.take(bucketState, key, state)
	}
	streams := binary.BigEndian.AppendUint64(nil, r.Num)
	err = eachBelow(tx.Bucket(bucketGenerations), streams, func(k, v []byte) error {
		c.take(bucketGenerations, k, v)
		return nil
	})
	if err != nil {
		return err
	}
	return eachBelow(tx.Bucket(bucketManifest), streams, func(k, v []byte) error {
		c.take(bucketManifest, k, v)
		b, err := parseBlock(k, v)
		if err != nil {
			key, _ := parseSessionKey(key) // names it, if it can
			return c.a.damageIn(key, transcript.Cursor{Generation: stream(k[:len(stream{})]).generation(), Offset: manifestOffset(k)}, err)
		}
		if !b.Tail {
			return nil
		}
		return eachBelow(tx.Bucket(bucketTail), chunkKey(b.ID, 0)[:8], func(k, v []byte) error {
			c.take(bucketTail, k, v)
			return nil
		})
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

// sequenced are the buckets whose keys are numbered.
func sequenced() [][]byte { return [][]byte{bucketSessions, bucketTail, bucketFrames} }

// rest copies what else leads to frames, and then looks which is the newest.
func (c *copier) rest(ctx context.Context) error {
	for _, bucket := range [][]byte{bucketHash, bucketSummaries} {
		if err := c.all(ctx, bucket, nil); err != nil {
			return err
		}
	}
	return c.look(ctx, func(tx *bolt.Tx, _ time.Time) error {
		for _, bucket := range sequenced() {
			c.limits = append(c.limits, tx.Bucket(bucket).Sequence())
		}
		return nil
	})
}

func (c *copier) frames(ctx context.Context) error {
	return c.all(ctx, bucketFrames, binary.BigEndian.AppendUint64(nil, c.limits[len(c.limits)-1]))
}

// finish makes the copy number on where the archive does.
func (c *copier) finish(context.Context) error {
	return c.db.Update(func(tx *bolt.Tx) error {
		for i, bucket := range sequenced() {
			if err := tx.Bucket(bucket).SetSequence(c.limits[i]); err != nil {
				return err
			}
		}
		return nil
	})
}
