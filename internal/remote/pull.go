package remote

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"filippo.io/age"

	"ccd/archive"
	"ccd/internal/mark"
	"ccd/internal/remote/pulled"
	"ccd/internal/transcript"
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
	Archive    archive.Options                     // of each machine's archive
	Progress   func(label string, pack, packs int) // called before a pull reads a pack; may be nil
}

// machineCopy is what a reader knows of a machine, and what its head lists.
type machineCopy struct {
	pulled.Machine
	inner Inner
	packs []Pack
}

// OpenReader returns a reader.
func OpenReader(o ReaderOptions) (*Reader, error) {
	c, err := newCoder(nil, o.Identities)
	return &Reader{o, c, map[string]string{}}, err
}

func (r *Reader) remember(s *machineCopy) error {
	if err := os.MkdirAll(r.o.Dir, 0o700); err != nil {
		return fmt.Errorf("store state of machine %s: %w", s.Machine.Machine, err)
	}
	return pulled.Write(r.o.Dir, s.Machine)
}

// Names returns the machines in the store, and those that were seen before but are missing now.
func (r *Reader) Names(ctx context.Context) (names, missing []string, err error) {
	for o, err := range machines(ctx, r.o.Store) {
		if err != nil {
			return nil, nil, err
		}
		name := o.Name
		names = append(names, name)
		r.tags[name] = o.Tag
	}
	known, err := pulled.List(r.o.Dir)
	for _, s := range known {
		if !slices.Contains(names, s.Machine) {
			missing = append(missing, s.Machine)
		}
	}
	return names, missing, err
}

// unchanged returns what is known of a machine, and whether Names has seen its head as it was when it was read.
func (r *Reader) unchanged(machine string) (m pulled.Machine, same bool, err error) {
	m, err = pulled.Read(r.o.Dir, machine)
	return m, m.Tag != "" && m.Tag == r.tags[machine], err
}

// intact reports whether the archive of a machine that was read completely still lists its sessions.
func (r *Reader) intact(ctx context.Context, m pulled.Machine) bool {
	a, err := archive.Open(pulled.Archive(r.o.Dir, m.Machine), archive.Options{ReadOnly: true})
	if err != nil {
		return false
	}
	all, err := a.Sessions(ctx)
	return err == nil && len(all) == m.Sessions
}

// Known returns what a machine's head says, without a request if that is known and Names has seen no other head.
func (r *Reader) Known(ctx context.Context, machine string) (pulled.Machine, error) {
	m, same, err := r.unchanged(machine)
	if same || err != nil {
		return m, err
	}
	s, err := r.head(ctx, machine)
	if err != nil {
		return m, err
	}
	return s.Machine, r.remember(s)
}

// look reads and verifies the head of a machine and its catalogues. It fails with ErrBadCopy if the head is older than one
// that was seen before, or does not follow it. With trust it uses the catalogues that are stored here, without checking that
// the store has them too.
func (r *Reader) look(ctx context.Context, machine string, trust bool) (*machineCopy, error) {
	s, err := r.head(ctx, machine)
	if err != nil {
		return nil, err
	}
	s.packs = s.inner.Packs
	var names []string
	for _, ref := range s.inner.Catalogues {
		packs, err := r.catalogue(ctx, machine, ref, trust)
		if err != nil {
			return nil, err
		}
		s.packs, names = append(s.packs, packs...), append(names, ref.Name)
	}
	pulled.KeepOnly(r.o.Dir, machine, names)
	s.count()
	return s, r.remember(s)
}

// head reads and verifies the head of a machine.
func (r *Reader) head(ctx context.Context, machine string) (*machineCopy, error) {
	var s machineCopy
	var err error
	if s.Machine, err = pulled.Read(r.o.Dir, machine); err != nil {
		return nil, err
	}
	name := headsPrefix + machine
	b, tag, err := r.o.Store.Get(ctx, name, 0, -1)
	if errors.Is(err, ErrAbsent) {
		return nil, badCopy(name, "it is missing")
	}
	if err != nil {
		return nil, fmt.Errorf("read head of %s: %w", machine, err)
	}
	h, err := decodeHead(machine, b)
	if err != nil {
		return nil, err
	}
	if err := h.follows(s.Machine); err != nil {
		return nil, err
	}
	if err := r.coder.openJSON(name, h.Sealed, &s.inner); err != nil {
		return nil, err
	}
	s.Whole = s.Whole && bytes.Equal(s.Hash, h.hash)
	s.Label, s.Seq, s.Hash, s.Time, s.Tag = s.inner.Label, h.Seq, h.hash, h.Time, tag
	return &s, nil
}

// follows fails unless the head is the seen one or a later one.
func (h *Head) follows(s pulled.Machine) error {
	name := headsPrefix + h.Machine
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

func (r *Reader) catalogue(ctx context.Context, machine string, ref ref, trust bool) ([]Pack, error) {
	name := catalogueObject(machine, ref.Name)
	if !hashName.MatchString(ref.Name) {
		return nil, badCopy(name, "its name is no hash")
	}
	right := func(b []byte) bool { return fmt.Sprintf("%x", hash(b)) == ref.Name }
	b := pulled.Kept(r.o.Dir, machine, ref.Name)
	if !trust || !right(b) {
		var err error
		b, _, err = r.o.Store.Get(ctx, name, 0, -1)
		if errors.Is(err, ErrAbsent) {
			return nil, badCopy(name, "it is missing")
		}
		if err != nil {
			return nil, fmt.Errorf("read %s: %w", name, err)
		}
		if !right(b) {
			return nil, badCopy(name, "its bytes have another hash")
		}
		if err := pulled.Keep(r.o.Dir, machine, ref.Name, b); err != nil {
			return nil, err
		}
	}
	var c catalogue
	return c.Packs, r.coder.openJSON(name, b, &c)
}

// count sets the figures of what readers may keep.
func (s *machineCopy) count() {
	s.Sessions, s.Bytes, s.Packs = 0, 0, len(s.packs)
	for _, stretches := range s.wanted() {
		s.Sessions++
		for _, t := range stretches {
			if t.Generation > 0 {
				s.Bytes += t.Len
			}
		}
	}
}

// placed is a stretch and the pack that has it.
type placed struct {
	Stretch
	session Session
	pack    int // index in machineCopy.packs
}

// wanted returns the stretches of each session that readers may keep, in order: the newest revision, without those that a
// tombstone covers.
func (s *machineCopy) wanted() map[transcript.Key][]placed {
	void := map[transcript.Key]Forgotten{}
	for _, f := range s.inner.Forgotten {
		void[f.key()] = f
	}
	slices.SortFunc(s.packs, func(a, b Pack) int { return cmp.Compare(a.Name, b.Name) })
	newest := s.newest()
	all := map[transcript.Key][]placed{}
	for i, p := range s.packs {
		for _, part := range p.Parts {
			k := part.Session.key()
			if f, ok := void[k]; ok && f.voids(part.Revision) || part.Revision != newest[k] {
				continue
			}
			for _, t := range part.Stretches {
				all[k] = append(all[k], placed{t, part.Session, i})
			}
		}
	}
	for _, one := range all {
		slices.SortStableFunc(one, func(a, b placed) int {
			return cmp.Or(cmp.Compare(a.Generation, b.Generation), cmp.Compare(a.Off, b.Off))
		})
	}
	return all
}

// Pulled is what a pull has done.
type Pulled struct {
	Machine  string `json:"machine"`
	Label    string `json:"label"`
	Sessions int    `json:"sessions"` // with new bytes
	Bytes    int64  `json:"bytes"`    // of transcripts
	Packs    int    `json:"packs"`    // that were read
	Removed  int    `json:"removed"`  // sessions that the machine has forgotten, or of which it has forgotten some
	Repaired bool   `json:"repaired"` // what was pulled before was damaged, so all was read again
	Matching int    `json:"-"`        // sessions of the machine that were asked for
}

// Pull brings the archive of a machine up to date with its copy. only, if not "", is the beginning of the ID of the
// sessions to read. An interrupted pull continues where it was. It makes no request if Names has seen the head of the last
// complete pull.
func (r *Reader) Pull(ctx context.Context, machine, only string) (Pulled, error) {
	m, same, err := r.unchanged(machine)
	if err != nil {
		return Pulled{Machine: machine}, err
	}
	if same && m.Whole && only == "" && r.intact(ctx, m) {
		m.Pulled = time.Now().UTC()
		return Pulled{Machine: machine, Label: m.Label}, r.remember(&machineCopy{Machine: m})
	}
	s, err := r.look(ctx, machine, true)
	if err != nil {
		return Pulled{Machine: machine}, err
	}
	p := &puller{Pulled: Pulled{Machine: machine, Label: s.Label}, Reader: r, seen: s, only: only}
	if err = p.run(ctx); errors.As(err, new(*archive.DamageError)) { // of the archive here, which is only a copy
		p = &puller{Pulled: Pulled{Machine: machine, Label: s.Label, Repaired: true}, Reader: r, seen: s, only: only}
		if s.Revisions, err = nil, r.drop(s.Machine); err == nil {
			err = p.run(ctx)
		}
	}
	if err != nil {
		return p.Pulled, fmt.Errorf("pull machine %s (%s): %w", s.Label, machine, err)
	}
	if s.Dropped = 0; only == "" {
		s.Machine.Pulled, s.Whole = time.Now().UTC(), true
	}
	return p.Pulled, r.remember(s)
}

type puller struct {
	Pulled
	*Reader
	seen  *machineCopy
	only  string
	cache *archive.Archive
	here  map[transcript.Key]*local
	grown map[transcript.Key]bool
}

// local is a session in the machine's archive here.
type local struct {
	generation int
	off        int64
	head       transcript.Fingerprint
	state      []byte
}

func (p *puller) run(ctx context.Context) (err error) {
	if p.cache, err = archive.Open(pulled.Archive(p.o.Dir, p.Machine), p.o.Archive); err != nil {
		return err
	}
	p.grown = map[transcript.Key]bool{}
	wanted := p.seen.wanted()
	for k := range wanted {
		if strings.HasPrefix(k.ID, p.only) {
			p.Matching++
		}
	}
	if err := p.load(ctx); err != nil {
		return err
	}
	if err := p.remove(ctx, wanted); err != nil {
		return err
	}
	states := p.newStates(wanted)
	for {
		need, err := p.missing(wanted)
		if err != nil {
			return err
		}
		if len(need) == 0 {
			break
		}
		before, done := p.Bytes+int64(len(p.grown)), 0
		for i := range p.seen.packs {
			if len(need[i]) == 0 {
				continue
			}
			if done++; p.o.Progress != nil {
				p.o.Progress(p.Label, done, len(need))
			}
			if err := p.pack(ctx, p.seen.packs[i], need[i], states[i]); err != nil {
				return err
			}
		}
		if p.Bytes+int64(len(p.grown)) == before {
			return badCopy(prefixOf(p.Machine), "the head lists bytes of sessions without those before them")
		}
	}
	for i, need := range p.newStates(wanted) {
		if err := p.pack(ctx, p.seen.packs[i], nil, need); err != nil {
			return err
		}
	}
	p.Sessions = len(p.grown)
	return nil
}

// load reads what is here of each session.
func (p *puller) load(ctx context.Context) error {
	stored, err := p.cache.Sessions(ctx)
	if err != nil {
		return fmt.Errorf("read what was pulled: %w", err)
	}
	p.here = map[transcript.Key]*local{}
	for _, s := range stored {
		p.here[s.Key] = &local{s.Tip().Generation, s.Tip().Offset, s.Tip().Head, s.State}
	}
	return nil
}

// remove removes sessions that the machine has forgotten, or of which there is an older revision here.
func (p *puller) remove(ctx context.Context, wanted map[transcript.Key][]placed) error {
	revisions := map[string]int{}
	var gone archive.Removal
	for k, revision := range p.seen.newest() {
		name := k.Agent + " " + mark.Name(k.ID)
		if p.here[k] != nil && (len(wanted[k]) == 0 || p.seen.Revisions[name] != revision) {
			gone.Sessions = append(gone.Sessions, k)
			delete(p.here, k)
		}
		if revision > 0 {
			revisions[name] = revision
		}
	}
	for k := range p.here {
		if len(wanted[k]) == 0 {
			gone.Sessions = append(gone.Sessions, k)
			delete(p.here, k)
		}
	}
	p.Removed = len(gone.Sessions)
	if p.Removed > 0 {
		if _, err := p.cache.Compact(ctx, gone, nil); err != nil {
			return fmt.Errorf("remove what was forgotten: %w", err)
		}
	}
	p.seen.Revisions = revisions
	return p.remember(p.seen)
}

// newest returns the newest revision of each session in the store.
func (s *machineCopy) newest() map[transcript.Key]int {
	all := map[transcript.Key]int{}
	for _, pack := range s.packs {
		for _, part := range pack.Parts {
			all[part.Session.key()] = max(all[part.Session.key()], part.Revision)
		}
	}
	return all
}

// missing returns the stretches that are not here, by pack. It fails if a session has a hole.
func (p *puller) missing(wanted map[transcript.Key][]placed) (need map[int][]placed, err error) {
	need = map[int][]placed{}
	for k, all := range wanted {
		if !strings.HasPrefix(k.ID, p.only) {
			continue
		}
		at := local{generation: 1}
		tip, known := p.here[k]
		for _, t := range all {
			if t.Generation == 0 {
				continue
			}
			if t.Generation == at.generation+1 && t.Off == 0 {
				at = local{generation: t.Generation}
			}
			if t.Generation != at.generation || t.Off != at.off {
				return nil, badCopy(prefixOf(p.Machine), "bytes of session %s are missing from generation %d, offset %d on", k.ID, at.generation, at.off)
			}
			at.off += t.Len
			if !known || t.Generation > tip.generation || t.Generation == tip.generation && at.off > tip.off {
				need[t.pack] = append(need[t.pack], t)
			}
		}
	}
	return need, nil
}

// pack adds the stretches of a pack that continue what is here, then states of sessions.
func (p *puller) pack(ctx context.Context, pack Pack, need, states []placed) error {
	p.Packs++
	var o *opened
	err := ErrBadCopy
	if worthParts(pack, slices.Concat(need, states)) {
		o, err = p.fetchParts(ctx, p.Machine, pack)
	}
	if errors.Is(err, ErrBadCopy) || errors.Is(err, ErrKey) { // the hash of the whole pack decides
		o, err = p.fetchPack(ctx, p.Machine, pack)
	}
	if err != nil {
		return err
	}
	for len(need) > 0 {
		var batch []archive.Addition
		var tips []*local
		taken := map[transcript.Key]bool{}
		size := 0
		rest := need[:0]
		for _, t := range need {
			k := t.session.key()
			if taken[k] || size > maxFrame {
				rest = append(rest, t)
				continue
			}
			add, tip, ok, err := p.addition(ctx, o, t)
			if err != nil {
				return err
			}
			if !ok { // what is before it is in a later pack
				continue
			}
			taken[k] = true
			size += len(add.Segment.Data)
			batch, tips = append(batch, add), append(tips, tip)
		}
		if len(batch) == 0 {
			break
		}
		if err := p.save(ctx, batch, tips); err != nil {
			return err
		}
		need = rest
	}
	return p.states(ctx, o, states)
}

// save stores segments of several sessions in one transaction.
func (p *puller) save(ctx context.Context, batch []archive.Addition, tips []*local) error {
	var stale []transcript.Key
	var err error
	if len(batch) == 1 {
		err = p.cache.Append(ctx, batch[0].Session, batch[0].Segment)
	} else {
		stale, err = p.cache.Save(ctx, batch, nil)
	}
	if err == nil && len(stale) > 0 {
		err = errors.New("another ccd remote pull is running")
	}
	if err != nil {
		return fmt.Errorf("store sessions: %w", err)
	}
	for i, add := range batch {
		k := add.Session.Key
		p.here[k], p.grown[k] = tips[i], true
		p.Bytes += int64(len(add.Segment.Data))
	}
	return nil
}

// addition makes the segment of a stretch, if it continues what is here.
func (p *puller) addition(ctx context.Context, o *opened, t placed) (add archive.Addition, tip *local, ok bool, err error) {
	k := t.session.key()
	at := local{generation: 1}
	if have := p.here[k]; have != nil {
		at = *have
		if have.generation == 0 {
			at.generation = 1
		}
	}
	skip := int64(0)
	switch {
	case t.Generation == at.generation+1 && t.Off == 0:
		at = local{generation: t.Generation, state: at.state}
	case t.Generation != at.generation || t.Off > at.off:
		return add, nil, false, nil
	default:
		skip = at.off - t.Off // an earlier pull stored a part of it
	}
	if skip > t.Len || skip == t.Len && t.Len > 0 {
		return add, nil, false, nil
	}
	data, err := p.data(ctx, o, t)
	if err != nil {
		return add, nil, false, err
	}
	data = data[skip:]
	start := transcript.Cursor{Generation: at.generation, Offset: at.off}
	at.off += int64(len(data))
	if start.Offset == 0 {
		at.head = fingerprint(data[:min(len(data), printed)])
	}
	end := transcript.Cursor{
		Generation: at.generation, Offset: at.off, Head: at.head, Back: fingerprint(data[max(0, len(data)-printed):]),
	}
	return archive.Addition{Session: t.session.Transcript(), Segment: transcript.Segment{Start: start, Data: data, End: end}}, &at, true, nil
}

// printed is the largest number of bytes that a fingerprint covers.
const printed = 4096

func fingerprint(b []byte) transcript.Fingerprint {
	if len(b) == 0 {
		return transcript.Fingerprint{}
	}
	return transcript.Fingerprint{N: int64(len(b)), Sum: mark.Sum(b)}
}

// data returns the bytes of a stretch.
func (p *puller) data(ctx context.Context, o *opened, t placed) ([]byte, error) {
	if !t.copied() {
		if t.Len == 0 {
			return nil, nil
		}
		return o.stretch(t.Stretch)
	}
	data, err := p.cache.Reader(t.session.key(), t.Generation-1).Span(ctx, transcript.Span{Off: t.From, Len: t.Len})
	if err != nil {
		return nil, fmt.Errorf("read the previous generation: %w", err)
	}
	return data, t.verify(o.object, data)
}

// fetchPack reads and verifies a pack.
func (r *Reader) fetchPack(ctx context.Context, machine string, pack Pack) (*opened, error) {
	name := packObject(machine, pack.Name)
	b, _, err := r.o.Store.Get(ctx, name, 0, -1)
	if errors.Is(err, ErrAbsent) {
		return nil, badCopy(name, "it is missing")
	}
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", short(name), err)
	}
	return r.coder.openPack(name, pack, b)
}

// newStates returns the newest daemon's state of each session, by pack, where another one is here.
func (p *puller) newStates(wanted map[transcript.Key][]placed) map[int][]placed {
	byPack := map[int][]placed{}
	for k, all := range wanted {
		if !strings.HasPrefix(k.ID, p.only) {
			continue
		}
		var last *placed
		for i := range all { // those of generation 0 are first, in the order of packs
			if all[i].Generation == 0 {
				last = &all[i]
			}
		}
		if here := p.here[k]; last != nil && (here == nil || !bytes.Equal(hash(here.state), last.Sum)) {
			byPack[last.pack] = append(byPack[last.pack], *last)
		}
	}
	return byPack
}

// states stores daemon's states of sessions that are here.
func (p *puller) states(ctx context.Context, o *opened, need []placed) error {
	var changes []archive.Change
	for _, t := range need {
		here := p.here[t.session.key()]
		if here == nil {
			continue
		}
		data, err := o.stretch(t.Stretch)
		if err != nil {
			return err
		}
		changes = append(changes, archive.Change{Session: t.session.Transcript(), Old: here.state, New: data})
		here.state = data
	}
	if len(changes) == 0 {
		return nil
	}
	_, err := p.cache.Save(ctx, nil, changes)
	return wrap(err, "store sessions")
}
