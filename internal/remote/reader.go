package remote

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"
	"time"

	"filippo.io/age"
	"github.com/go-json-experiment/json"

	"ccd/archive"
	"ccd/internal/remote/pulled"
)

// Reader reads the copies of machines into archives of its own, one for each machine: the same session of two machines
// is never merged.
type Reader struct {
	o     ReaderOptions
	coder *coder
	tags  map[string]string // of the heads, by machine, as Names has seen them
}

// ReaderOptions configure a Reader.
type ReaderOptions struct {
	Dir        string // of the machines' archives, and of what was seen of each machine
	Store      Store
	Identities []age.Identity
	Archive    archive.Options // of each machine's archive
}

// OpenReader returns a reader.
func OpenReader(o ReaderOptions) (*Reader, error) {
	c, err := newCoder(nil, o.Identities)
	return &Reader{o, c, map[string]string{}}, err
}

func (r *Reader) remember(m pulled.Machine) error {
	if err := os.MkdirAll(r.o.Dir, 0o700); err != nil {
		return fmt.Errorf("store state of machine %s: %w", m.Machine, err)
	}
	return pulled.Write(r.o.Dir, m)
}

// Names returns the machines in the store, and those that were seen before but are missing now. It fails as the store does.
func (r *Reader) Names(ctx context.Context) (names, missing []string, err error) {
	for o, err := range r.o.Store.List(ctx, headsPrefix, "") {
		if err != nil {
			return nil, nil, fmt.Errorf("list machines: %w", err)
		}
		if name := strings.TrimPrefix(o.Name, headsPrefix); machineName().MatchString(name) {
			names = append(names, name)
			r.tags[name] = o.Tag
		}
	}
	known, err := pulled.List(r.o.Dir)
	for _, s := range known {
		if !slices.Contains(names, s.Machine) {
			missing = append(missing, s.Machine)
		}
	}
	return names, missing, err
}

// Known returns what a machine's head says, without a request if that is known and Names has seen no other head. With an error
// it returns what was known.
func (r *Reader) Known(ctx context.Context, machine string) (pulled.Machine, error) {
	m, err := pulled.Read(r.o.Dir, machine)
	if err != nil || m.Tag != "" && m.Tag == r.tags[machine] {
		return m, err
	}
	if _, err := r.head(ctx, machine); err != nil {
		return m, err
	}
	return pulled.Read(r.o.Dir, machine)
}

// head reads and verifies the head of a machine, and notes it. It fails with ErrBadCopy if the head is older than one that
// was seen before, or does not follow it.
func (r *Reader) head(ctx context.Context, machine string) (*Head, error) {
	m, err := pulled.Read(r.o.Dir, machine)
	if err != nil {
		return nil, err
	}
	name := headsPrefix + machine
	object, tag, err := r.o.Store.Get(ctx, name, -1)
	if errors.Is(err, ErrAbsent) {
		return nil, badCopy(name, "it is missing")
	}
	if err != nil {
		return nil, fmt.Errorf("read head of %s: %w", machine, err)
	}
	h, err := decodeHead(machine, object)
	if err == nil {
		err = h.follows(m)
	}
	if err != nil {
		return nil, err
	}
	inner, err := r.coder.open(name, h.Sealed)
	if err != nil {
		return nil, err
	}
	if err := json.Unmarshal(inner, &h.inner, form); err != nil {
		return nil, badCopy(name, "%v", err)
	}
	m.Label, m.Seq, m.Hash, m.Time, m.Tag, m.Sessions, m.Bytes = h.inner.Label, h.Seq, h.hash, h.Time, tag, h.inner.Sessions, h.inner.Bytes
	if err := r.remember(m); err != nil {
		return nil, err
	}
	return h, nil
}

// follows fails unless the head is the seen one or a later one.
func (h *Head) follows(s pulled.Machine) error {
	name := headsPrefix + h.machine
	back := h.Seq - s.Seq
	switch {
	case s.Seq == 0:
	case back < 0:
		return badCopy(name, "it is an old one (number %d, seen before: %d)", h.Seq, s.Seq)
	case back == 0 && !bytes.Equal(h.hash, s.Hash), back > 0 && back <= int64(len(h.Past)) && !bytes.Equal(h.Past[back-1], s.Hash):
		return badCopy(name, "it does not follow the head seen before (number %d)", s.Seq)
	}
	return nil
}

// list returns the packs in the store that end after a number.
func (r *Reader) list(ctx context.Context, machine string, at int64) (all []number, err error) {
	for o, err := range r.o.Store.List(ctx, prefixOf(machine), fmt.Sprintf("%010d", at+1)) {
		if err != nil {
			return nil, fmt.Errorf("list packs: %w", err)
		}
		if n, ok := numberOf(strings.TrimPrefix(o.Name, prefixOf(machine))); ok {
			all = append(all, n)
		}
	}
	return all, nil
}

// next returns the pack to read after number at: of several the one that reaches furthest and was written last.
func (h *Head) next(all []number, at int64) (next number, err error) {
	for _, n := range all {
		if n.first <= at+1 && n.last > at && n.last <= h.Seq && n.String() > next.String() {
			next = n
		}
	}
	if next.last == 0 {
		return next, badCopy(prefixOf(h.machine), "pack %d is missing", at+1)
	}
	return next, nil
}

// fetch reads and verifies a pack.
func (r *Reader) fetch(ctx context.Context, h *Head, n number) ([]Part, []byte, error) {
	name := packObject(h.machine, n)
	object, _, err := r.o.Store.Get(ctx, name, -1)
	if errors.Is(err, ErrAbsent) {
		return nil, nil, badCopy(name, "it is missing")
	}
	if err != nil {
		return nil, nil, fmt.Errorf("read %s: %w", short(name), err)
	}
	return r.coder.decodePack(h, n, object)
}

// Pulled is what a pull has done.
type Pulled struct {
	Machine  string `json:"machine"`
	Label    string `json:"label"`
	Sessions int    `json:"sessions"` // with new bytes
	Bytes    int64  `json:"bytes"`    // of transcripts
	Packs    int    `json:"packs"`
	Removed  int    `json:"removed"`  // sessions that the machine has forgotten, or of which it has forgotten some
	Repaired bool   `json:"repaired"` // what was pulled before was damaged or gone, so all was read again
}

// Pull brings the archive of a machine up to date with its copy. An interrupted pull continues where it was. It makes no
// request if Names has seen the head of the last complete pull.
func (r *Reader) Pull(ctx context.Context, machine string) (p Pulled, err error) {
	p.Machine = machine
	m, err := pulled.Read(r.o.Dir, machine)
	if err != nil {
		return p, err
	}
	if p.Label = m.Label; !r.intact(ctx, m) {
		p.Repaired = true
		if err := r.drop(&m); err != nil {
			return p, err
		}
	}
	if m.Tag == "" || m.Tag != r.tags[machine] || m.At < m.Seq {
		h, err := r.head(ctx, machine)
		if err != nil {
			return p, err
		}
		p.Label = h.inner.Label
		if m, err = pulled.Read(r.o.Dir, machine); err == nil {
			err = r.packs(ctx, h, &m, &p)
		}
		if errors.As(err, new(*archive.DamageError)) {
			err = errors.Join(err, r.drop(&m))
		}
		if err != nil {
			return p, fmt.Errorf("pull machine %s (%s): %w", p.Label, machine, err)
		}
	}
	if m, err = pulled.Read(r.o.Dir, machine); err == nil {
		m.Pulled = time.Now().UTC()
		err = r.remember(m)
	}
	return p, err
}

// intact reports whether the archive of a machine has the sessions that were pulled.
func (r *Reader) intact(ctx context.Context, m pulled.Machine) bool {
	if m.Here == 0 {
		return true
	}
	a, err := archive.Open(pulled.Archive(r.o.Dir, m.Machine), archive.Options{ReadOnly: true})
	if err != nil {
		return false
	}
	all, err := a.Sessions(ctx)
	return err == nil && len(all) >= m.Here
}

// drop removes the archive of a machine. What was seen of its head stays.
func (r *Reader) drop(m *pulled.Machine) error {
	m.At, m.Here, m.Pulled = 0, 0, time.Time{}
	files, err := archive.Files(pulled.Archive(r.o.Dir, m.Machine))
	for _, file := range files {
		if failed := os.Remove(file); !errors.Is(failed, fs.ErrNotExist) {
			err = errors.Join(err, failed)
		}
	}
	if err != nil {
		return fmt.Errorf("remove what was pulled: %w", err)
	}
	return r.remember(*m)
}

// packs reads the packs that are new. If what is here is damaged, which is only a copy, the next pull reads all of them.
func (r *Reader) packs(ctx context.Context, h *Head, m *pulled.Machine, p *Pulled) error {
	u, err := r.openUpdate(ctx, h)
	if err != nil {
		return err
	}
	if p.Removed, err = u.remove(ctx, m.At); err != nil {
		return err
	}
	all, listed := []number{{last: h.Seq, first: h.Seq}}, false // if one pack is new, its name is known
	for m.At < h.Seq {
		var parts []Part
		var data []byte
		n, err := h.next(all, m.At)
		if err == nil {
			parts, data, err = r.fetch(ctx, h, n)
		}
		if !listed && (errors.Is(err, ErrBadCopy) || errors.Is(err, ErrKey)) { // more are new, or gc has replaced it
			if all, err = r.list(ctx, h.machine, m.At); err != nil {
				return err
			}
			listed = true
			continue
		}
		if err == nil {
			err = u.add(ctx, n, parts, data)
		}
		if err != nil {
			return err
		}
		m.At, m.Here = n.last, len(u.here)
		if err := r.remember(*m); err != nil {
			return err
		}
		p.Packs++
	}
	p.Sessions, p.Bytes = len(u.sums), u.bytes
	if err := u.check(ctx); err != nil {
		return errors.Join(err, r.drop(m))
	}
	return nil
}
