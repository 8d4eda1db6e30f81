package remote

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"filippo.io/age"
	bolt "go.etcd.io/bbolt"
	bolterrors "go.etcd.io/bbolt/errors"

	"ccd/archive"
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
	Limit      int           // bytes of frames after which a pack is full; 0: what a pack can have
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
	Seed       []byte               `json:"seed"` // of its signing key
	Archive    string               `json:"archive,omitempty"`
	Seq        int64                `json:"seq"` // of the last head; 0: none yet
	Past       [][]byte             `json:"past,omitempty"`
	Tag        string               `json:"tag,omitempty"` // of the last head's object
	Seen       time.Time            `json:"seen,omitzero"` // when the store last had that head
	Catalogues []ref                `json:"catalogues,omitempty"`
	Forgotten  []Forgotten          `json:"forgotten,omitempty"`
	Tombs      []byte               `json:"tombs,omitempty"` // hash of the archive's file of tombstones
	Names      []string             `json:"recipients,omitempty"`
	Label      string               `json:"label,omitempty"`
	Garbage    map[string]time.Time `json:"garbage,omitempty"` // objects that no head names, and since when
}

func (m *meta) key() ed25519.PrivateKey { return ed25519.NewKeyFromSeed(m.Seed) }

func (m *meta) machine() string { return machineOf(m.key().Public().(ed25519.PublicKey)) }

// pushed is what was pushed of a session.
type pushed struct {
	Session     Session            `json:"session"`
	Revision    int                `json:"rev,omitempty"`
	Generations []pushedGeneration `json:"generations"`
	State       []byte             `json:"state,omitempty"` // hash of the daemon's state
}

// pushedGeneration is what was pushed of a generation.
type pushedGeneration struct {
	Off    int64  `json:"off"`
	Digest []byte `json:"digest"` // state of SHA-256 over these bytes
}

func (p pushed) clone() pushed {
	p.Generations = slices.Clone(p.Generations)
	return p
}

// listed is a pack that the machine's head names, in itself or in a catalogue.
type listed struct {
	Pack
	Catalogued bool `json:"catalogued,omitempty"`
}

// round is one change of the head. It is stored before the head is sent, so that a lost answer loses nothing.
type round struct {
	Head     []byte            `json:"head"`
	Meta     meta              `json:"meta"` // after it
	Sessions map[string]pushed `json:"sessions,omitempty"`
	Removed  []string          `json:"removed,omitempty"` // sessions that were forgotten
	Packs    []listed          `json:"packs,omitempty"`   // new or changed
	Dropped  []string          `json:"dropped,omitempty"` // packs
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

// OpenMachine opens a machine's directory and creates its signing key if there is none.
func OpenMachine(o Options) (*Machine, error) {
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Say == nil {
		o.Say = func(string, ...any) {}
	}
	if o.Limit == 0 {
		o.Limit = fullPack
	}
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
	err = db.Update(func(tx *bolt.Tx) error {
		for _, b := range [][]byte{bucketMeta, bucketSessions, bucketPacks} {
			if _, err := tx.CreateBucketIfNotExists(b); err != nil {
				return err
			}
		}
		if b := tx.Bucket(bucketMeta).Get(keyMeta); b != nil {
			return json.Unmarshal(b, &m.meta)
		}
		m.meta = newMeta()
		return putJSON(tx.Bucket(bucketMeta), keyMeta, m.meta)
	})
	if err != nil {
		db.Close()
		return nil, fmt.Errorf("read %s: %w", file, err)
	}
	return m, nil
}

func newMeta() meta {
	seed := make([]byte, ed25519.SeedSize)
	rand.Read(seed) // never fails
	return meta{Seed: seed}
}

func putJSON(b *bolt.Bucket, key []byte, v any) error {
	value, err := json.Marshal(v)
	if err != nil {
		return err
	}
	return b.Put(key, value)
}

// Close unlocks the directory.
func (m *Machine) Close() error { return m.db.Close() }

// ID returns the machine's name in the store.
func (m *Machine) ID() string { return m.meta.machine() }

// readJSON returns the values of a bucket.
func readJSON[T any](db *bolt.DB, bucket []byte) (all map[string]T, err error) {
	all = map[string]T{}
	err = db.View(func(tx *bolt.Tx) error {
		return tx.Bucket(bucket).ForEach(func(k, v []byte) error {
			var one T
			if err := json.Unmarshal(v, &one); err != nil {
				return fmt.Errorf("read what was pushed: %w", err)
			}
			all[string(k)] = one
			return nil
		})
	})
	return all, err
}

// pending returns the round whose head may or may not have been written.
func (m *Machine) pending() (*round, error) {
	var r *round
	err := m.db.View(func(tx *bolt.Tx) error {
		if b := tx.Bucket(bucketMeta).Get(keyPending); b != nil {
			return json.Unmarshal(b, &r)
		}
		return nil
	})
	return r, err
}

func (m *Machine) setPending(r *round) error {
	return m.db.Update(func(tx *bolt.Tx) error { return putJSON(tx.Bucket(bucketMeta), keyPending, r) })
}

// apply stores what a round whose head was written has changed.
func (m *Machine) apply(r *round, tag string) error {
	r.Meta.Tag, r.Meta.Seen = tag, m.o.Now()
	err := m.db.Update(func(tx *bolt.Tx) error {
		sessions, packs, about := tx.Bucket(bucketSessions), tx.Bucket(bucketPacks), tx.Bucket(bucketMeta)
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
		for _, p := range r.Packs {
			if err := putJSON(packs, []byte(p.Name), p); err != nil {
				return err
			}
		}
		for _, name := range r.Dropped {
			if err := packs.Delete([]byte(name)); err != nil {
				return err
			}
		}
		if err := about.Delete(keyPending); err != nil {
			return err
		}
		return putJSON(about, keyMeta, r.Meta)
	})
	if err != nil {
		return fmt.Errorf("store what was pushed: %w", err)
	}
	m.meta = r.Meta
	return nil
}

// Renew makes the machine a new one with an empty prefix. What it has pushed so far stays readable under its old name.
func (m *Machine) Renew() error {
	next := newMeta()
	err := m.db.Update(func(tx *bolt.Tx) error {
		for _, b := range [][]byte{bucketSessions, bucketPacks} {
			if err := tx.DeleteBucket(b); err != nil {
				return err
			}
			if _, err := tx.CreateBucket(b); err != nil {
				return err
			}
		}
		if err := tx.Bucket(bucketMeta).Delete(keyPending); err != nil {
			return err
		}
		return putJSON(tx.Bucket(bucketMeta), keyMeta, next)
	})
	if err != nil {
		return fmt.Errorf("give the machine a new name: %w", err)
	}
	m.meta = next
	return nil
}

// ErrNoConditions is returned by Begin for a store that ignores conditions: two machines with one name would not notice
// each other.
var ErrNoConditions = errors.New("the store ignores If-Match or If-None-Match")

// Begin creates the object that says which format the store has, or checks it, and that the store honors conditions.
func Begin(ctx context.Context, s Store) error {
	return wrap(begin(ctx, s), "begin the store")
}

func begin(ctx context.Context, s Store) error {
	_, err := s.Put(ctx, formatName, []byte(formatBody), Condition{})
	for _, c := range []Condition{{}, {Tag: "0"}} { // neither is met
		if err != nil && !errors.Is(err, ErrConflict) {
			return err
		}
		if _, err = s.Put(ctx, formatName, []byte(formatBody), c); err == nil {
			return ErrNoConditions
		}
	}
	if !errors.Is(err, ErrConflict) {
		return err
	}
	b, _, err := s.Get(ctx, formatName, 0, -1)
	if err == nil && !bytes.Equal(b, []byte(formatBody)) {
		err = fmt.Errorf("%s: this is not format %d; a newer ccd may have made it", formatName, Version)
	}
	return err
}

func wrap(err error, what string) error {
	if err != nil {
		return fmt.Errorf("%s: %w", what, err)
	}
	return nil
}

var (
	// errFork is returned if another machine writes under the same name: one is a clone of the other.
	errFork = errors.New("another machine has pushed under this machine's name: one is a copy of the other")
	// errOther is returned if the archive is not the one that was pushed.
	errOther = errors.New("the archive is not the one that was pushed")
)

// settle ends a round whose head may or may not have been written.
func (m *Machine) settle(ctx context.Context) error {
	r, err := m.pending()
	if err != nil || r == nil {
		return err
	}
	return m.resolve(ctx, r)
}

// send writes the head of a round.
func (m *Machine) send(ctx context.Context, r *round) error {
	if err := m.setPending(r); err != nil {
		return fmt.Errorf("store the head to be written: %w", err)
	}
	tag, err := m.o.Store.Put(ctx, headsPrefix+m.ID(), r.Head, Condition{m.meta.Tag})
	switch {
	case errors.Is(err, ErrConflict) || errors.Is(err, ErrAbsent): // an answer may have been lost
		return m.resolve(ctx, r)
	case err != nil:
		return fmt.Errorf("write head: %w", err)
	}
	return m.apply(r, tag)
}

// resolve finds out what became of a round's head: it was written, or is written now, or another machine has written.
func (m *Machine) resolve(ctx context.Context, r *round) error {
	b, tag, err := m.stored(ctx)
	if err != nil {
		return err
	}
	if b != nil && bytes.Equal(hash(b), hash(r.Head)) {
		return m.apply(r, tag)
	}
	if err := m.checkHead(b); err != nil {
		return err
	}
	tag, err = m.o.Store.Put(ctx, headsPrefix+m.ID(), r.Head, Condition{tag})
	if errors.Is(err, ErrConflict) {
		b, tag, err = m.stored(ctx)
		if err == nil && !bytes.Equal(b, r.Head) {
			if err = m.checkHead(b); err == nil { // no fork: the object has changed, but the store still shows the old one
				err = fmt.Errorf("%w: it shows an old head", ErrBusy)
			}
		}
	}
	if err != nil {
		return fmt.Errorf("write head: %w", err)
	}
	return m.apply(r, tag)
}

// lookDaily checks the head once a day, so that a machine without news notices that its copy is gone, or the store.
func (m *Machine) lookDaily(ctx context.Context) error {
	now := m.o.Now()
	if age := now.Sub(m.meta.Seen); m.meta.Seq == 0 || age >= 0 && age < 24*time.Hour {
		return nil
	}
	object, _, err := m.stored(ctx)
	if err == nil {
		err = m.checkHead(object)
	}
	if err != nil {
		return err
	}
	m.meta.Seen = now
	return wrap(m.db.Update(func(tx *bolt.Tx) error { return putJSON(tx.Bucket(bucketMeta), keyMeta, m.meta) }), "store when the head was seen")
}

// stored returns the machine's head in the store, or nil.
func (m *Machine) stored(ctx context.Context) ([]byte, string, error) {
	b, tag, err := m.o.Store.Get(ctx, headsPrefix+m.ID(), 0, -1)
	if errors.Is(err, ErrAbsent) {
		return nil, "", nil
	}
	return b, tag, wrap(err, "read head")
}

// checkHead fails unless a head is the one that this machine wrote last: with errFork if another machine has its key, else
// with ErrBadCopy.
func (m *Machine) checkHead(object []byte) error {
	name := headsPrefix + m.ID()
	switch {
	case object == nil && m.meta.Seq == 0:
		return nil
	case object == nil:
		return badCopy(name, "it is missing; this machine has written it %d times", m.meta.Seq)
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
	return nil
}
