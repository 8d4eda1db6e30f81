package remote

import (
	"bytes"
	"cmp"
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"filippo.io/age"
	"github.com/go-json-experiment/json"
	bolt "go.etcd.io/bbolt"
	bolterrors "go.etcd.io/bbolt/errors"

	"ccd/archive"
	"ccd/internal/transcript"
)

// Options configure a Machine.
type Options struct {
	Dir        string // of the machine's key and of what it has pushed
	Archive    *archive.Archive
	Store      Store
	Recipients []age.Recipient
	Names      []string // of the recipients, to notice that they have changed
	Label      string   // the host name that readers see
	Now        func() time.Time
	Say        func(format string, args ...any)
	Limit      int64         // bytes of sessions after which a pack is full; 0: 8 MiB
	Wait       time.Duration // for another process that works with the directory
}

// Machine pushes the sessions of one archive. It locks its directory until Close.
type Machine struct {
	o     Options
	db    *bolt.DB
	coder *coder
	meta  meta
}

// meta is a machine's stored state.
type meta struct {
	Seed      []byte      `json:"seed"` // of its signing key
	Archive   string      `json:"archive,omitempty"`
	Seq       int64       `json:"seq"`            // of the last pack; 0: none yet
	Past      [][]byte    `json:"past,omitempty"` // SHA-256 of the last heads, newest first
	Seen      time.Time   `json:"seen,omitzero"`  // when the store last had that head
	Forgotten []Forgotten `json:"forgotten,omitempty"`
	Tombs     []byte      `json:"tombs,omitempty"` // hash of the archive's file of tombstones
	Names     []string    `json:"recipients,omitempty"`
	Label     string      `json:"label,omitempty"`
}

func (m *meta) key() ed25519.PrivateKey { return ed25519.NewKeyFromSeed(m.Seed) }

// pushed is what was pushed of a session.
type pushed struct {
	Session     transcript.Session `json:"session"`
	Generations []pushedGeneration `json:"generations"`
	State       []byte             `json:"state,omitempty"` // hash of the daemon's state
}

// pushedGeneration is what was pushed of a generation.
type pushedGeneration struct {
	Off    int64  `json:"off"`
	Digest []byte `json:"digest"` // state of SHA-256 over these bytes
}

// stored is a pack in the store, whose content the machine cannot decrypt.
type stored struct {
	Size  int64  `json:"size"`
	Parts []Part `json:"parts"` // without states
}

// round is one pack and the head that says so. It is stored before the pack is sent, so that a lost answer loses nothing.
type round struct {
	Proof    []byte            `json:"proof"` // the beginning of the pack
	Head     []byte            `json:"head"`
	Meta     meta              `json:"meta"` // after it
	Sessions map[string]pushed `json:"sessions,omitempty"`
	Removed  []string          `json:"removed,omitempty"` // sessions that were forgotten
	Pack     stored            `json:"pack"`
}

var (
	bucketMeta     = []byte("meta")
	bucketSessions = []byte("sessions")
	bucketPacks    = []byte("packs")
	keyMeta        = []byte("machine")
	keyPending     = []byte("pending")
)

// ErrRunning is returned by OpenMachine if another process works with the directory.
var ErrRunning = errors.New("another ccd remote is working with this machine's copy")

// OpenMachine opens a machine's directory and creates its signing key if there is none. It fails with ErrRunning.
func OpenMachine(o Options) (*Machine, error) {
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Say == nil {
		o.Say = func(string, ...any) {}
	}
	o.Limit = cmp.Or(o.Limit, fullPack)
	file := filepath.Join(o.Dir, "machine.db")
	c, err := newCoder(o.Recipients, nil)
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(o.Dir, 0o700); err != nil {
		return nil, fmt.Errorf("open machine's directory: %w", err)
	}
	db, err := bolt.Open(file, 0o600, &bolt.Options{Timeout: max(o.Wait, time.Millisecond)})
	if errors.Is(err, bolterrors.ErrTimeout) {
		err = ErrRunning
	}
	if err != nil {
		return nil, fmt.Errorf("open %s: %w", file, err)
	}
	m := &Machine{o: o, db: db, coder: c}
	err = db.View(func(tx *bolt.Tx) error {
		if b := tx.Bucket(bucketMeta); b != nil {
			return json.Unmarshal(b.Get(keyMeta), &m.meta, form)
		}
		return nil
	})
	if err == nil && len(m.meta.Seed) == 0 {
		err = m.renew()
	}
	if err != nil {
		db.Close()
		return nil, fmt.Errorf("read %s: %w", file, err)
	}
	return m, nil
}

// renew makes the machine a new one with an empty prefix. What it has pushed so far stays readable under its old name.
func (m *Machine) renew() error {
	next := meta{Seed: make([]byte, ed25519.SeedSize)}
	rand.Read(next.Seed) // never fails
	err := m.db.Update(func(tx *bolt.Tx) error {
		for _, b := range [][]byte{bucketMeta, bucketSessions, bucketPacks} {
			if err := tx.DeleteBucket(b); err != nil && !errors.Is(err, bolterrors.ErrBucketNotFound) {
				return err
			}
			if _, err := tx.CreateBucket(b); err != nil {
				return err
			}
		}
		return putJSON(tx.Bucket(bucketMeta), keyMeta, next)
	})
	if err != nil {
		return fmt.Errorf("give the machine a name: %w", err)
	}
	m.meta = next
	return nil
}

func putJSON(b *bolt.Bucket, key []byte, v any) error {
	value, err := json.Marshal(v, form)
	if err != nil {
		return err
	}
	return b.Put(key, value)
}

// Close unlocks the directory. It fails if the file cannot be closed.
func (m *Machine) Close() error { return m.db.Close() }

// ID returns the machine's name in the store.
func (m *Machine) ID() string { return machineOf(m.meta.key().Public().(ed25519.PublicKey)) }

// readJSON returns the values of a bucket.
func readJSON[T any](db *bolt.DB, bucket []byte) (all map[string]T, err error) {
	all = map[string]T{}
	err = db.View(func(tx *bolt.Tx) error {
		return tx.Bucket(bucket).ForEach(func(k, v []byte) error {
			var one T
			if err := json.Unmarshal(v, &one, form); err != nil {
				return fmt.Errorf("read what was pushed: %w", err)
			}
			all[string(k)] = one
			return nil
		})
	})
	return all, err
}

// update changes what is stored of the machine.
func (m *Machine) update(do func(about, sessions, packs *bolt.Bucket) error) error {
	err := m.db.Update(func(tx *bolt.Tx) error {
		return do(tx.Bucket(bucketMeta), tx.Bucket(bucketSessions), tx.Bucket(bucketPacks))
	})
	return wrap(err, "store what was pushed")
}

func wrap(err error, what string) error {
	if err != nil {
		return fmt.Errorf("%s: %w", what, err)
	}
	return nil
}

// ErrNoConditions is returned by Begin for a store that ignores conditions: two machines with one name would not notice
// each other.
var ErrNoConditions = errors.New("the store ignores If-None-Match")

// Begin makes the object that names the format of the store, or checks it. It fails with ErrNoConditions if packs can be replaced.
func Begin(ctx context.Context, s Store) error {
	var b []byte
	err := s.Put(ctx, formatName, []byte(formatBody), true)
	if err == nil || errors.Is(err, ErrConflict) {
		err = s.Put(ctx, formatName, []byte(formatBody), true)
	}
	switch {
	case err == nil:
		err = ErrNoConditions
	case errors.Is(err, ErrConflict):
		if b, _, err = s.Get(ctx, formatName, -1); err == nil && string(b) != formatBody {
			err = fmt.Errorf("%s: this is not format 2; a newer ccd may have made it", formatName)
		}
	}
	return wrap(err, "begin the store")
}

var (
	// errFork is returned if another machine writes under the same name: one is a clone of the other.
	errFork = errors.New("another machine has pushed under this machine's name: one is a copy of the other")
	// errOther is returned if the archive is not the one that was pushed.
	errOther = errors.New("the archive is not the one that was pushed")
)

// resume ends a round that was interrupted.
func (m *Machine) resume(ctx context.Context) error {
	var r *round
	err := m.db.View(func(tx *bolt.Tx) error {
		if b := tx.Bucket(bucketMeta).Get(keyPending); b != nil {
			return json.Unmarshal(b, &r, form)
		}
		return nil
	})
	if err != nil || r == nil {
		return err
	}
	switch err := m.wrote(ctx, r.object(m), r.Proof); {
	case errors.Is(err, ErrAbsent):
		return m.update(func(about, _, _ *bolt.Bucket) error { return about.Delete(keyPending) })
	case err != nil:
		return err
	}
	return m.finish(ctx, r)
}

// send writes the pack of a round, then its head.
func (m *Machine) send(ctx context.Context, r *round, pack []byte) error {
	if err := m.update(func(about, _, _ *bolt.Bucket) error { return putJSON(about, keyPending, r) }); err != nil {
		return err
	}
	if err := m.create(ctx, r.object(m), pack); err != nil {
		return err
	}
	return m.finish(ctx, r)
}

func (r *round) number() number { return number{last: r.Meta.Seq, first: r.Meta.Seq} }

func (r *round) object(m *Machine) string { return packObject(m.ID(), r.number()) }

// create writes a pack. It fails with errFork if another machine has written one with its name.
func (m *Machine) create(ctx context.Context, name string, pack []byte) error {
	err := m.o.Store.Put(ctx, name, pack, true)
	if errors.Is(err, ErrConflict) { // an answer may have been lost
		err = m.wrote(ctx, name, pack[:proofSize])
	}
	return wrap(err, "write pack")
}

// wrote fails unless the store has a pack that begins with proof: with ErrAbsent if there is none with its name, with errFork
// if it is another one.
func (m *Machine) wrote(ctx context.Context, name string, proof []byte) error {
	begins, _, err := m.o.Store.Get(ctx, name, int64(len(proof)))
	if err == nil && !bytes.Equal(begins, proof) {
		return errFork
	}
	return wrap(err, "read pack")
}

// finish writes the head of a round whose pack is in the store.
func (m *Machine) finish(ctx context.Context, r *round) error {
	if err := m.o.Store.Put(ctx, headsPrefix+m.ID(), r.Head, false); err != nil {
		return fmt.Errorf("write head: %w", err)
	}
	r.Meta.Seen = m.o.Now()
	err := m.update(func(about, sessions, packs *bolt.Bucket) error {
		for k, s := range r.Sessions {
			if err := putJSON(sessions, []byte(k), s); err != nil {
				return err
			}
		}
		for _, k := range r.Removed {
			if err := sessions.Delete([]byte(k)); err != nil {
				return err
			}
		}
		return errors.Join(putJSON(packs, []byte(r.number().String()), r.Pack), about.Delete(keyPending), putJSON(about, keyMeta, r.Meta))
	})
	if err == nil {
		m.meta = r.Meta
	}
	return err
}

// look fails unless the store has the head that this machine wrote last: with errFork if another machine has its key, else
// with ErrBadCopy.
func (m *Machine) look(ctx context.Context) error {
	if m.meta.Seq == 0 {
		return nil
	}
	name := headsPrefix + m.ID()
	object, _, err := m.o.Store.Get(ctx, name, -1)
	if errors.Is(err, ErrAbsent) {
		return badCopy(name, "it is missing; this machine has written it %d times", m.meta.Seq)
	}
	if err != nil {
		return fmt.Errorf("read head: %w", err)
	}
	h, err := decodeHead(m.ID(), object)
	switch {
	case err != nil:
		return err
	case h.Seq > m.meta.Seq:
		return errFork
	case !bytes.Equal(h.hash, m.meta.Past[0]):
		return badCopy(name, "it is an old one (number %d, the last one is %d)", h.Seq, m.meta.Seq)
	}
	m.meta.Seen = m.o.Now()
	return m.update(func(about, _, _ *bolt.Bucket) error { return putJSON(about, keyMeta, m.meta) })
}

// lookDaily looks at the head once a day, so that a machine without news notices that its copy is gone, or the store.
func (m *Machine) lookDaily(ctx context.Context) error {
	if age := m.o.Now().Sub(m.meta.Seen); age >= 0 && age < 24*time.Hour {
		return nil
	}
	return m.look(ctx)
}
