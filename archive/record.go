package archive

import (
	"cmp"
	"crypto/sha256"
	"encoding"
	"encoding/binary"
	"errors"
	"fmt"
	"hash"
	"slices"
	"strings"

	bolt "go.etcd.io/bbolt"

	"ccd/internal/mark"
	"ccd/internal/transcript"
)

// sessionRecord is a value of "sessions", and its key.
type sessionRecord struct {
	transcript.Session
	Generation int // the current one, 0 if nothing is archived
}

func (r sessionRecord) encode() []byte {
	packed := byte(0)
	if r.Packed {
		packed = 1
	}
	b := append(appendUints(nil, uint64(r.Generation)), byte(r.Class), packed)
	for _, text := range []string{r.Path, r.Parent, r.Thread, r.Root, r.Source} {
		b = appendString(b, text)
	}
	return b
}

func (r *sessionRecord) decode(record []byte) error {
	d := varints{b: record}
	r.Generation, r.Class, r.Packed = int(d.uint()), transcript.Class(d.byte()), d.byte() == 1
	for _, text := range []*string{&r.Path, &r.Parent, &r.Thread, &r.Root, &r.Source} {
		*text = d.string()
	}
	return d.end()
}

func sessionKey(k transcript.Key) []byte { return []byte(k.Agent + "\x00" + k.ID) }

func parseSessionKey(b []byte) (transcript.Key, error) {
	agent, id, ok := strings.Cut(string(b), "\x00")
	if !ok {
		return transcript.Key{}, errors.New("session key without an agent")
	}
	return transcript.Key{Agent: agent, ID: id}, nil
}

// getSession returns the record of a session; ok is false if there is none.
func getSession(tx *bolt.Tx, k transcript.Key) (r sessionRecord, ok bool, err error) {
	key := sessionKey(k)
	v := kindSession.bucket(tx).Get(key)
	if v == nil {
		return r, false, nil
	}
	r, err = parseSession(key, v)
	return r, true, err
}

func parseSession(key, v []byte) (r sessionRecord, err error) {
	if r.Key, err = parseSessionKey(key); err != nil {
		return r, err
	}
	record, err := unseal(kindSession, key, v)
	if err == nil {
		err = r.decode(record)
	}
	if err != nil {
		return r, fmt.Errorf("session record: %w", err)
	}
	return r, nil
}

func putSession(tx *bolt.Tx, r sessionRecord) error {
	return put(tx, kindSession, sessionKey(r.Key), r.encode())
}

// generationOf names a generation.
type generationOf struct {
	transcript.Key
	n int
}

func (of generationOf) key() []byte {
	return binary.BigEndian.AppendUint32(sessionKey(of.Key), uint32(of.n))
}

func parseGenerationKey(b []byte) (of generationOf, err error) {
	end := max(0, len(b)-4)
	if of.Key, err = parseSessionKey(b[:end]); err == nil {
		of.n = int(binary.BigEndian.Uint32(b[end:]))
	}
	return of, err
}

// generationRecord is a value of "generations". With it, Append can continue without reading stored bytes.
type generationRecord struct {
	Offset     int64
	Head, Back transcript.Fingerprint
	Cut        cutter
	Hash       [108]byte // SHA-256 state of the generation so far, as marshalled by crypto/sha256
	Blocks     []block   // with all its bytes, in order and without gaps
}

// block is a stretch of a generation that is stored as one value of "blocks". Before the start of the open frame it is a frame,
// which other generations may share; after it, a piece.
type block struct {
	Off, Len int64  // in the generation, uncompressed; at most maxFrame
	ID       uint64 // 0: its bytes are lost, and there may be more than maxFrame
}

func (b block) end() int64 { return b.Off + b.Len }

// blockAt returns the number of the block that has the byte at an offset before the end.
func (g generationRecord) blockAt(off int64) int {
	i, found := slices.BinarySearchFunc(g.Blocks, off, func(b block, off int64) int { return cmp.Compare(b.Off, off) })
	if !found {
		i--
	}
	return i
}

// at returns the block that has the byte at an offset, a zero one beyond the end.
func (g generationRecord) at(off int64) block {
	if off < 0 || off >= g.Offset {
		return block{}
	}
	return g.Blocks[g.blockAt(off)]
}

func (g generationRecord) cursor(n int) transcript.Cursor {
	return transcript.Cursor{Generation: n, Offset: g.Offset, Head: g.Head, Back: g.Back}
}

func (g *generationRecord) setHash(h hash.Hash) error {
	state, err := h.(encoding.BinaryMarshaler).MarshalBinary()
	if err == nil && len(state) != len(g.Hash) {
		err = fmt.Errorf("state has %d bytes", len(state))
	}
	if err != nil {
		return fmt.Errorf("marshal the state of SHA-256: %w", err)
	}
	copy(g.Hash[:], state)
	return nil
}

func (g *generationRecord) hash() (hash.Hash, error) {
	h := sha256.New()
	if err := h.(encoding.BinaryUnmarshaler).UnmarshalBinary(g.Hash[:]); err != nil {
		return nil, fmt.Errorf("generation record: %w", err)
	}
	return h, nil
}

func (g *generationRecord) sum() (mark.Hash, error) {
	h, err := g.hash()
	if err != nil {
		return mark.Hash{}, err
	}
	return mark.Hash(h.Sum(nil)), nil
}

// unknown reports whether the hash is not known, because bytes were lost.
func (g *generationRecord) unknown() bool {
	sum, err := g.sum()
	return err == nil && sum == unknownSum
}

// lost returns where the first bytes are missing, and whether there are any.
func (g *generationRecord) lost() (off int64, any bool) {
	if i := slices.IndexFunc(g.Blocks, func(b block) bool { return b.ID == 0 }); i >= 0 {
		return g.Blocks[i].Off, true
	}
	return g.Offset, g.unknown()
}

// matches fails unless h is the hash of the generation.
func (g *generationRecord) matches(h hash.Hash) error {
	want, err := g.sum()
	switch {
	case g.unknown():
		err = fmt.Errorf("%w: the end of the generation", ErrMissing)
	case err == nil && mark.Hash(h.Sum(nil)) != want:
		err = errors.New("hash mismatch of the whole generation")
	}
	return err
}

// getCurrent returns the record of a session, and that of its newest generation, if there are any.
func getCurrent(tx *bolt.Tx, k transcript.Key) (r sessionRecord, g generationRecord, err error) {
	if r, _, err = getSession(tx, k); err == nil && r.Generation > 0 {
		g, err = getGeneration(tx, generationOf{k, r.Generation})
	}
	return r, g, err
}

// getGeneration fails if there is no such generation.
func getGeneration(tx *bolt.Tx, of generationOf) (generationRecord, error) {
	v := kindGeneration.bucket(tx).Get(of.key())
	if v == nil {
		return generationRecord{}, fmt.Errorf("generation %d is missing", of.n)
	}
	return parseGeneration(of.key(), v)
}

func parseGeneration(key, v []byte) (g generationRecord, err error) {
	record, err := unseal(kindGeneration, key, v)
	if err == nil {
		d := varints{b: record}
		g.Offset = int64(d.uint())
		for _, f := range []*transcript.Fingerprint{&g.Head, &g.Back} {
			f.N = int64(d.uint())
			copy(f.Sum[:], d.bytes(len(f.Sum)))
		}
		g.Cut.Start, g.Cut.End, g.Cut.Hash = int64(d.uint()), int64(d.uint()), uint32(d.uint())
		copy(g.Hash[:], d.bytes(len(g.Hash)))
		for off, id := int64(0), uint64(0); len(d.b) > 0; id++ {
			b := block{Off: off, Len: int64(d.uint()), ID: id + uint64(d.int())}
			if b.Len < 0 || b.end() < off {
				d.fail()
			}
			off, id = b.end(), b.ID
			g.Blocks = append(g.Blocks, b)
		}
		if err = d.end(); err == nil && g.end() != g.Offset {
			err = errors.New("it has not all blocks")
		}
	}
	if err != nil {
		return g, fmt.Errorf("generation record: %w", err)
	}
	return g, nil
}

// end returns the end of the blocks.
func (g generationRecord) end() int64 {
	if len(g.Blocks) == 0 {
		return 0
	}
	return g.Blocks[len(g.Blocks)-1].end()
}

func (g generationRecord) encode() []byte {
	b := appendUints(nil, uint64(g.Offset))
	for _, f := range []transcript.Fingerprint{g.Head, g.Back} {
		b = append(appendUints(b, uint64(f.N)), f.Sum[:]...)
	}
	b = append(appendUints(b, uint64(g.Cut.Start), uint64(g.Cut.End), uint64(g.Cut.Hash)), g.Hash[:]...)
	next := uint64(0)
	for _, one := range g.Blocks {
		b = binary.AppendVarint(appendUints(b, uint64(one.Len)), int64(one.ID-next))
		next = one.ID + 1
	}
	return b
}

func putGeneration(tx *bolt.Tx, of generationOf, g generationRecord) error {
	return put(tx, kindGeneration, of.key(), g.encode())
}

// getShared returns the ID of the frame with this hash, 0 if there is none. A damaged entry counts as none.
func getShared(tx *bolt.Tx, sum mark.Hash) uint64 {
	record, err := get(tx, kindHash, sum[:])
	if err != nil || record == nil {
		return 0
	}
	d := varints{b: record}
	return d.uint()
}
