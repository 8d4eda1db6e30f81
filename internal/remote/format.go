// Package remote keeps an encrypted copy of a machine's archive in object storage, and reads the copies of all machines.
//
// docs/REMOTE-FORMAT.md describes the objects. A copy is a sequence of packs with consecutive numbers, which never change,
// and one head that says the last number. A machine writes only below its own prefix, so machines need no lock: a pack is
// written only if there is none with its number, which also notices a second machine with the same name. A machine signs
// all that it writes, with the object's name.
//
// Its invariant: the archive's bytes come back exactly, or an error says what is wrong. What cannot be decrypted or
// verified is never taken as absent. The package does not know which program talks to the store, nor about companions.
package remote

import (
	"bytes"
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"filippo.io/age"
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/klauspost/compress/zstd"

	"ccd/internal/lazy"
	"ccd/internal/mark"
	"ccd/internal/transcript"
)

const (
	top         = "ccd2/" // with the format's number, part of every object's name
	formatName  = top + "format"
	headsPrefix = top + "heads/"
	formatBody  = `{"ccd":2}` + "\n"

	// MaxObject is the size in bytes of an object that a reader accepts.
	MaxObject = 64 << 20
	fullPack  = 8 << 20 // bytes of sessions, to which no more are added
	maxPiece  = 4 << 20 // bytes of a session in one stretch
	maxPast   = 32      // hashes of earlier heads in a head
)

var machineName = lazy.Regexp(`^[0-9a-f]{32}$`)

// form are the options of the JSON in objects and in the machine's file. Names of files may have any bytes, so strings are escaped.
var form = json.JoinOptions(
	json.WithMarshalers(json.MarshalToFunc(func(to *jsontext.Encoder, s string) error { return to.WriteToken(jsontext.String(mark.Name(s))) })),
	json.WithUnmarshalers(json.UnmarshalFromFunc(func(from *jsontext.Decoder, s *string) error {
		t, err := from.ReadToken()
		*s = mark.Unname(t.String())
		return err
	})),
)

// Stretch is a run of bytes of one generation of a session.
type Stretch struct {
	Generation int    `json:"g"`
	Off        int64  `json:"off,omitzero"`
	Len        int64  `json:"len,omitzero"`
	Sum        []byte `json:"sum"` // SHA-256 of the generation up to the end of the stretch
}

// Part is what a pack has of one session.
type Part struct {
	Session   transcript.Session `json:"session"`
	Stretches []Stretch          `json:"stretches,omitempty"`
	State     []byte             `json:"state,omitempty"` // the daemon's state of the session, if it has changed
}

// number is the name of a pack: it has what was pushed from number first to number last.
type number struct {
	last, first int64
	written     int64 // 0, or when gc wrote it in place of others, in seconds since 1970
}

// String returns the name, so that names sort by the last number.
func (n number) String() string { return fmt.Sprintf("%010d-%010d-%010d", n.last, n.first, n.written) }

// numberOf returns the number of a pack's name.
func numberOf(name string) (n number, ok bool) {
	_, err := fmt.Sscanf(name, "%d-%d-%d", &n.last, &n.first, &n.written)
	return n, err == nil && n.String() == name && n.first > 0 && n.first <= n.last
}

// Forgotten is a tombstone: what packs before a number have of a session is void, and no reader may keep it.
type Forgotten struct {
	transcript.Key
	Before int64 `json:"before"`
}

// tombstones are the numbers of the sessions' tombstones.
func tombstones(all []Forgotten) map[transcript.Key]int64 {
	before := map[transcript.Key]int64{}
	for _, f := range all {
		before[f.Key] = f.Before
	}
	return before
}

// Head describes a machine's copy. The store sees its open part; only readers see Inner.
type Head struct {
	Key    []byte    `json:"key"`            // Ed25519
	Seq    int64     `json:"seq"`            // number of the last pack
	Past   [][]byte  `json:"past,omitempty"` // SHA-256 of the heads before, newest first
	Time   time.Time `json:"time"`
	Sealed []byte    `json:"sealed"` // Inner as JSON

	machine string
	hash    []byte // SHA-256 of the object
	inner   Inner
}

// Inner is the part of a head that only readers can decrypt.
type Inner struct {
	Label     string      `json:"label"` // host name
	Sessions  int         `json:"sessions"`
	Bytes     int64       `json:"bytes"` // of transcripts
	Forgotten []Forgotten `json:"forgotten,omitempty"`
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

func packObject(machine string, n number) string { return prefixOf(machine) + n.String() }

// short returns an object's name as messages print it.
func short(name string) string { return strings.TrimPrefix(name, top) }

// coder compresses and encrypts.
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
	dec, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(4*MaxObject))
	if err != nil {
		return nil, fmt.Errorf("start decompressor: %w", err)
	}
	return &coder{enc, dec, recipients, identities}, nil
}

// seal compresses and encrypts.
func (k *coder) seal(plain []byte) ([]byte, error) {
	var b bytes.Buffer
	w, err := age.Encrypt(&b, k.recipients...)
	if err == nil {
		_, err = w.Write(k.enc.EncodeAll(plain, nil))
	}
	if err == nil {
		err = w.Close()
	}
	if err != nil {
		return nil, fmt.Errorf("encrypt: %w", err)
	}
	return b.Bytes(), nil
}

func (k *coder) open(object string, sealed []byte) (plain []byte, err error) {
	r, err := age.Decrypt(bytes.NewReader(sealed), k.identities...)
	if errors.As(err, new(*age.NoIdentityMatchError)) {
		return nil, fmt.Errorf("decrypt %s: %w", object, ErrKey)
	}
	if err == nil {
		plain, err = io.ReadAll(r)
	}
	if err == nil {
		plain, err = k.dec.DecodeAll(plain, nil)
	}
	if err != nil {
		return nil, badCopy(object, "%v", err)
	}
	return plain, nil
}

// proofSize is the size of an object's first line in bytes: the signature. No two objects have the same.
var proofSize = len("ccd2 \n") + base64.StdEncoding.EncodedLen(ed25519.SignatureSize)

// statement is what a machine signs: the bytes of an object and its name, so that none can be shown in place of another.
func statement(name string, body []byte) []byte {
	return append([]byte("ccd2\n"+name+"\n"), body...)
}

func sign(name string, body []byte, key ed25519.PrivateKey) []byte {
	line := "ccd2 " + base64.StdEncoding.EncodeToString(ed25519.Sign(key, statement(name, body))) + "\n"
	return append([]byte(line), body...)
}

// bodyOf returns the signed bytes of an object, and whether it looks like one.
func bodyOf(object []byte) (sig, body []byte, ok bool) {
	if len(object) < proofSize || !bytes.HasPrefix(object, []byte("ccd2 ")) || object[proofSize-1] != '\n' {
		return nil, nil, false
	}
	sig, err := base64.StdEncoding.DecodeString(string(object[len("ccd2 ") : proofSize-1]))
	return sig, object[proofSize:], err == nil
}

// verify returns the signed bytes of an object.
func verify(name string, object []byte, key ed25519.PublicKey) ([]byte, error) {
	sig, body, ok := bodyOf(object)
	if !ok || !ed25519.Verify(key, statement(name, body), sig) {
		return nil, badCopy(name, "the signature is wrong")
	}
	return body, nil
}

// encodeHead makes the object of a head. It sets the key and the hash.
func (k *coder) encodeHead(h *Head, key ed25519.PrivateKey) (object []byte, err error) {
	h.Key = key.Public().(ed25519.PublicKey)
	h.machine = machineOf(h.Key)
	inner, err := json.Marshal(h.inner, form)
	if err == nil {
		h.Sealed, err = k.seal(inner)
	}
	if err != nil {
		return nil, fmt.Errorf("encode head: %w", err)
	}
	body, err := json.Marshal(h, form)
	if err != nil {
		return nil, fmt.Errorf("encode head: %w", err)
	}
	object = sign(headsPrefix+h.machine, body, key)
	h.hash = hash(object)
	return object, nil
}

// decodeHead verifies the head of a machine: the key is the one that the machine is named after, and has signed it.
func decodeHead(machine string, object []byte) (*Head, error) {
	name := headsPrefix + machine
	h := Head{machine: machine, hash: hash(object)}
	if _, body, ok := bodyOf(object); !ok || json.Unmarshal(body, &h, form) != nil {
		return nil, badCopy(name, "it is no head")
	}
	if len(h.Key) != ed25519.PublicKeySize || machineOf(h.Key) != machine {
		return nil, badCopy(name, "it has another machine's key")
	}
	_, err := verify(name, object, h.Key)
	return &h, err
}

// encodePack makes the object of a pack: a line with the parts as JSON, then the bytes of their stretches.
func (k *coder) encodePack(n number, parts []Part, data []byte, key ed25519.PrivateKey) ([]byte, error) {
	index, err := json.Marshal(parts, form)
	if err != nil {
		return nil, fmt.Errorf("encode pack: %w", err)
	}
	sealed, err := k.seal(append(append(index, '\n'), data...))
	if err != nil {
		return nil, err
	}
	return sign(packObject(machineOf(key.Public().(ed25519.PublicKey)), n), sealed, key), nil
}

// decodePack verifies and decrypts a pack of a machine.
func (k *coder) decodePack(h *Head, n number, object []byte) (parts []Part, data []byte, err error) {
	name := packObject(h.machine, n)
	sealed, err := verify(name, object, h.Key)
	if err != nil {
		return nil, nil, err
	}
	plain, err := k.open(name, sealed)
	if err != nil {
		return nil, nil, err
	}
	index, data, _ := bytes.Cut(plain, []byte("\n"))
	if err := json.Unmarshal(index, &parts, form); err != nil {
		return nil, nil, badCopy(name, "%v", err)
	}
	left := int64(len(data))
	for _, p := range parts {
		for _, t := range p.Stretches {
			if t.Off < 0 || t.Len < 0 || t.Len > maxPiece {
				return nil, nil, badCopy(name, "it lists bytes that cannot be")
			}
			left -= t.Len
		}
	}
	if left != 0 {
		return nil, nil, badCopy(name, "its bytes are not those that it lists")
	}
	return parts, data, nil
}
