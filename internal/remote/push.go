package remote

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"slices"
	"strings"
	"time"

	"ccd/archive"
	"ccd/internal/mark"
	"ccd/internal/remote/pulled"
	"ccd/internal/transcript"
)

// Pushed is what a push has done.
type Pushed struct {
	Machine  string   `json:"machine"`
	Sessions int      `json:"sessions"` // with new bytes
	Bytes    int64    `json:"bytes"`    // of transcripts
	Packs    int      `json:"packs"`
	Sent     int64    `json:"sent_bytes"` // encrypted
	Renewed  string   `json:"renewed"`    // why the machine has a new name, "" if it has not
	Damaged  []string `json:"damaged"`    // sessions that could not be read

	touched map[string]bool // sessions with new bytes
}

// Push uploads what the store lacks of the archive: one pack and one head, or several if there is more than a pack can
// contain. If there is nothing new, it reads the head once a day, and else makes no request. If the machine's name is used by a clone, or the archive is
// another one, the machine takes a new name and pushes everything.
func (m *Machine) Push(ctx context.Context) (p Pushed, err error) {
	p.touched = map[string]bool{}
	for more := true; more; {
		more, err = m.push(ctx, &p)
		if (errors.Is(err, errFork) || errors.Is(err, errOther)) && p.Renewed == "" {
			p.Renewed = err.Error()
			m.o.Say("%v; this machine (%s) continues under a new name, nothing is lost", err, m.ID())
			err, more = m.Renew(), true
		}
		if err != nil {
			break
		}
	}
	p.Machine = m.ID()
	return p, wrap(err, "push")
}

func (m *Machine) push(ctx context.Context, p *Pushed) (more bool, err error) {
	if err := m.settle(ctx); err != nil {
		return false, err
	}
	c, err := m.collect(ctx)
	if p.Damaged = c.damaged; err != nil {
		return false, err
	}
	if !c.news() {
		return false, m.lookDaily(ctx)
	}
	if err := m.commit(ctx, c); err != nil {
		return false, err
	}
	maps.Copy(p.touched, c.touched) // a session may be in several packs
	p.Sessions, p.Bytes = len(p.touched), p.Bytes+c.bytes
	if c.sent > 0 {
		p.Packs, p.Sent = p.Packs+1, p.Sent+c.sent
	}
	return c.more, nil
}

// collection is a round that is being prepared.
type collection struct {
	packer
	round
	known       map[string]pushed
	tombs       []byte
	touched     map[string]bool // sessions with new bytes
	bytes       int64
	sent        int64
	more        bool // the pack is full
	headChanged bool // the head changes without new bytes
	damaged     []string
	all         bool // write all packs into catalogues
}

func (c *collection) news() bool {
	return len(c.parts) > 0 || c.headChanged || len(c.Dropped) > 0
}

func keyOf(k transcript.Key) string { return k.Agent + "\x00" + k.ID }

// begin starts a round.
func (m *Machine) begin() *collection {
	next := m.meta
	next.Catalogues, next.Forgotten = slices.Clone(next.Catalogues), slices.Clone(next.Forgotten)
	next.Garbage = maps.Clone(next.Garbage)
	if next.Garbage == nil {
		next.Garbage = map[string]time.Time{}
	}
	return &collection{packer: packer{coder: m.coder}, round: round{Meta: next, Sessions: map[string]pushed{}}, touched: map[string]bool{}}
}

// collect prepares a round with what is new in the archive.
func (m *Machine) collect(ctx context.Context) (*collection, error) {
	c := m.begin()
	id, err := m.o.Archive.ID(ctx)
	if err != nil || id == "" {
		return c, wrap(err, "read archive")
	}
	if m.meta.Archive != "" && m.meta.Archive != id {
		return c, errOther
	}
	if c.known, err = readJSON[pushed](m.db, bucketSessions); err != nil {
		return c, err
	}
	if c.tombs, err = m.tombs(); err != nil {
		return c, err
	}
	stored, damaged, err := m.sessions(ctx)
	if err != nil {
		return c, err
	}
	c.damaged = damaged
	m.addTombstones(c, stored)
	for _, s := range stored {
		if c.more {
			break
		}
		if err := m.addSession(ctx, c, s); err != nil {
			return c, err
		}
	}
	if c.Meta.Archive = id; !c.more {
		c.Meta.Tombs = c.tombs
	}
	c.headChanged = c.headChanged || m.meta.Seq > 0 && (m.meta.Label != m.o.Label || !slices.Equal(m.meta.Names, m.o.Names))
	return c, nil
}

// sessions returns the archived sessions, and a message for each that cannot be read.
func (m *Machine) sessions(ctx context.Context) (stored []archive.Session, damaged []string, err error) {
	stored, err = m.o.Archive.Sessions(ctx)
	for _, err := range archive.Damages(err) {
		if !errors.As(err, new(*archive.DamageError)) {
			return nil, nil, fmt.Errorf("read archive: %w", err)
		}
		damaged = append(damaged, err.Error())
	}
	return stored, damaged, nil
}

// tombs returns the hash of the archive's tombstones: only if it has changed can bytes differ from those pushed.
func (m *Machine) tombs() ([]byte, error) {
	b, err := os.ReadFile(m.o.Archive.Path() + ".forgotten")
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return hash(b), wrap(err, "read tombstones")
}

// addTombstones adds tombstones for sessions that were forgotten.
func (m *Machine) addTombstones(c *collection, stored []archive.Session) {
	if bytes.Equal(c.tombs, m.meta.Tombs) {
		return
	}
	here := map[string]bool{}
	for _, s := range stored {
		here[keyOf(s.Key)] = true
	}
	for _, k := range slices.Sorted(maps.Keys(c.known)) {
		if s := c.known[k].Session; !here[k] && m.o.Archive.Forgets(s.Transcript()) {
			c.forget(s, -1)
			c.Removed = append(c.Removed, k)
		}
	}
}

// forget adds a tombstone. The newest one of a session counts.
func (c *collection) forget(s Session, revision int) {
	c.Meta.Forgotten = slices.DeleteFunc(c.Meta.Forgotten, func(f Forgotten) bool { return f.Agent == s.Agent && f.ID == s.ID })
	c.Meta.Forgotten = append(c.Meta.Forgotten, Forgotten{s.Agent, s.ID, revision})
	c.headChanged = true
}

// errChanged is returned if bytes that were pushed are different now.
var errChanged = errors.New("pushed bytes have changed")

// addSession adds what is new of a session.
func (m *Machine) addSession(ctx context.Context, c *collection, s archive.Session) error {
	k := keyOf(s.Key)
	frames, parts := len(c.frames), len(c.parts)
	was, bytesBefore := c.known[k], c.bytes
	undo := func() { c.frames, c.parts, c.more, c.bytes = c.frames[:frames], c.parts[:parts], false, bytesBefore }
	for {
		now := was.clone()
		now.Session = sessionOf(s.Session)
		err := m.addGenerations(ctx, c, s, &now)
		switch {
		case errors.Is(err, errChanged):
			if c.tombs, err = m.tombs(); err != nil {
				return err
			}
			if bytes.Equal(c.tombs, m.meta.Tombs) || len(was.Generations) == 0 {
				return errOther
			}
			undo()
			was = pushed{Revision: was.Revision + 1}
			c.forget(now.Session, was.Revision)
			continue
		case errors.As(err, new(*archive.DamageError)), errors.Is(err, archive.ErrNotFound): // the rest is not delayed by it
			undo()
			c.damaged = append(c.damaged, err.Error())
			return nil
		case err != nil:
			return fmt.Errorf("read archive: %w", err)
		}
		if len(c.parts) > parts {
			c.Sessions[k], c.touched[k] = now, true
		}
		return nil
	}
}

// addGenerations adds what is new of each generation, then the daemon's state.
func (m *Machine) addGenerations(ctx context.Context, c *collection, s archive.Session, now *pushed) error {
	if len(now.Generations) > len(s.Generations) {
		return errOther
	}
	for i, g := range s.Generations {
		if c.more {
			return nil
		}
		if i == len(now.Generations) {
			empty, _ := sha256.New().(encoding.BinaryMarshaler).MarshalBinary() // never fails
			now.Generations = append(now.Generations, pushedGeneration{Digest: empty})
			if g.Tip.Offset == 0 {
				c.part(now.Session, now.Revision, Stretch{Generation: g.N, Sum: hash(nil)})
			}
		}
		if err := m.addGeneration(ctx, c, s, i, now); err != nil {
			return err
		}
	}
	if sum := hash(s.State); !c.more && len(s.State) > 0 && len(s.State) <= maxFrame && !bytes.Equal(sum, now.State) {
		c.add(now.Session, now.Revision, Stretch{}, s.State)
		now.State = sum
	}
	return nil
}

// addGeneration adds what is new of a generation, and checks that what was pushed before is still the same.
func (m *Machine) addGeneration(ctx context.Context, c *collection, s archive.Session, i int, now *pushed) error {
	g, done := s.Generations[i], &now.Generations[i]
	digest := sha256.New()
	if err := digest.(encoding.BinaryUnmarshaler).UnmarshalBinary(done.Digest); err != nil {
		return fmt.Errorf("read what was pushed: %w", err)
	}
	if g.Tip.Offset < done.Off {
		return errOther
	}
	r := m.o.Archive.Reader(s.Key, g.N)
	same := shared{}
	if done.Off == 0 && i > 0 {
		var err error
		if same, err = compare(ctx, m.o.Archive.Reader(s.Key, s.Generations[i-1].N), s.Generations[i-1].Tip.Offset, r, g.Tip.Offset); err != nil {
			return err
		}
	}
	for done.Off < g.Tip.Offset {
		if len(c.frames) >= m.o.Limit {
			c.more = true
			break
		}
		t := Stretch{Generation: g.N, Off: done.Off}
		var n int64
		var copied bool
		n, t.From, copied = same.next(done.Off, g.Tip.Offset)
		data, err := r.Span(ctx, transcript.Span{Off: done.Off, Len: min(n, maxFrame)})
		if err != nil {
			return err
		}
		if copied {
			t.Len, t.Sum = int64(len(data)), hash(data)
			c.part(now.Session, now.Revision, t)
		} else {
			c.add(now.Session, now.Revision, t, data)
		}
		digest.Write(data)
		done.Off += int64(len(data))
		c.bytes += int64(len(data))
	}
	var err error
	done.Digest, err = digest.(encoding.BinaryMarshaler).MarshalBinary()
	if err == nil && done.Off == g.Tip.Offset && mark.Hash(digest.Sum(nil)) != g.Sum {
		err = errChanged
	}
	return err
}

// shared is what a generation has in common with the previous one: bytes at its beginning and at its end.
type shared struct {
	prefix, suffix int64
	old, size      int64 // of both
}

// leastShared is the number of bytes below which a copy is not worth an entry.
const leastShared = 4096

// compare finds out what two generations share.
func compare(ctx context.Context, old *archive.Reader, oldSize int64, r *archive.Reader, size int64) (shared, error) {
	s := shared{old: oldSize, size: size}
	most := min(oldSize, size)
	same, err := old.Common(ctx, r)
	if err != nil {
		return s, err
	}
	s.prefix = min(same, most)
	for s.suffix < most-s.prefix {
		n := min(most-s.prefix-s.suffix, 1<<20)
		a, err := old.Span(ctx, transcript.Span{Off: oldSize - s.suffix - n, Len: n})
		if err != nil {
			return s, err
		}
		b, err := r.Span(ctx, transcript.Span{Off: size - s.suffix - n, Len: n})
		if err != nil {
			return s, err
		}
		same := int64(0)
		for same < n && a[n-1-same] == b[n-1-same] {
			same++
		}
		if s.suffix += same; same < n {
			break
		}
	}
	if s.prefix < leastShared {
		s.prefix = 0
	}
	if s.suffix < leastShared {
		s.suffix = 0
	}
	return s, nil
}

// next returns the length of the run at off that is copied, from where, or is not.
func (s shared) next(off, size int64) (n, from int64, copied bool) {
	end := s.size - s.suffix // where the suffix begins
	switch {
	case s.prefix+s.suffix == 0:
		return size - off, 0, false
	case off < s.prefix:
		return s.prefix - off, off, true
	case off < end:
		return end - off, 0, false
	}
	return size - off, off - s.size + s.old, true
}

// commit uploads the pack of a round, then its head.
func (m *Machine) commit(ctx context.Context, c *collection) error {
	seq := m.meta.Seq + 1
	if len(c.parts) > 0 {
		pack, object, err := c.finish(c.number(seq))
		if err != nil {
			return err
		}
		if err := m.upload(ctx, packObject(m.ID(), pack.Name), object); err != nil {
			return err
		}
		c.Packs, c.sent = append(c.Packs, listed{Pack: pack}), pack.Size
	}
	packs, err := readJSON[listed](m.db, bucketPacks)
	if err != nil {
		return err
	}
	for _, p := range c.Packs {
		packs[p.Name] = p
	}
	for _, name := range c.Dropped {
		delete(packs, name)
		c.Meta.Garbage[packObject(m.ID(), name)] = m.o.Now()
	}
	loose, err := m.roll(ctx, c, packs)
	if err != nil {
		return err
	}
	c.Meta.Seq, c.Meta.Names, c.Meta.Label = seq, m.o.Names, m.o.Label
	h := Head{Seq: seq, Past: m.meta.Past, Time: m.o.Now().UTC()}
	inner := Inner{Label: m.o.Label, Catalogues: c.Meta.Catalogues, Packs: loose, Forgotten: c.Meta.Forgotten}
	if c.Head, err = m.coder.encodeHead(&h, inner, m.meta.key()); err != nil {
		return err
	}
	c.Meta.Past = append([][]byte{h.hash}, m.meta.Past[:min(len(m.meta.Past), maxPast-1)]...)
	return m.send(ctx, &c.round)
}

// number returns the number in the name of a round's pack. One that replaces others has the number of the first, because
// readers apply packs in this order.
func (c *collection) number(seq int64) int64 {
	if len(c.Dropped) == 0 {
		return seq
	}
	_, _ = fmt.Sscanf(slices.Min(c.Dropped), "%d", &seq) // the names are this package's
	return seq
}

// upload writes an object that is named by its hash.
func (m *Machine) upload(ctx context.Context, name string, object []byte) error {
	_, err := m.o.Store.Put(ctx, name, object, Condition{})
	if errors.Is(err, ErrConflict) { // the answer to an earlier try was lost
		err = nil
	}
	return wrap(err, "upload")
}

// roll returns the packs that the head lists itself. If there are too many, it puts them into a catalogue. Too many
// catalogues become one, because a new reader reads each.
func (m *Machine) roll(ctx context.Context, c *collection, packs map[string]listed) (loose []Pack, err error) {
	parts := 0
	c.all = c.all || len(c.Meta.Catalogues) >= maxLoose
	for _, name := range slices.Sorted(maps.Keys(packs)) {
		if p := packs[name]; !p.Catalogued || c.all {
			loose = append(loose, p.Pack)
			parts += len(p.Parts)
		}
	}
	if c.all {
		for _, old := range c.Meta.Catalogues {
			c.Meta.Garbage[catalogueObject(m.ID(), old.Name)] = m.o.Now()
		}
		c.Meta.Catalogues = nil
	}
	if len(loose) <= maxLoose && parts <= maxParts && !c.all {
		return loose, nil
	}
	for batch := range batches(loose) {
		object, err := c.sealJSON(catalogue{batch})
		if err != nil {
			return nil, err
		}
		name := fmt.Sprintf("%x", hash(object))
		if err := m.upload(ctx, catalogueObject(m.ID(), name), object); err != nil {
			return nil, err
		}
		c.Meta.Catalogues = append(c.Meta.Catalogues, ref{name, int64(len(object))})
		for _, p := range batch {
			c.Packs = slices.DeleteFunc(c.Packs, func(l listed) bool { return l.Name == p.Name })
			c.Packs = append(c.Packs, listed{p, true})
		}
	}
	return nil, nil
}

// batches yields runs of packs with up to about 50,000 sessions each, so that a catalogue stays below a pack's size.
func batches(packs []Pack) func(yield func([]Pack) bool) {
	return func(yield func([]Pack) bool) {
		from, parts := 0, 0
		for i, p := range packs {
			if parts += len(p.Parts); parts > 50_000 || i == len(packs)-1 {
				if !yield(packs[from : i+1]) {
					return
				}
				from, parts = i+1, 0
			}
		}
	}
}

// short returns an object's name as messages print it.
func short(name string) string { return strings.TrimPrefix(name, top) }

// Lag compares the archive with what was pushed. It makes no request.
func (m *Machine) Lag(ctx context.Context) (l pulled.Lag, err error) {
	known, err := readJSON[pushed](m.db, bucketSessions)
	if err != nil {
		return l, err
	}
	stored, _, err := m.sessions(ctx)
	if err != nil {
		return l, err
	}
	for _, s := range stored {
		done := known[keyOf(s.Key)]
		var behind int64
		for i, g := range s.Generations {
			if behind += g.Tip.Offset; i < len(done.Generations) {
				behind -= min(done.Generations[i].Off, g.Tip.Offset)
			}
		}
		if l.Bytes += behind; behind > 0 || len(done.Generations) < len(s.Generations) {
			l.Sessions++
		}
	}
	return l, nil
}
