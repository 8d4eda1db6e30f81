// Package archive stores every byte of every transcript in one bbolt file and returns it exactly, until somebody forgets it.
//
// Its invariant: what Append acknowledged is durable, and what the package returns has the hash of what was stored.
// Anything else is a DamageError or another error, never wrong bytes and never a crash. The file is locked for one bounded
// transaction at a time. The package does not know about companions, watching or what lines mean.
//
// A generation of a session is one life of its file. Its record lists its blocks: frames of up to 2 MB, cut by content (see cutter)
// and stored once however often they occur, and pieces after the last frame. bbolt has no checksums: every value is an entry,
// which a scan of the file finds and checks by itself (entry.go). Repair and Import find what is intact in a file by a scan (rebuild.go).
// They, Forget and Compact store it in an archive as transcripts are stored, by Append (take.go). Each byte of what was forgotten is
// replaced by a filler in all that Append gets; a tombstone says where it was (tombstones.go).
//
// This file has the way of a byte into the archive and back in order; the steps of a plan are in append.go, the reader in reader.go.
//
// The way in: Append, or Save for many sessions in one transaction (states.go), plans without the lock: it compares the stored tip with
// the start of the new bytes, replaces what was forgotten, cuts the bytes into blocks and hashes them, and compresses those that are
// not stored. Under the lock plan.commit writes the new blocks and the longer list. Append returns after the transaction's fsync.
// Publish then stores where each ID of a companion is.
//
// The way back: Lookup finds the places of an ID, which is the beginning of a SHA-256: session, generation, and of each part offset
// and length. A Reader of that generation loads its list, gets the blocks of the place, checks the hash of each entry, decompresses
// them and checks that of their bytes (unpack). Raw reads all of an original and compares its whole hash, which the index has,
// before it yields the first byte. Segments reads a generation and compares its hash.
package archive

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"os"
	"sync/atomic"
	"time"

	bolt "go.etcd.io/bbolt"

	"ccd/internal/mark"
	"ccd/internal/transcript"
)

// Options configure an archive.
type Options struct {
	ReadOnly bool  // every write fails, nothing is created
	MinFree  int64 // bytes that must stay free on the archive's file system; 0: no limit
	MaxSize  int64 // maximum size of the archive file; 0: no limit
}

// Generation describes one archived life of a session's file.
type Generation struct {
	N   int
	Tip transcript.Cursor // end of the archived bytes
	Sum mark.Hash         // SHA-256 of all bytes up to Tip, with what was forgotten replaced
}

// Session describes an archived session.
type Session struct {
	transcript.Session
	Generations []Generation // in order; the last one is the current one
	State       []byte       // opaque bytes stored by the caller
	StateDamage error        // a DamageError if State is nil because the stored bytes are damaged
	Lost        error        // a DamageError if bytes of it are missing, in the newest generation of which some are
}

// Tip returns the cursor after the last archived byte, or the zero Cursor if there is none.
func (s Session) Tip() transcript.Cursor {
	if len(s.Generations) == 0 {
		return transcript.Cursor{}
	}
	return s.Generations[len(s.Generations)-1].Tip
}

// Archive is an archive file. Between calls it keeps neither a lock nor the file open (but see Held).
// It is safe for concurrent use by goroutines and processes.
type Archive struct {
	path           string
	o              Options
	codec          *codec
	gaveUp         atomic.Pointer[time.Time]   // when a wait for the lock last timed out: the next ones are short
	lastFile       atomic.Pointer[os.FileInfo] // as FileReplaced last saw it
	lastTombstones atomic.Pointer[tombstones]  // the tombstones as last read
	places         *tombstones                 // instead of those in the file, in an archive that is being made; usually nil
	held           *store                      // that all calls use, for a caller that keeps it open; usually nil

	unchecked bool // for tests: skip hashes when reading
}

// Open returns the archive at path, without a look at it. The first write creates the file if it does not exist (directories with
// mode 0700, files with 0600), and a lock file beside it. It fails without a path.
func Open(path string, o Options) (*Archive, error) {
	if path == "" {
		return nil, errors.New("open archive: no path")
	}
	return &Archive{path: path, o: o, codec: newCodec()}, nil
}

// Append stores a segment after the stored bytes of its session. It is durable when Append returns. The cost depends
// only on the new bytes, except that a segment which closes a frame reads the frame's earlier pieces, at most 2 MB.
//
// It is a compare-and-swap: it fails with ErrStale unless seg.Start is the stored tip (generation and offset; nothing
// else is compared) or begins the next generation at offset 0. An empty segment is allowed: it adds the session, and
// stores new fingerprints.
//
// What was forgotten is replaced in seg.Data. It fails with ErrForgotten if the session was.
func (a *Archive) Append(ctx context.Context, s transcript.Session, seg transcript.Segment) (err error) {
	defer wrap(&err, "append to session %s %s", s.Agent, s.ID)
	plans, err := a.plans(ctx, Addition{s, seg})
	if err != nil {
		return err
	}
	p := plans[0]
	if err = p.err; err == nil && !p.noop() {
		err = a.update(ctx, p.need, p.commit, &p.tip)
	}
	return err
}

// plans prepares Appends, outside the write lock. What they read, they read with one opening of the file.
func (a *Archive) plans(ctx context.Context, additions ...Addition) ([]*plan, error) {
	plans := make([]*plan, len(additions))
	prepare := func(open *Archive) error {
		for i, add := range additions {
			p := &plan{a: a, open: open, session: add.Session, seg: add.Segment}
			plans[i] = p
			for _, step := range []func(context.Context) error{
				p.base,   // reads the stored records, and compares the tip
				p.forget, // replaces what was forgotten
				p.cut,    // divides the bytes into frames and a piece, and hashes them
				p.share,  // finds frames that are stored already
			} {
				if p.err == nil {
					p.err = step(ctx)
				}
			}
		}
		return nil
	}
	if len(additions) == 0 {
		return nil, nil
	}
	err := a.Held(ctx, prepare)
	if errors.Is(err, errAbsent) {
		err = prepare(a)
	}
	if err != nil {
		return nil, err
	}
	for _, p := range plans {
		if p.err == nil {
			p.err = p.pack()
		}
	}
	return plans, nil
}

// plan is one Append. Everything except commit runs outside the write lock.
type plan struct {
	a, open *Archive // the same; open is Held
	session transcript.Session
	start   transcript.Cursor
	seg     transcript.Segment
	err     error // why it cannot be committed

	file              string // identifies the archive's file, "" if there was none
	record, wasRecord sessionRecord
	gen               generationRecord
	hasGeneration     bool    // the generation has a record
	was               []byte  // the newest generation's record, encoded
	removed           []block // earlier pieces of a frame that is complete now
	blocks            []*packed
	need              int64 // bytes to be written
	tombstones        *tombstones
	filled            bool // something in the segment was forgotten
	tip               landed
}

// packed is a block of the plan.
type packed struct {
	envelope
	piece  bool // not a frame
	raw    []byte
	stored []byte // compressed
	id     uint64 // of a stored frame with the same hash, 0 if there is none
	shared bool   // that one is intact, so this is not written
}

// commit writes the plan in one transaction, if the session has not changed.
func (p *plan) commit(tx *bolt.Tx) error {
	if err := p.unchanged(tx); err != nil {
		return err
	}
	gen := p.gen // a transaction that fails changes nothing in the plan
	for _, b := range p.removed {
		if err := removeBlock(tx, b.ID); err != nil {
			return err
		}
	}
	for _, b := range p.blocks {
		made, err := b.write(tx)
		if err != nil {
			return err
		}
		gen.Blocks = append(gen.Blocks, made)
	}
	if p.record != p.wasRecord {
		if err := putSession(tx, p.record); err != nil {
			return err
		}
	}
	p.tip = landed{generationOf{p.session.Key, p.record.Generation}, gen.Offset}
	return putGeneration(tx, p.tip.generationOf, gen)
}

// Found is an original and its location.
type Found struct {
	transcript.Pointer
	Key        transcript.Key
	Generation int
}

// Lookup returns every indexed original with one of the IDs, or prefixes of them (see mark.PrefixRange), in the order of the arguments
// and of the hashes. An empty result is no error, nor is a missing archive. Originals with the same ID are all returned. Damaged
// entries are skipped, and reported as DamageErrors together with the good ones.
func (a *Archive) Lookup(ctx context.Context, prefixes ...mark.ID) (found []Found, err error) {
	var damaged error
	err = a.viewAny(ctx, func(tx *bolt.Tx) error {
		found, damaged = nil, nil
		for _, prefix := range prefixes {
			lo, hi, err := mark.PrefixRange(string(prefix))
			if err != nil {
				return err
			}
			some, err := a.inIndex(tx, lo, hi)
			found, damaged = append(found, some...), errors.Join(damaged, err)
		}
		return nil
	})
	if err != nil {
		return found, fmt.Errorf("look up id %v: %w", prefixes, err)
	}
	return found, damaged
}

// Stretch is a run of an original's raw bytes.
type Stretch struct {
	Index int             // of its part, from 0
	Part  transcript.Part // the whole part
	Data  []byte          // valid until the next one
	More  bool            // the next one continues the same part
}

// Raw yields the raw bytes of an original, part by part; parts over transcript.MaxLine in stretches of about 4 MB. It
// first reads and hashes everything, so that a DamageError comes before any byte. Then it reads the bytes again and
// checks each block.
func (a *Archive) Raw(ctx context.Context, f Found) iter.Seq2[Stretch, error] {
	return func(yield func(Stretch, error) bool) {
		r := a.Reader(f.Key, f.Generation)
		if err := r.CheckPointer(ctx, f.Pointer); err != nil {
			yield(Stretch{}, err)
			return
		}
		for i, part := range f.Parts {
			step, end := part.Span.Len, part.Span.End()
			if step > transcript.MaxLine {
				step = fetchSize
			}
			for off, more := part.Span.Off, true; more; off += step {
				n := min(step, end-off)
				more = off+n < end
				data, err := r.Span(ctx, transcript.Span{Off: off, Len: n})
				if err != nil {
					yield(Stretch{}, r.damageOf(f.Pointer, err))
					return
				}
				if !yield(Stretch{Index: i, Part: part, Data: data, More: more}, nil) {
					return
				}
			}
		}
	}
}
