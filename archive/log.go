package archive

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	bolt "go.etcd.io/bbolt"

	"ccd/internal/mark"
	"ccd/internal/transcript"
)

// The log shows what the archive had. Each Root adds an entry for each generation that is new or longer: a hash of its
// content and a random salt. Each removal adds an entry and deletes the salts of what it removes, so that the hash tells
// nothing any more. The root is the hash of the chain of all entries.

// What an entry of the log says about a generation.
const (
	logHeld   = "held"   // the archive has it
	logForgot = "forget" // Forget has removed it or some of it
	logRemove = "gc"     // Compact has removed it
)

// logEntry is a record of "log", as JSON.
type logEntry struct {
	Time       time.Time      `json:"time"`
	Do         string         `json:"do"`
	Session    transcript.Key `json:"session"` // the ID encoded by mark.Name
	Generation int            `json:"generation"`
	Commitment []byte         `json:"commitment,omitempty"` // of logHeld
}

// opening is a record of "salts": what the last logHeld of a generation was made from.
type opening struct {
	Salt   [16]byte
	Offset int64
	Sum    mark.Hash
}

func (o opening) encode() []byte {
	b, _ := binary.Append(nil, binary.BigEndian, o) // cannot fail: it has a fixed size
	return b
}

func (o opening) commitment() []byte {
	sum := sha256.Sum256(o.encode())
	return sum[:]
}

func saltKey(g generationOf) []byte {
	return binary.BigEndian.AppendUint32(append(sessionKey(g.Key), 0), uint32(g.n))
}

func getOpening(tx *bolt.Tx, g generationOf) (o opening, ok bool) {
	b := tx.Bucket(bucketSalts)
	if b == nil {
		return o, false
	}
	key := saltKey(g)
	record, err := unseal(key, b.Get(key))
	if err != nil || len(record) != binary.Size(o) {
		return o, false
	}
	_, err = binary.Decode(record, binary.BigEndian, &o)
	return o, err == nil
}

// Roots is the result of Root.
type Roots struct {
	Root     string       // to be noted
	Held     int          // generations that it covers
	Added    int          // generations that were new since the earlier root
	Grown    int          // generations that were longer since
	Declared []RootChange // removals since, by Forget and Compact
	Tampered []RootChange // what is missing or different without a declaration, and why
}

// RootChange is a generation that is not as an earlier root has it.
type RootChange struct {
	Time       time.Time // of the declaration
	Session    transcript.Key
	Generation int
	What       string // logForgot, logRemove, or what is wrong
}

// Root adds what is new to the log and returns its root. If earlier is a root that was noted, it compares the archive
// with it. It reads what has grown since the last root; Verify checks the rest.
func (a *Archive) Root(ctx context.Context, earlier string) (Roots, error) {
	r := rooter{a: a}
	err := r.run(ctx, earlier)
	if errors.Is(err, errAbsent) {
		err = ErrNotFound
	}
	if err != nil {
		return r.Roots, fmt.Errorf("compute root of the archive: %w", err)
	}
	return r.Roots, nil
}

// rooter is one Root.
type rooter struct {
	Roots
	a     *Archive
	all   []Session
	held  map[generationOf][]byte  // commitments by the log
	was   map[generationOf]opening // what they were made from
	fresh map[generationOf]opening // to be added

	broken bool // the log cannot be read: nothing is added to it
}

func (r *rooter) run(ctx context.Context, earlier string) (err error) {
	n, want, err := parseRoot(earlier)
	if err != nil {
		return err
	}
	if r.all, err = r.a.Sessions(ctx); err != nil {
		return err
	}
	if err := r.a.view(ctx, func(tx *bolt.Tx) error { return r.replay(tx, n, want) }); err != nil || r.broken {
		return err
	}
	if err := r.compare(ctx); err != nil {
		return err
	}
	err = r.a.update(ctx, int64(len(r.fresh))*256, r.append)
	if earlier == "" {
		r.Added, r.Grown, r.Declared = 0, 0, nil
	}
	return err
}

// parseRoot splits a root into the number of entries and their hash.
func parseRoot(root string) (n uint64, sum string, err error) {
	if root == "" {
		return 0, "", nil
	}
	count, sum, ok := strings.Cut(root, "-")
	n, err = strconv.ParseUint(count, 10, 64)
	if raw, bad := hex.DecodeString(sum); !ok || err != nil || bad != nil || len(raw) != rootSize {
		return 0, "", fmt.Errorf("%q is no root: it looks like 12-0123456789abcdef0123456789abcdef", root)
	}
	return n, sum, nil
}

// rootSize is the length of a root's hash in bytes.
const rootSize = 16

// chain returns the hash of a chain with one more record.
func chain(before mark.Hash, record []byte) mark.Hash {
	return mark.Sum(append(before[:], record...))
}

func rootOf(n uint64, sum mark.Hash) string {
	return fmt.Sprintf("%d-%s", n, hex.EncodeToString(sum[:rootSize]))
}

// replay reads the log. n and want are of the earlier root.
func (r *rooter) replay(tx *bolt.Tx, n uint64, want string) error {
	r.held, r.was = map[generationOf][]byte{}, map[generationOf]opening{}
	_, count, err := eachEntry(tx, func(i uint64, e logEntry, sum mark.Hash) {
		g := generationOf{e.Session, e.Generation}
		_, known := r.held[g]
		switch {
		case e.Do == logHeld:
			r.held[g] = e.Commitment
			if i > n && known {
				r.Grown++
			} else if i > n {
				r.Added++
			}
		default:
			delete(r.held, g)
			if i > n {
				r.Declared = append(r.Declared, RootChange{e.Time, e.Session, e.Generation, e.Do})
			}
		}
		if i == n && hex.EncodeToString(sum[:rootSize]) != want {
			r.tampered(generationOf{}, "the log before this root was changed")
		}
	})
	if err != nil {
		r.tampered(generationOf{}, err.Error())
		r.broken = true
		return nil
	}
	if n > count {
		r.tampered(generationOf{}, fmt.Sprintf("the log has %d entries instead of %d or more", count, n))
	}
	for g := range r.held {
		if o, ok := getOpening(tx, g); ok {
			r.was[g] = o
		}
	}
	return nil
}

// eachEntry calls fn with each entry of the log, its number from 1, and the hash of the chain up to it.
func eachEntry(tx *bolt.Tx, fn func(i uint64, e logEntry, sum mark.Hash)) (sum mark.Hash, n uint64, err error) {
	b := tx.Bucket(bucketLog)
	if b == nil {
		return sum, 0, nil
	}
	err = b.ForEach(func(k, v []byte) error {
		n++
		record, err := unseal(k, v)
		var e logEntry
		if err == nil && !bytes.Equal(k, numbered(logPrefix, n)) {
			err = errors.New("an entry is missing")
		}
		if err == nil {
			err = json.Unmarshal(record, &e)
		}
		if err != nil {
			return fmt.Errorf("log, entry %d: %w", n, err)
		}
		e.Session.ID = mark.Unname(e.Session.ID)
		sum = chain(sum, record)
		fn(n, e, sum)
		return nil
	})
	return sum, n, err
}

func (r *rooter) tampered(g generationOf, what string) {
	r.Tampered = append(r.Tampered, RootChange{Session: g.Key, Generation: g.n, What: what})
}

// compare checks that the archive still has everything that the log says, and finds what is new.
func (r *rooter) compare(ctx context.Context) error {
	r.fresh = map[generationOf]opening{}
	seen := map[generationOf]bool{}
	for _, s := range r.all {
		for _, g := range s.Generations {
			of := generationOf{s.Key, g.N}
			seen[of] = true
			if err := r.compareOne(ctx, of, g); err != nil {
				return err
			}
		}
	}
	for g := range r.held {
		if !seen[g] {
			r.tampered(g, "missing")
		}
	}
	return nil
}

func (r *rooter) compareOne(ctx context.Context, of generationOf, g Generation) (err error) {
	next := opening{Offset: g.Tip.Offset, Sum: g.Sum}
	rand.Read(next.Salt[:]) // never fails
	commitment, held := r.held[of]
	if !held {
		r.fresh[of] = next
		return nil
	}
	r.Held++
	was, ok := r.was[of]
	same := ok && bytes.Equal(was.commitment(), commitment) && was.Offset <= g.Tip.Offset
	if same && was.Offset == g.Tip.Offset {
		same = was.Sum == g.Sum
	} else if same {
		same, err = begins(sourceOf(ctx, r.a.Reader(of.Key, of.n), was.Offset), was.Offset, was.Sum)
		r.fresh[of] = next
	}
	if err == nil && !same {
		delete(r.fresh, of) // keep the evidence
		r.tampered(of, "changed")
	}
	return err
}

// append adds what is new to the log.
func (r *rooter) append(tx *bolt.Tx) error {
	now := time.Now().UTC()
	for _, s := range r.all {
		for _, g := range s.Generations {
			of := generationOf{s.Key, g.N}
			o, ok := r.fresh[of]
			if !ok {
				continue
			}
			salts, err := tx.CreateBucketIfNotExists(bucketSalts)
			if err == nil {
				key := saltKey(of)
				err = salts.Put(key, seal(key, o.encode()))
			}
			if err == nil {
				err = addLog(tx, logEntry{now, logHeld, s.Key, g.N, o.commitment()})
			}
			if err != nil {
				return err
			}
			if _, known := r.held[of]; known {
				r.Grown++
				continue
			}
			if r.Held++; !slices.ContainsFunc(r.Declared, func(c RootChange) bool { return generationOf{c.Session, c.Generation} == of }) {
				r.Added++
			}
		}
	}
	sum, n, err := eachEntry(tx, func(uint64, logEntry, mark.Hash) {})
	r.Root = rootOf(n, sum)
	return err
}

func addLog(tx *bolt.Tx, e logEntry) error {
	b, err := tx.CreateBucketIfNotExists(bucketLog)
	if err != nil {
		return err
	}
	n, err := b.NextSequence()
	if err != nil {
		return err
	}
	e.Session.ID = mark.Name(e.Session.ID)
	record, err := json.Marshal(e)
	if err != nil {
		return err
	}
	k := numbered(logPrefix, n)
	return b.Put(k, seal(k, record))
}

// declare makes the entries of the log for what the rewrite removes, and finds the salts of that.
func (w *rewriter) declare(ctx context.Context, old *Archive) error {
	w.unsalted = map[string]bool{}
	do := logForgot
	if !w.forget {
		do = logRemove
	}
	return old.view(ctx, func(tx *bolt.Tx) error {
		for _, s := range w.all {
			for _, g := range s.Generations {
				of := generationOf{s.Key, g.N}
				if _, held := getOpening(tx, of); held && (w.removed[s.Key] || len(w.holes.of[of].holes) > 0) {
					w.unsalted[string(saltKey(of))] = true
					w.declared = append(w.declared, logEntry{Time: w.now, Do: do, Session: s.Key, Generation: g.N})
				}
			}
		}
		return nil
	})
}
