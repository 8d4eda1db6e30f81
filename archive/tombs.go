package archive

import (
	"bytes"
	"cmp"
	"context"
	"crypto/aes"
	"crypto/cipher"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math/bits"
	"os"
	"slices"
	"time"

	bolt "go.etcd.io/bbolt"

	"ccd/internal/atomicfile"
	"ccd/internal/mark"
	"ccd/internal/ownfile"
	"ccd/internal/transcript"
)

// ErrForgotten is returned for a session, or an original, that Forget has removed.
var ErrForgotten = errors.New("forgotten")

// Text is a run of bytes to forget in all transcripts.
type Text struct {
	Bytes    []byte
	From, To int  // the part that is replaced; the rest only tells where
	Fill     byte // what replaces it
}

// tomb says what was forgotten, so that it does not come back. It has no bytes of it and, without the key, nothing to
// compare a guess with.
type tomb struct {
	Time    time.Time      `json:"time"`
	Session transcript.Key `json:"session,omitzero"` // the whole session, its ID encoded by mark.Name; otherwise a text
	Len     int            `json:"len,omitempty"`
	From    int            `json:"from,omitempty"`
	To      int            `json:"to,omitempty"`
	Fill    byte           `json:"fill,omitempty"`
	Sums    [2]uint64      `json:"sums"` // of the windows in the middle and at the end
	MAC     []byte         `json:"mac,omitempty"`
}

// maxWindow is the length of a window, in bytes. A shorter text is a window of its own.
const maxWindow = 16

func (t *tomb) window() int { return min(t.Len, maxWindow) }

// middle is where the first window of the text begins. Records begin alike, but differ in the middle.
func (t *tomb) middle() int { return (t.Len - t.window()) / 2 }

// tombs are the tombstones of an archive. Nil has none.
type tombs struct {
	key      []byte
	all      []tomb
	base     uint64 // of roll
	textKey  []byte // of mac
	sessions map[transcript.Key]bool
	windows  map[int]map[uint64][]int // length, sum of the first window -> texts in all
	longest  int                      // text
	info     os.FileInfo              // of their file when it was read
}

// tombsFile is the content of the file of tombstones, as JSON. It is not in the archive, so that damage of the archive
// does not affect it, and that a backup does not have the key.
type tombsFile struct {
	Key   []byte `json:"key"` // random
	Tombs []tomb `json:"tombs"`
}

// Keys of "log" and "gone". Those outside the trees are told by them (see salvager.entry).
const (
	logPrefix    = 'l'
	numberedSize = 9  // a prefix and a number
	goneSize     = 17 // keyed hash and shape
	keySize      = 32 // of the secret key, in bytes
)

func numbered(prefix byte, n uint64) []byte { return binary.BigEndian.AppendUint64([]byte{prefix}, n) }

// tombsPath returns the path of the tombstones of the archive at path.
func tombsPath(path string) string { return path + ".forgotten" }

// tombs returns the tombstones. They are read again only if their file has changed.
func (a *Archive) tombs() (*tombs, error) {
	path := tombsPath(a.path)
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		a.known.Store(nil)
		return nil, nil
	}
	if t := a.known.Load(); err == nil && t != nil && os.SameFile(t.info, info) && t.info.ModTime().Equal(info.ModTime()) {
		return t, nil
	}
	var b []byte
	if err == nil {
		b, err = ownfile.Read(path, maxRecord)
	}
	var stored tombsFile
	if err == nil {
		err = json.Unmarshal(b, &stored)
	}
	if err == nil && len(stored.Key) != keySize {
		err = errors.New("it has no key")
	}
	if err != nil { // not archiving is better than storing what was forgotten
		return nil, fmt.Errorf("read what was forgotten: %s: %w; without this file, ccd stores it again if a transcript has it", path, err)
	}
	t := newTombs(stored.Key)
	t.info = info
	for _, one := range stored.Tombs {
		t.add(one)
	}
	a.known.Store(t)
	return t, nil
}

// with returns the tombstones and those of a removal.
func (t *tombs) with(r Removal, now time.Time) *tombs {
	var old []tomb
	key := make([]byte, keySize)
	rand.Read(key) // never fails
	if t != nil {
		key, old = t.key, t.all
	}
	next := newTombs(key)
	for _, one := range old {
		next.add(one)
	}
	for _, text := range r.Texts {
		one := next.tombOf(text, now)
		if next.has(one) {
			continue
		}
		masked := text
		masked.Bytes = bytes.Clone(text.Bytes)
		if next.fill(masked.Bytes) { // some of it was forgotten before
			next.add(next.tombOf(masked, now))
		}
		next.add(one)
	}
	for _, k := range r.Sessions {
		next.add(tomb{Time: now, Session: transcript.Key{Agent: k.Agent, ID: mark.Name(k.ID)}})
	}
	return next
}

// store writes the file of tombstones.
func (t *tombs) store(a *Archive) error {
	b, err := json.Marshal(tombsFile{t.key, t.all})
	if err == nil {
		err = atomicfile.Write(tombsPath(a.path), 0o600, b)
	}
	if err != nil {
		return fmt.Errorf("write tombstones: %w", err)
	}
	return nil
}

// derive returns the key for one purpose.
func derive(key []byte, purpose string) []byte {
	h := hmac.New(sha256.New, key)
	h.Write([]byte(purpose))
	return h.Sum(nil)
}

func newTombs(key []byte) *tombs {
	base := binary.BigEndian.Uint64(derive(key, "roll")) | 1
	return &tombs{key: key, base: base, textKey: derive(key, "text"), sessions: map[transcript.Key]bool{}, windows: map[int]map[uint64][]int{}}
}

// has reports whether the same part of the same text was forgotten before.
func (t *tombs) has(one tomb) bool {
	return slices.ContainsFunc(t.all, func(o tomb) bool {
		return o.Len > 0 && o.Len == one.Len && o.From == one.From && o.To == one.To && hmac.Equal(o.MAC, one.MAC)
	})
}

// add adds a tombstone.
func (t *tombs) add(one tomb) {
	t.all = append(t.all, one)
	if one.Len == 0 {
		t.sessions[transcript.Key{Agent: one.Session.Agent, ID: mark.Unname(one.Session.ID)}] = true
		return
	}
	w := one.window()
	if t.windows[w] == nil {
		t.windows[w] = map[uint64][]int{}
	}
	t.windows[w][one.Sums[0]] = append(t.windows[w][one.Sums[0]], len(t.all)-1)
	t.longest = max(t.longest, one.Len)
}

// tombOf makes the tombstone of a text.
func (t *tombs) tombOf(text Text, now time.Time) tomb {
	one := tomb{Time: now, Len: len(text.Bytes), From: text.From, To: text.To, Fill: text.Fill, MAC: t.mac(text.Bytes)}
	r := t.roll(one.window())
	one.Sums[0] = r.sum(text.Bytes[one.middle():][:one.window()])
	one.Sums[1] = r.sum(text.Bytes[one.Len-one.window():])
	return one
}

func (t *tombs) mac(b []byte) []byte {
	h := hmac.New(sha256.New, t.textKey)
	h.Write(b)
	return h.Sum(nil)
}

// roll is a rolling hash of windows of one length: a polynomial with a secret base.
type roll struct{ base, first uint64 } // first is base to the power of the length

func (t *tombs) roll(n int) roll {
	r := roll{base: t.base, first: 1}
	for range n {
		r.first *= r.base
	}
	return r
}

func (r roll) sum(window []byte) (h uint64) {
	for _, c := range window {
		h = h*r.base + mix(c)
	}
	return h
}

// mix spreads a byte over all bits: the low bits of a polynomial depend on few others.
func mix(c byte) uint64 { return bits.RotateLeft64((uint64(c)+1)*0x9e3779b97f4a7c15, 29) }

// hole is a stretch of bytes to be replaced.
type hole struct {
	from, to int64
	fill     byte
}

// find returns the stretches of data that are forgotten texts, in no order.
func (t *tombs) find(data []byte) (holes []hole) {
	if t == nil {
		return nil
	}
	for n, sums := range t.windows {
		if n > len(data) {
			continue
		}
		r := t.roll(n)
		h := r.sum(data[:n])
		for at := 0; ; at++ {
			for _, i := range sums[h] {
				if one := &t.all[i]; t.isAt(one, r, data, at-one.middle()) {
					from := int64(at - one.middle())
					holes = append(holes, hole{from + int64(one.From), from + int64(one.To), one.Fill})
				}
			}
			if at+n == len(data) {
				break
			}
			h = h*r.base + mix(data[at+n]) - r.first*mix(data[at])
		}
	}
	return holes
}

// isAt reports whether a text is in data at from.
func (t *tombs) isAt(one *tomb, r roll, data []byte, from int) bool {
	if from < 0 || from+one.Len > len(data) {
		return false
	}
	text := data[from : from+one.Len]
	return r.sum(text[one.Len-one.window():]) == one.Sums[1] && hmac.Equal(t.mac(text), one.MAC)
}

// fill replaces forgotten texts in data, and reports whether there were any.
func (t *tombs) fill(data []byte) bool {
	return fillHoles(data, 0, t.find(data))
}

// fillHoles replaces the holes in data, which begins at off, and reports whether that changed it.
func fillHoles(data []byte, off int64, holes []hole) (changed bool) {
	end := off + int64(len(data))
	for _, h := range holes {
		for i := max(h.from, off); i < min(h.to, end); i++ {
			changed = changed || data[i-off] != h.fill
			data[i-off] = h.fill
		}
	}
	return changed
}

// joinHoles sorts holes and joins those that overlap.
func joinHoles(holes []hole) (joined []hole) {
	slices.SortStableFunc(holes, func(x, y hole) int { return cmp.Compare(x.from, y.from) })
	for _, h := range holes {
		if i := len(joined) - 1; i >= 0 && h.from < joined[i].to {
			h.from = joined[i].to
		}
		if h.from < h.to {
			joined = append(joined, h)
		}
	}
	return joined
}

// overlapping returns those of sorted holes that overlap the bytes from from to to.
func overlapping(holes []hole, from, to int64) []hole {
	i, _ := slices.BinarySearchFunc(holes, from, func(h hole, from int64) int { return cmp.Compare(h.to-1, from) })
	n, _ := slices.BinarySearchFunc(holes[i:], to, func(h hole, to int64) int { return cmp.Compare(h.from, to) })
	return holes[i : i+n]
}

// fillSorted is fillHoles for sorted holes, of which few are in data.
func fillSorted(data []byte, off int64, holes []hole) (changed bool) {
	return fillHoles(data, off, overlapping(holes, off, off+int64(len(data))))
}

// encrypt returns the stored form of a record of "gone".
func (t *tombs) encrypt(plain []byte) []byte {
	aead := t.aead()
	nonce := make([]byte, aead.NonceSize(), aead.NonceSize()+len(plain)+aead.Overhead())
	rand.Read(nonce) // never fails
	return aead.Seal(nonce, nonce, plain, nil)
}

func (t *tombs) decrypt(b []byte) ([]byte, error) {
	aead := t.aead()
	if len(b) < aead.NonceSize() {
		return nil, errors.New("record has wrong size")
	}
	return aead.Open(nil, b[:aead.NonceSize()], b[aead.NonceSize():], nil)
}

func (t *tombs) aead() cipher.AEAD {
	block, err := aes.NewCipher(derive(t.key, "record"))
	if err != nil {
		panic(err) // the key has the right size
	}
	aead, err := cipher.NewGCM(block)
	if err != nil {
		panic(err)
	}
	return aead
}

// Fill replaces what was forgotten in new bytes of a transcript by what Append stores instead.
func (a *Archive) Fill(data []byte) {
	t, _ := a.tombs() // Append fails
	t.fill(data)
}

// Unfilled reports whether a forgotten text is stored, because its transcript got it in two steps. Compact removes it.
func (a *Archive) Unfilled() bool { return a.unfilled.Load() }

// Forgets reports whether the session, or the session that it belongs to, was forgotten: Append refuses it.
func (a *Archive) Forgets(s transcript.Session) bool {
	t, _ := a.tombs() // Append fails
	return t.forgets(s)
}

func (t *tombs) forgets(s transcript.Session) bool {
	if t == nil {
		return false
	}
	return t.sessions[s.Key] || s.Parent != "" && t.sessions[transcript.Key{Agent: s.Agent, ID: s.Parent}]
}

// Gone is an original that was forgotten.
type Gone struct {
	Time  time.Time // when
	Found           // what is left of it, with the hash of that
	Whole bool      // its session was forgotten: nothing is left
}

// encodeGone returns the record of a forgotten original, which does not have its hash.
func (t *tombs) encodeGone(g Gone) []byte {
	whole := byte(0)
	if g.Whole {
		whole = 1
	}
	plain := append(binary.AppendVarint(nil, g.Time.Unix()), whole, byte(g.Shape))
	return t.encrypt(append(plain, encodePointer(g.Key, g.Generation, g.Pointer)...))
}

func (t *tombs) decodeGone(record []byte) (g Gone, err error) {
	plain, err := t.decrypt(record)
	if err != nil {
		return g, err
	}
	d := varints{b: plain}
	g.Time = time.Unix(d.int(), 0).UTC()
	g.Whole = d.byte() == 1
	key := append(make([]byte, len(mark.Hash{})), d.byte())
	if d.err == nil {
		g.Found, d.err = decodePointer(key, d.b)
	}
	return g, d.err
}

// goneKey is the key of an ID in "gone".
func (t *tombs) goneKey(id mark.ID) []byte {
	h := hmac.New(sha256.New, derive(t.key, "id"))
	h.Write([]byte(id))
	return h.Sum(nil)[:goneSize-1]
}

// Forgotten returns the originals with this ID that were forgotten.
func (a *Archive) Forgotten(ctx context.Context, id mark.ID) (gone []Gone, err error) {
	err = a.view(ctx, func(tx *bolt.Tx) error {
		t, err := a.tombs()
		b := tx.Bucket(bucketGone)
		if err != nil || t == nil || b == nil {
			return err
		}
		prefix := t.goneKey(id)
		c := b.Cursor()
		for k, v := c.Seek(prefix); bytes.HasPrefix(k, prefix); k, v = c.Next() {
			var one Gone
			record, err := unseal(k, v)
			if err == nil {
				one, err = t.decodeGone(record)
			}
			if err != nil {
				return a.damage("forgotten id %s: %w", id, err)
			}
			gone = append(gone, one)
		}
		return nil
	})
	if errors.Is(err, errAbsent) {
		err = nil
	}
	for i := range gone {
		if err == nil && !gone[i].Whole {
			r := a.Reader(gone[i].Key, gone[i].Generation)
			if _, err = r.generation(ctx); err == nil {
				gone[i].Hash, err = r.hash(ctx, gone[i].Pointer)
			}
			if errors.Is(err, ErrNotFound) { // removed since
				gone[i].Whole, err = true, nil
			}
		}
	}
	if err != nil {
		return nil, fmt.Errorf("look up forgotten id %s: %w", id, err)
	}
	return gone, nil
}
