package archive

import (
	"crypto/sha256"
	"encoding"
	"encoding/binary"
	"errors"
	"fmt"
	"hash"
	"strings"

	bolt "go.etcd.io/bbolt"

	"ccd/internal/mark"
	"ccd/internal/transcript"
)

// sessionRecord is a value of "sessions".
type sessionRecord struct {
	Num        uint64 // number in the keys of its streams
	Generation int    // the current one, 0 if nothing is archived
	Class      uint8
	Parent     string
	Path       string
	Root       string
	Source     string
	Packed     bool
}

// laterFile is the class of a file with a Thread, which is its Parent.
const laterFile = 3

func newSessionRecord(s transcript.Session) sessionRecord {
	if s.Thread != "" {
		s.Class, s.Parent = laterFile, s.Thread
	}
	return sessionRecord{Class: uint8(s.Class), Parent: s.Parent, Path: s.Path, Root: s.Root, Source: s.Source, Packed: s.Packed}
}

func (r sessionRecord) session(k transcript.Key) transcript.Session {
	s := transcript.Session{
		Key: k, Class: transcript.Class(r.Class), Parent: r.Parent, Path: r.Path, Root: r.Root, Source: r.Source, Packed: r.Packed,
	}
	if r.Class == laterFile {
		s.Class, s.Parent, s.Thread = transcript.Main, "", r.Parent
	}
	return s
}

func (r sessionRecord) encode() []byte {
	packed := byte(0)
	if r.Packed {
		packed = 1
	}
	b := binary.AppendUvarint(nil, r.Num)
	b = append(binary.AppendUvarint(b, uint64(r.Generation)), r.Class, packed)
	b = appendString(appendString(b, r.Path), r.Parent)
	for _, part := range []string{r.Root, r.Source} { // as a rule the path begins and ends with them
		if at := strings.Index(r.Path, part); part != "" && at >= 0 {
			b = binary.AppendUvarint(binary.AppendUvarint(b, uint64(at)+1), uint64(len(part)))
		} else {
			b = appendString(append(b, 0), part)
		}
	}
	return b
}

func decodeSession(record []byte) (r sessionRecord, err error) {
	d := varints{b: record}
	r.Num, r.Generation, r.Class, r.Packed = d.uint(), int(d.uint()), d.byte(), d.byte() == 1
	r.Path, r.Parent = d.string(), d.string()
	for _, part := range []*string{&r.Root, &r.Source} {
		at := d.uint()
		if at == 0 {
			*part = d.string()
		} else if n := d.uint(); at-1 <= uint64(len(r.Path)) && n <= uint64(len(r.Path))-at+1 {
			*part = r.Path[at-1:][:n]
		} else {
			d.fail()
		}
	}
	if d.err == nil && len(d.b) > 0 {
		d.fail()
	}
	return r, d.err
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
	v := tx.Bucket(bucketSessions).Get(key)
	if v == nil {
		return r, false, nil
	}
	r, err = parseSession(key, v)
	return r, true, err
}

func parseSession(key, v []byte) (r sessionRecord, err error) {
	record, err := unseal(kindSession, key, v)
	if err == nil {
		r, err = decodeSession(record)
	}
	if err != nil {
		return r, fmt.Errorf("session record: %w", err)
	}
	return r, nil
}

func putSession(tx *bolt.Tx, k transcript.Key, r sessionRecord) error {
	return put(tx, kindSession, sessionKey(k), r.encode())
}

// newNum returns a number for a session.
func newNum(tx *bolt.Tx) (uint64, error) { return tx.Bucket(bucketMeta).NextSequence() }

// stream identifies the bytes of one generation: session number, generation.
type stream [12]byte

func newStream(num uint64, generation int) (s stream) {
	binary.BigEndian.PutUint64(s[:8], num)
	binary.BigEndian.PutUint32(s[8:], uint32(generation))
	return s
}

func (s stream) num() uint64 { return binary.BigEndian.Uint64(s[:8]) }

func (s stream) generation() int { return int(binary.BigEndian.Uint32(s[8:])) }

// generationRecord is a value of "generations". With it, Append can continue without reading stored bytes.
type generationRecord struct {
	generationHead
	Track int    // the generation whose stream contains the bytes
	End   int64  // of that stream when the bytes were stored
	Full  bool   // Edits copies nothing
	Edits []edit // of the previous generation's layout; none if Track is the generation itself
}

// generationHead is the fixed-size part, stored in big-endian binary. A generation that is its own track has no other
// part.
type generationHead struct {
	Offset     int64
	Head, Back transcript.Fingerprint
	Cut        cutter    // of the track
	Hash       [108]byte // SHA-256 state of the generation so far, as marshalled by crypto/sha256
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

// matches fails unless h is the hash of the generation.
func (g *generationRecord) matches(h hash.Hash) error {
	want, err := g.sum()
	switch {
	case err == nil && want == mark.Hash(unknownHash().Sum(nil)):
		err = fmt.Errorf("%w with the end of the generation", ErrMissing)
	case err == nil && mark.Hash(h.Sum(nil)) != want:
		err = errors.New("hash mismatch of the whole generation")
	}
	return err
}

func getGeneration(tx *bolt.Tx, s stream) (g generationRecord, ok bool, err error) {
	v := tx.Bucket(bucketGenerations).Get(s[:])
	if v == nil {
		return g, false, nil
	}
	g, err = parseGeneration(s[:], v)
	return g, true, err
}

// mustGeneration fails if there is no such generation.
func mustGeneration(tx *bolt.Tx, s stream) (generationRecord, error) {
	return recordsOf(tx).generation(s)
}

func parseGeneration(key, v []byte) (g generationRecord, err error) {
	record, err := unseal(kindGeneration, key, v)
	if err == nil && (len(record) < headSize || len(key) != len(stream{})) {
		err = errors.New("wrong size")
	}
	if err != nil {
		return g, fmt.Errorf("generation record: %w", err)
	}
	g.parse(record)
	if g.Track, g.End = stream(key).generation(), g.Offset; len(record) > headSize {
		d := varints{b: record[headSize:]}
		g.Track, g.End, g.Full = int(d.uint()), int64(d.uint()), d.byte() == 1
		if err = d.err; err == nil {
			g.Edits, err = parseEdits(d.b)
		}
	}
	if err != nil {
		return g, fmt.Errorf("generation record: %w", err)
	}
	return g, nil
}

// headSize is the stored size of a generationHead in bytes.
const headSize = 8 + 2*(8+32) + 8 + 8 + 4 + 108

// parse reads the stored head. encoding/binary would do it by reflection, and a list of all sessions reads all heads.
func (g *generationHead) parse(b []byte) {
	int := func() int64 {
		n := int64(binary.BigEndian.Uint64(b))
		b = b[8:]
		return n
	}
	g.Offset = int()
	for _, f := range []*transcript.Fingerprint{&g.Head, &g.Back} {
		f.N = int()
		b = b[copy(f.Sum[:], b):]
	}
	g.Cut.Start, g.Cut.End, g.Cut.CRC = int(), int(), binary.BigEndian.Uint32(b)
	copy(g.Hash[:], b[4:])
}

// encode returns the stored form of generation n.
func (g generationRecord) encode(n int) []byte {
	b, _ := binary.Append(nil, binary.BigEndian, g.generationHead) // cannot fail: it has a fixed size
	if g.Track == n {
		return b
	}
	full := byte(0)
	if g.Full {
		full = 1
	}
	b = binary.AppendUvarint(binary.AppendUvarint(b, uint64(g.Track)), uint64(g.End))
	return appendEdits(append(b, full), g.Edits)
}

func putGeneration(tx *bolt.Tx, s stream, g generationRecord) error {
	return put(tx, kindGeneration, s[:], g.encode(s.generation()))
}
