package archive

import (
	"bytes"
	"crypto/sha256"
	"encoding"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"hash"

	bolt "go.etcd.io/bbolt"

	"ccd/internal/mark"
	"ccd/internal/transcript"
)

const (
	sealSize  = 8        // bytes of SHA-256 before each record
	maxRecord = 32 << 20 // bytes; a longer record is damaged
)

// seal returns the record with a hash of key and record in front.
func seal(key, record []byte) []byte {
	return append(sealOf(key, record), record...)
}

func sealOf(key, record []byte) []byte {
	h := sha256.New()
	h.Write(key)
	h.Write([]byte{0})
	h.Write(record)
	return h.Sum(make([]byte, 0, sha256.Size))[:sealSize]
}

// unseal returns the record of key, a slice of value.
func unseal(key, value []byte) ([]byte, error) {
	if len(value) < sealSize || len(value) > maxRecord || len(key) > bolt.MaxKeySize {
		return nil, errors.New("record has wrong size")
	}
	record := value[sealSize:]
	if !bytes.Equal(sealOf(key, record), value[:sealSize]) {
		return nil, errors.New("record has wrong hash")
	}
	return record, nil
}

// sessionRecord is a value of "sessions", as JSON with names encoded by mark.Name.
type sessionRecord struct {
	Num        uint64 `json:"num"`        // number in the keys of its streams
	Generation int    `json:"generation"` // the current one, 0 if nothing is archived
	Class      uint8  `json:"class"`
	Parent     string `json:"parent,omitempty"`
	Path       string `json:"path"`
	Root       string `json:"root"`
	Source     string `json:"source"`
	Packed     bool   `json:"packed,omitempty"`
}

func newSessionRecord(s transcript.Session) sessionRecord {
	return sessionRecord{
		Class: uint8(s.Class), Parent: mark.Name(s.Parent), Path: mark.Name(s.Path), Root: mark.Name(s.Root),
		Source: mark.Name(s.Source), Packed: s.Packed,
	}
}

func (r sessionRecord) session(k transcript.Key) transcript.Session {
	return transcript.Session{
		Key: k, Class: transcript.Class(r.Class), Parent: mark.Unname(r.Parent), Path: mark.Unname(r.Path), Root: mark.Unname(r.Root),
		Source: mark.Unname(r.Source), Packed: r.Packed,
	}
}

func sessionKey(k transcript.Key) []byte { return []byte(k.Agent + "\x00" + k.ID) }

func parseSessionKey(b []byte) (transcript.Key, error) {
	agent, id, ok := bytes.Cut(b, []byte{0})
	if !ok {
		return transcript.Key{}, errors.New("session key without an agent")
	}
	return transcript.Key{Agent: string(agent), ID: string(id)}, nil
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
	record, err := unseal(key, v)
	if err == nil {
		err = json.Unmarshal(record, &r)
	}
	if err != nil {
		return r, fmt.Errorf("session record: %w", err)
	}
	return r, nil
}

func putSession(tx *bolt.Tx, k transcript.Key, r sessionRecord) error {
	record, err := json.Marshal(r)
	if err != nil {
		return err
	}
	key := sessionKey(k)
	return tx.Bucket(bucketSessions).Put(key, seal(key, record))
}

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
	if err == nil && mark.Hash(h.Sum(nil)) != want {
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
func mustGeneration(tx *bolt.Tx, s stream) (g generationRecord, err error) {
	g, ok, err := getGeneration(tx, s)
	if err == nil && !ok {
		err = fmt.Errorf("generation %d is missing", s.generation())
	}
	return g, err
}

func parseGeneration(key, v []byte) (g generationRecord, err error) {
	record, err := unseal(key, v)
	head := binary.Size(g.generationHead)
	if err == nil && (len(record) < head || len(key) != len(stream{})) {
		err = errors.New("wrong size")
	}
	if err == nil {
		_, err = binary.Decode(record[:head], binary.BigEndian, &g.generationHead)
	}
	if g.Track, g.End = stream(key).generation(), g.Offset; err == nil && len(record) > head {
		d := varints{b: record[head:]}
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
	b := tx.Bucket(bucketGenerations)
	b.FillPercent = 0.9 // the keys of a session come in order, and only the last one changes
	return b.Put(s[:], seal(s[:], g.encode(s.generation())))
}
