package archive

import (
	"encoding/binary"
	"errors"
	"time"

	"ccd/internal/mark"
	"ccd/internal/transcript"
)

// pointerKey is hash and shape: the same bytes in another shape are another original.
func pointerKey(p transcript.Pointer) []byte {
	return append(append(make([]byte, 0, len(p.Hash)+1), p.Hash[:]...), byte(p.Shape))
}

// encodePointer returns the "ids" record of a pointer: a sequence of varints and strings.
func encodePointer(k transcript.Key, generation int, p transcript.Pointer) []byte {
	var b []byte
	b = appendString(b, k.Agent)
	b = appendString(b, k.ID)
	b = binary.AppendUvarint(b, uint64(generation))
	b = binary.AppendVarint(b, int64(p.Record))
	b = binary.AppendVarint(b, int64(p.Last))
	b = binary.AppendVarint(b, p.Time.Unix())
	b = binary.AppendUvarint(b, uint64(p.Time.Nanosecond()))
	b = appendString(b, p.Note)
	b = binary.AppendUvarint(b, uint64(len(p.Parts)))
	at := int64(0)
	for _, part := range p.Parts {
		b = append(b, byte(part.Kind))
		b = binary.AppendVarint(b, part.Span.Off-at)
		b = binary.AppendUvarint(b, uint64(part.Span.Len))
		at = part.Span.Off
	}
	return b
}

func decodePointer(key, record []byte) (f Found, err error) {
	if len(key) != len(f.Hash)+1 {
		return f, errors.New("index key has wrong size")
	}
	f.Hash, f.Shape = mark.Hash(key[:len(f.Hash)]), transcript.Shape(key[len(f.Hash)])
	d := varints{b: record}
	f.Key = transcript.Key{Agent: d.string(), ID: d.string()}
	f.Generation = int(d.uint())
	f.Record, f.Last = int(d.int()), int(d.int())
	f.Time = time.Unix(d.int(), int64(d.uint())).UTC()
	f.Note = d.string()
	n := d.uint()
	if n > uint64(len(d.b)) { // a part takes at least three bytes
		d.fail()
	}
	at := int64(0)
	for i := uint64(0); i < n && d.err == nil; i++ {
		p := transcript.Part{Kind: transcript.Kind(d.byte())}
		p.Span.Off = at + d.int()
		p.Span.Len = int64(d.uint())
		at = p.Span.Off
		f.Parts = append(f.Parts, p)
	}
	return f, d.end()
}

func appendUints(b []byte, all ...uint64) []byte {
	for _, n := range all {
		b = binary.AppendUvarint(b, n)
	}
	return b
}

func appendString(b []byte, s string) []byte {
	return append(binary.AppendUvarint(b, uint64(len(s))), s...)
}

// varints decodes a record. After the first error it returns zeros.
type varints struct {
	b   []byte
	err error
}

func (d *varints) fail() {
	d.b = nil
	if d.err == nil {
		d.err = errors.New("record cannot be decoded")
	}
}

// end fails unless everything was decoded.
func (d *varints) end() error {
	if d.err == nil && len(d.b) > 0 {
		d.fail()
	}
	return d.err
}

func (d *varints) uint() uint64 { return varint(d, binary.Uvarint) }

func (d *varints) int() int64 { return varint(d, binary.Varint) }

func varint[T int64 | uint64](d *varints, read func([]byte) (T, int)) T {
	v, n := read(d.b)
	if n <= 0 {
		d.fail()
		return 0
	}
	d.b = d.b[n:]
	return v
}

func (d *varints) byte() byte {
	if b := d.bytes(1); b != nil {
		return b[0]
	}
	return 0
}

func (d *varints) string() string { return string(d.bytes(int(min(d.uint(), maxRecord)))) }

func (d *varints) bytes(n int) []byte {
	if n > len(d.b) {
		d.fail()
		return nil
	}
	b := d.b[:n]
	d.b = d.b[n:]
	return b
}
