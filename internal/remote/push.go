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

	touched map[string]bool // sessions with new bytes: one may be in several packs
}

// Push uploads what the store lacks of the archive: one pack and one head, or several if there is more than a pack can
// contain. If there is nothing new, it reads the head once a day, and else makes no request. If the machine's name is used by
// a clone, or the archive is another one, the machine takes a new name and pushes everything. It fails as the store does.
func (m *Machine) Push(ctx context.Context) (p Pushed, err error) {
	p.touched = map[string]bool{}
	for more := true; more; {
		more, err = m.push(ctx, &p)
		if (errors.Is(err, errFork) || errors.Is(err, errOther)) && p.Renewed == "" {
			p.Renewed = err.Error()
			m.o.Say("%v; this machine (%s) continues under a new name, nothing is lost", err, m.ID())
			err, more = m.renew(), true
		}
		if err != nil {
			break
		}
	}
	p.Machine, p.Sessions = m.ID(), len(p.touched)
	return p, wrap(err, "push")
}

func (m *Machine) push(ctx context.Context, p *Pushed) (more bool, err error) {
	if err := m.resume(ctx); err != nil {
		return false, err
	}
	c, err := m.collect(ctx)
	if p.Damaged = c.damaged; err != nil {
		return false, err
	}
	if len(c.parts) == 0 && !c.headChanged {
		return false, m.lookDaily(ctx)
	}
	if err := m.look(ctx); err != nil {
		return false, err
	}
	sent, err := m.commit(ctx, c)
	if err != nil {
		return false, err
	}
	for _, part := range c.parts {
		if len(part.Stretches) > 0 {
			p.touched[keyOf(part.Session.Key)] = true
		}
	}
	p.Bytes, p.Packs, p.Sent = p.Bytes+int64(len(c.data)), p.Packs+1, p.Sent+sent
	return c.more, nil
}

// collection is what the next pack will have.
type collection struct {
	round
	known       map[string]pushed
	tombstones  []byte
	parts       []Part
	data        []byte
	size        int64 // of both in bytes, about
	more        bool  // the pack is full
	headChanged bool  // the head changes without new bytes
	damaged     []string
}

func keyOf(k transcript.Key) string { return k.Agent + "\x00" + k.ID }

// collect prepares a round with what is new in the archive.
func (m *Machine) collect(ctx context.Context) (*collection, error) {
	c := &collection{round: round{Meta: m.meta, Sessions: map[string]pushed{}}}
	c.Meta.Seq++
	c.Meta.Forgotten = slices.Clone(m.meta.Forgotten)
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
	if c.tombstones, err = m.tombstonesHash(); err != nil {
		return c, err
	}
	all, damaged, err := m.sessions(ctx)
	if err != nil {
		return c, err
	}
	c.damaged = damaged
	m.addTombstones(c, all)
	for _, s := range all {
		if err := m.addSession(ctx, c, s); err != nil {
			return c, err
		}
		if c.more {
			break
		}
	}
	if c.Meta.Archive = id; !c.more {
		c.Meta.Tombs = c.tombstones
	}
	c.headChanged = c.headChanged || m.meta.Seq > 0 && (m.meta.Label != m.o.Label || !slices.Equal(m.meta.Names, m.o.Names))
	return c, nil
}

// sessions returns the archived sessions, and a message for each that cannot be read.
func (m *Machine) sessions(ctx context.Context) (all []archive.Session, damaged []string, err error) {
	all, err = m.o.Archive.Sessions(ctx)
	for _, err := range archive.Damages(err) {
		if !errors.As(err, new(*archive.DamageError)) {
			return nil, nil, fmt.Errorf("read archive: %w", err)
		}
		damaged = append(damaged, err.Error())
	}
	return all, damaged, nil
}

// tombstonesHash returns the hash of the archive's tombstones: only if it has changed can bytes differ from those pushed.
func (m *Machine) tombstonesHash() ([]byte, error) {
	b, err := os.ReadFile(m.o.Archive.Path() + ".forgotten")
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return hash(b), wrap(err, "read tombstones")
}

// addTombstones adds tombstones for sessions that were forgotten.
func (m *Machine) addTombstones(c *collection, all []archive.Session) {
	if bytes.Equal(c.tombstones, m.meta.Tombs) {
		return
	}
	here := map[string]bool{}
	for _, s := range all {
		here[keyOf(s.Key)] = true
	}
	for _, k := range slices.Sorted(maps.Keys(c.known)) {
		if s := c.known[k].Session; !here[k] && m.o.Archive.Forgets(s) {
			c.forget(s.Key)
			c.Removed = append(c.Removed, k)
		}
	}
}

// forget adds a tombstone. The newest one of a session counts.
func (c *collection) forget(k transcript.Key) {
	c.Meta.Forgotten = slices.DeleteFunc(c.Meta.Forgotten, func(f Forgotten) bool { return f.Key == k })
	c.Meta.Forgotten = append(c.Meta.Forgotten, Forgotten{k, c.Meta.Seq})
	c.headChanged = true
}

// errChanged is returned if bytes that were pushed are different now.
var errChanged = errors.New("pushed bytes have changed")

// news is what is new of one session.
type news struct {
	part Part
	data []byte
	now  pushed
	more bool // there was no room for all
}

// partSize is about the size of a part's entry in bytes.
const partSize = 512

// addSession adds what is new of a session: all of it if bytes that were pushed have been forgotten.
func (m *Machine) addSession(ctx context.Context, c *collection, s archive.Session) error {
	room := m.o.Limit - c.size
	was := c.known[keyOf(s.Key)]
	n, err := m.newsOf(ctx, s, was, room)
	if errors.Is(err, errChanged) {
		if c.tombstones, err = m.tombstonesHash(); err != nil {
			return err
		}
		if bytes.Equal(c.tombstones, m.meta.Tombs) || len(was.Generations) == 0 {
			return errOther
		}
		c.forget(s.Key)
		n, err = m.newsOf(ctx, s, pushed{}, room)
	}
	switch {
	case errors.As(err, new(*archive.DamageError)), errors.Is(err, archive.ErrNotFound): // the rest is not delayed by it
		c.damaged = append(c.damaged, err.Error())
		return nil
	case err != nil:
		return fmt.Errorf("read archive: %w", err)
	}
	if len(n.part.Stretches) > 0 || n.part.State != nil {
		c.parts, c.data = append(c.parts, n.part), append(c.data, n.data...)
		c.Sessions[keyOf(s.Key)] = n.now
		c.size += int64(len(n.data) + len(n.part.State) + partSize)
	}
	c.more = n.more || c.size >= m.o.Limit
	return nil
}

// newsOf returns what is new of each generation, and the daemon's state if it has changed.
func (m *Machine) newsOf(ctx context.Context, s archive.Session, was pushed, room int64) (n news, err error) {
	n.now = pushed{s.Session, slices.Clone(was.Generations), was.State}
	n.part.Session = n.now.Session
	if len(was.Generations) > len(s.Generations) {
		return n, errOther
	}
	for i, g := range s.Generations {
		if i == len(n.now.Generations) {
			empty, _ := sha256.New().(encoding.BinaryMarshaler).MarshalBinary() // never fails
			n.now.Generations = append(n.now.Generations, pushedGeneration{Digest: empty})
			if g.Tip.Offset == 0 {
				n.part.Stretches = append(n.part.Stretches, Stretch{Generation: g.N, Sum: hash(nil)})
			}
		}
		if err := m.addGeneration(ctx, &n, s, i, room); err != nil || n.more {
			return n, err
		}
	}
	if sum := hash(s.State); len(s.State) > 0 && len(s.State) <= maxPiece && !bytes.Equal(sum, was.State) {
		n.part.State, n.now.State = s.State, sum
	}
	return n, nil
}

// addGeneration adds what is new of a generation, and checks that what was pushed before is still the same.
func (m *Machine) addGeneration(ctx context.Context, n *news, s archive.Session, i int, room int64) error {
	g, done := s.Generations[i], &n.now.Generations[i]
	digest := sha256.New()
	if err := digest.(encoding.BinaryUnmarshaler).UnmarshalBinary(done.Digest); err != nil {
		return fmt.Errorf("read what was pushed: %w", err)
	}
	if g.Tip.Offset < done.Off {
		return errOther
	}
	r := m.o.Archive.Reader(s.Key, g.N)
	for done.Off < g.Tip.Offset {
		if int64(len(n.data)) >= room {
			n.more = true
			break
		}
		t := Stretch{Generation: g.N, Off: done.Off, Len: min(g.Tip.Offset-done.Off, maxPiece)}
		data, err := r.Span(ctx, transcript.Span{Off: t.Off, Len: t.Len})
		if err != nil {
			return err
		}
		digest.Write(data)
		t.Sum = digest.Sum(nil)
		n.data = append(n.data, data...)
		n.part.Stretches = append(n.part.Stretches, t)
		done.Off += t.Len
	}
	state, err := digest.(encoding.BinaryMarshaler).MarshalBinary()
	if done.Digest = state; err == nil && done.Off == g.Tip.Offset && mark.Hash(digest.Sum(nil)) != g.Sum {
		err = errChanged
	}
	return err
}

// commit uploads a pack, then its head. It returns the size of the pack.
func (m *Machine) commit(ctx context.Context, c *collection) (size int64, err error) {
	pack, err := m.coder.encodePack(c.number(), c.parts, c.data, m.meta.key())
	if err != nil {
		return 0, err
	}
	c.Proof, c.Pack = pack[:proofSize], stored{int64(len(pack)), withoutStates(c.parts)}
	maps.Copy(c.known, c.Sessions)
	for _, k := range c.Removed {
		delete(c.known, k)
	}
	h := Head{Seq: c.Meta.Seq, Past: m.meta.Past, Time: m.o.Now().UTC(), inner: Inner{Label: m.o.Label, Forgotten: c.Meta.Forgotten}}
	for _, s := range c.known {
		h.inner.Sessions++
		for _, g := range s.Generations {
			h.inner.Bytes += g.Off
		}
	}
	if c.Head, err = m.coder.encodeHead(&h, m.meta.key()); err != nil {
		return 0, err
	}
	c.Meta.Names, c.Meta.Label = m.o.Names, m.o.Label
	c.Meta.Past = append([][]byte{h.hash}, m.meta.Past[:min(len(m.meta.Past), maxPast-1)]...)
	return int64(len(pack)), m.send(ctx, &c.round, pack)
}

func withoutStates(parts []Part) []Part {
	parts = slices.Clone(parts)
	for i := range parts {
		parts[i].State = nil
	}
	return parts
}

// Lag compares the archive with what was pushed. It makes no request. It fails if the archive cannot be read.
func (m *Machine) Lag(ctx context.Context) (l pulled.Lag, err error) {
	known, err := readJSON[pushed](m.db, bucketSessions)
	if err != nil {
		return l, err
	}
	all, _, err := m.sessions(ctx)
	if err != nil {
		return l, err
	}
	for _, s := range all {
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
