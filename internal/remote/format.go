// Package remote keeps an encrypted copy of a machine's archive in object storage, and reads the copies of all machines.
//
// docs/REMOTE-FORMAT.md describes the objects. A machine writes only below its own prefix, so machines need no lock. A
// pack is uploaded before the signed head that names it, so an interrupted push leaves only objects that nothing names.
// A reader believes only what a head names: every object's name is the hash of its bytes.
//
// Its invariant: the archive's bytes come back exactly, or an error says what is wrong. What cannot be decrypted or
// verified is never taken as absent. The package does not know which program talks to the store, nor about companions.
package remote

import (
	"bytes"
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"
	"time"

	"filippo.io/age"
	"github.com/klauspost/compress/zstd"

	"ccd/internal/mark"
	"ccd/internal/transcript"
)

// Version is the format's number, part of every object's name.
const Version = 1

const (
	top         = "ccd1/"
	formatName  = top + "format"
	headsPrefix = top + "heads/"
	packMagic   = "ccd1pack"
	signedWords = "ccd1 head\n" // before the body, so that the key signs nothing else

	// MaxPack is the size of a pack in bytes that no push exceeds: one PUT.
	MaxPack    = 16 << 20
	fullPack   = MaxPack - maxFrame - 1<<20 // no further frame is added
	maxFrame   = 4 << 20                    // bytes of a session in one frame
	maxHead    = 8 << 20
	maxObject  = 64 << 20 // a reader refuses larger ones
	maxPast    = 32       // hashes of earlier heads in a head
	maxLoose   = 64       // packs that a head lists itself; more go into a catalogue
	maxParts   = 512      // parts in these packs; each costs about 45 bytes in every head
	formatBody = `{"ccd":1}` + "\n"
)

var (
	machineName = regexp.MustCompile(`^[0-9a-f]{32}$`)
	packName    = regexp.MustCompile(`^[0-9]{10}-[0-9a-f]{64}$`)
	hashName    = regexp.MustCompile(`^[0-9a-f]{64}$`)
)

// Session is what identifies a session and its file. Strings that are not UTF-8 are escaped by mark.Name.
type Session struct {
	Agent  string `json:"agent"`
	ID     string `json:"id"`
	Class  uint8  `json:"class,omitempty"`
	Parent string `json:"parent,omitempty"`
	Path   string `json:"path,omitempty"`
	Root   string `json:"root,omitempty"`
	Source string `json:"source,omitempty"`
	Packed bool   `json:"packed,omitempty"`
}

func sessionOf(s transcript.Session) Session {
	return Session{
		Agent: s.Agent, ID: mark.Name(s.ID), Class: uint8(s.Class), Parent: mark.Name(s.Parent), Path: mark.Name(s.Path), Root: mark.Name(s.Root),
		Source: mark.Name(s.Source), Packed: s.Packed,
	}
}

// Transcript returns the session as the archive names it.
func (s Session) Transcript() transcript.Session {
	return transcript.Session{
		Key: s.key(), Class: transcript.Class(s.Class), Parent: mark.Unname(s.Parent), Path: mark.Unname(s.Path),
		Root: mark.Unname(s.Root), Source: mark.Unname(s.Source), Packed: s.Packed,
	}
}

func (s Session) key() transcript.Key { return transcript.Key{Agent: s.Agent, ID: mark.Unname(s.ID)} }

// Stretch is a run of bytes of one generation of a session; generation 0 is the state that the daemon keeps of it.
type Stretch struct {
	Generation int    `json:"g,omitempty"`
	Off        int64  `json:"off,omitempty"`
	Len        int64  `json:"len,omitempty"`
	Sum        []byte `json:"sum"` // SHA-256 of the bytes
	// At and Size are the place of its zstd frame in the pack. A size of 0 means that the bytes are those of the previous
	// generation from offset From on.
	At   int64 `json:"at,omitempty"`
	Size int64 `json:"size,omitempty"`
	From int64 `json:"from,omitempty"`
}

func (t Stretch) copied() bool { return t.Size == 0 && t.Len > 0 }

// Part is what a pack has of one session.
type Part struct {
	Session   Session   `json:"session"`
	Revision  int       `json:"rev,omitempty"` // raised when forgotten bytes change what was pushed before
	Stretches []Stretch `json:"stretches"`
}

// Pack is one pack and what it contains.
type Pack struct {
	Name  string `json:"name"` // SEQ-SHA256 of the object
	Size  int64  `json:"size"` // bytes of the object
	Parts []Part `json:"parts"`
}

// Forgotten is a tombstone: parts of a session that no reader may keep.
type Forgotten struct {
	Agent    string `json:"agent"`
	ID       string `json:"id"`
	Revision int    `json:"rev"` // parts below this revision are void; -1: all
}

func (f Forgotten) key() transcript.Key { return transcript.Key{Agent: f.Agent, ID: mark.Unname(f.ID)} }

// voids reports whether the tombstone covers a revision.
func (f Forgotten) voids(revision int) bool { return f.Revision < 0 || revision < f.Revision }

// ref names an immutable object.
type ref struct {
	Name string `json:"name"`
	Size int64  `json:"size"`
}

// Head describes a machine's copy. The store sees its open part; only readers see Inner.
type Head struct {
	Machine string    `json:"machine"` // the first 32 hex digits of the SHA-256 of Key
	Key     []byte    `json:"key"`     // Ed25519
	Seq     int64     `json:"seq"`
	Past    [][]byte  `json:"past,omitempty"` // SHA-256 of the heads before, newest first
	Time    time.Time `json:"time"`
	Sealed  []byte    `json:"sealed"` // Inner: JSON, zstd, age

	hash []byte // SHA-256 of the object
}

// Inner is the part of a head that only readers can decrypt.
type Inner struct {
	Label      string      `json:"label"` // host name
	Catalogues []ref       `json:"catalogues,omitempty"`
	Packs      []Pack      `json:"packs,omitempty"` // those in no catalogue
	Forgotten  []Forgotten `json:"forgotten,omitempty"`
}

// catalogue is an object that lists packs.
type catalogue struct {
	Packs []Pack `json:"packs"`
}

// ErrBadCopy is wrapped by errors about objects that are not what their machine has written.
var ErrBadCopy = errors.New("the store's copy is not what the machine wrote")

// ErrKey is wrapped if no identity of the reader decrypts an object.
var ErrKey = errors.New("no identity of this reader can decrypt it")

func badCopy(object, format string, args ...any) error {
	return fmt.Errorf("verify %s: %w: %s", object, ErrBadCopy, fmt.Sprintf(format, args...))
}

func hash(b []byte) []byte { s := sha256.Sum256(b); return s[:] }

// machineOf returns the name of the machine with a key.
func machineOf(key ed25519.PublicKey) string { return hex.EncodeToString(hash(key))[:32] }

func prefixOf(machine string) string { return top + "m/" + machine + "/" }

func packObject(machine, name string) string { return prefixOf(machine) + "p/" + name }

func catalogueObject(machine, name string) string { return prefixOf(machine) + "c/" + name }

// coder compresses and encrypts. It is safe for concurrent use.
type coder struct {
	enc        *zstd.Encoder
	dec        *zstd.Decoder
	recipients []age.Recipient
	identities []age.Identity
}

func newCoder(recipients []age.Recipient, identities []age.Identity) (*coder, error) {
	enc, err := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1))
	if err != nil {
		return nil, fmt.Errorf("start compressor: %w", err)
	}
	dec, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(4*maxObject))
	if err != nil {
		return nil, fmt.Errorf("start decompressor: %w", err)
	}
	return &coder{enc, dec, recipients, identities}, nil
}

func (k *coder) seal(plain []byte) ([]byte, error) {
	if len(k.recipients) == 0 {
		return nil, errors.New("encrypt: there is no recipient")
	}
	var b bytes.Buffer
	w, err := age.Encrypt(&b, k.recipients...)
	if err == nil {
		_, err = w.Write(plain)
	}
	if err == nil {
		err = w.Close()
	}
	if err != nil {
		return nil, fmt.Errorf("encrypt: %w", err)
	}
	return b.Bytes(), nil
}

func (k *coder) open(object string, sealed []byte) ([]byte, error) {
	r, err := age.Decrypt(bytes.NewReader(sealed), k.identities...)
	if errors.As(err, new(*age.NoIdentityMatchError)) {
		return nil, fmt.Errorf("decrypt %s: %w", object, ErrKey)
	}
	var plain []byte
	if err == nil {
		plain, err = io.ReadAll(r)
	}
	if err != nil {
		return nil, badCopy(object, "%v", err)
	}
	return plain, nil
}

// sealJSON makes the bytes of an encrypted JSON value.
func (k *coder) sealJSON(v any) ([]byte, error) {
	b, err := json.Marshal(v)
	if err != nil {
		return nil, fmt.Errorf("encode: %w", err)
	}
	return k.seal(k.enc.EncodeAll(b, nil))
}

func (k *coder) openJSON(object string, sealed []byte, v any) error {
	b, err := k.open(object, sealed)
	if err != nil {
		return err
	}
	if b, err = k.dec.DecodeAll(b, nil); err == nil {
		err = json.Unmarshal(b, v)
	}
	if err != nil {
		return badCopy(object, "%v", err)
	}
	return nil
}

// encodeHead signs a head. It sets the machine, the key and the hash.
func (k *coder) encodeHead(h *Head, inner Inner, key ed25519.PrivateKey) (object []byte, err error) {
	h.Key = key.Public().(ed25519.PublicKey)
	h.Machine = machineOf(h.Key)
	if h.Sealed, err = k.sealJSON(inner); err != nil {
		return nil, err
	}
	body, err := json.Marshal(h)
	if err != nil {
		return nil, fmt.Errorf("encode head: %w", err)
	}
	sig := ed25519.Sign(key, append([]byte(signedWords), body...))
	object = fmt.Appendf(nil, "ccd1 %s\n%s", base64.StdEncoding.EncodeToString(sig), body)
	h.hash = hash(object)
	return object, nil
}

// decodeHead verifies the head of a machine: the key is the one that the machine is named after, and has signed it.
func decodeHead(machine string, object []byte) (*Head, error) {
	name := headsPrefix + machine
	first, body, _ := bytes.Cut(object, []byte("\n"))
	coded, ok := bytes.CutPrefix(first, []byte("ccd1 "))
	sig, err := base64.StdEncoding.DecodeString(string(coded))
	var h Head
	if !ok || err != nil || json.Unmarshal(body, &h) != nil {
		return nil, badCopy(name, "it is no head of format %d", Version)
	}
	if len(h.Key) != ed25519.PublicKeySize || h.Machine != machine || machineOf(h.Key) != machine {
		return nil, badCopy(name, "it has another machine's key")
	}
	if !ed25519.Verify(h.Key, append([]byte(signedWords), body...), sig) {
		return nil, badCopy(name, "the signature is wrong")
	}
	h.hash = hash(object)
	return &h, nil
}

// packer collects stretches for one pack.
type packer struct {
	*coder
	frames []byte
	parts  []Part
}

// add adds a stretch with its bytes.
func (p *packer) add(s Session, revision int, t Stretch, data []byte) {
	t.At = int64(len(p.frames))
	p.frames = p.enc.EncodeAll(data, p.frames)
	t.Size, t.Len, t.Sum = int64(len(p.frames))-t.At, int64(len(data)), hash(data)
	p.part(s, revision, t)
}

// part adds a stretch whose bytes, if any, are in the frames.
func (p *packer) part(s Session, revision int, t Stretch) {
	if n := len(p.parts); n == 0 || p.parts[n-1].Session != s || p.parts[n-1].Revision != revision {
		p.parts = append(p.parts, Part{Session: s, Revision: revision})
	}
	last := &p.parts[len(p.parts)-1]
	last.Stretches = append(last.Stretches, t)
}

// finish returns the pack and its bytes.
func (p *packer) finish(seq int64) (Pack, []byte, error) {
	index, err := json.Marshal(p.parts)
	if err != nil {
		return Pack{}, nil, fmt.Errorf("encode index of a pack: %w", err)
	}
	n := len(p.frames)
	plain := p.enc.EncodeAll(index, p.frames)
	plain = binary.BigEndian.AppendUint32(plain, uint32(len(plain)-n))
	object, err := p.seal(append(plain, packMagic...))
	if err != nil {
		return Pack{}, nil, err
	}
	return Pack{fmt.Sprintf("%010d-%x", seq, hash(object)), int64(len(object)), p.parts}, object, nil
}

// opened is a decrypted pack.
type opened struct {
	*coder
	object  string
	plain   []byte
	partial *partialPack // instead of plain
}

// openPack verifies and decrypts a pack.
func (k *coder) openPack(object string, pack Pack, data []byte) (*opened, error) {
	if !packName.MatchString(pack.Name) || pack.Name[11:] != hex.EncodeToString(hash(data)) {
		return nil, badCopy(object, "its bytes have another hash")
	}
	plain, err := k.open(object, data)
	if err != nil {
		return nil, err
	}
	return &opened{k, object, plain, nil}, nil
}

// index returns the parts that the pack itself lists. A reader needs it only if no head or catalogue lists the pack.
func (o *opened) index() (parts []Part, err error) {
	rest, ok := bytes.CutSuffix(o.plain, []byte(packMagic))
	if !ok || len(rest) < 4 {
		return nil, badCopy(o.object, "it is no pack")
	}
	n := int(binary.BigEndian.Uint32(rest[len(rest)-4:]))
	if rest = rest[:len(rest)-4]; n > len(rest) {
		return nil, badCopy(o.object, "its index is cut")
	}
	b, err := o.dec.DecodeAll(rest[len(rest)-n:], nil)
	if err == nil {
		err = json.Unmarshal(b, &parts)
	}
	if err != nil {
		return nil, badCopy(o.object, "%v", err)
	}
	return parts, nil
}

// stretch returns the bytes of a stretch.
func (o *opened) stretch(t Stretch) ([]byte, error) {
	size := int64(len(o.plain))
	if o.partial != nil {
		size = o.partial.plainSize
	}
	if t.At < 0 || t.Size < 0 || t.At > size || t.Size > size-t.At || t.Len < 0 || t.Len > maxFrame {
		return nil, badCopy(o.object, "a frame is outside of it")
	}
	var frame []byte
	if o.partial == nil {
		frame = o.plain[t.At : t.At+t.Size]
	} else {
		var err error
		if frame, err = o.partial.frame(t); err != nil {
			return nil, fmt.Errorf("read a part of %s: %w", short(o.object), err)
		}
	}
	data, err := o.dec.DecodeAll(frame, make([]byte, 0, t.Len))
	if err != nil {
		return nil, badCopy(o.object, "%v", err)
	}
	return data, t.verify(o.object, data)
}

func (t Stretch) verify(object string, data []byte) error {
	if int64(len(data)) != t.Len || !bytes.Equal(hash(data), t.Sum) {
		return badCopy(object, "the bytes of a session have another hash")
	}
	return nil
}
