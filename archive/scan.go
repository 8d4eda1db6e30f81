package archive

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"hash/fnv"
	"io"

	bolt "go.etcd.io/bbolt"
)

// scan reads a file from front to back for intact entries. It needs no tree and no page, so it reads on after damage of any
// kind. What a disk cannot read counts as zeros.
type scan struct {
	f      io.ReaderAt
	size   int64
	window []byte // the part of the file in memory
	from   int64  // where it begins
	spare  []byte // for an entry that reaches beyond the window
	failed error  // the first error of the disk
	found  bool   // an entry
}

const (
	scanStep = 4 << 20
	diskPage = 4096 // what is read by itself if the disk fails
)

// storedEntry is an intact entry of the file.
type storedEntry struct {
	header
	key, value []byte // valid until the next entry
	record     []byte // of value
	at         int64  // of the value
}

// each calls fn with every intact entry, in the order of the file. A part of an entry is none. It fails for a file that is no
// archive.
func (s *scan) each(ctx context.Context, fn func(e storedEntry) error, progress Progress) error {
	next := int64(0)
	for s.from = 0; s.from < s.size; s.from += scanStep {
		if err := ctx.Err(); err != nil {
			return err
		}
		progress(s.from, s.size)
		lead := min(s.from, bolt.MaxKeySize) // a key stands before its value
		s.window = s.read(s.window, s.from-lead, min(s.size, s.from+scanStep+int64(headMost))-s.from+lead)
		s.from -= lead
		for at := max(next, s.from+lead); ; {
			i := bytes.Index(s.window[min(int64(len(s.window)), at-s.from):], []byte(magic))
			if i < 0 || at+int64(i) >= s.from+lead+scanStep {
				break
			}
			at += int64(i)
			e, ok := s.entry(at)
			if !ok {
				at++
				continue
			}
			s.found = true
			if err := fn(e); err != nil {
				return err
			}
			at += int64(len(e.value))
			next = at
		}
		s.from += lead
	}
	head := s.read(nil, 0, min(s.size, 2*4096))
	if s.found || bytes.Contains(head, binary.NativeEndian.AppendUint32(nil, 0xED0CDAED)) || len(bytes.Trim(head, "\x00")) == 0 {
		return nil // without an entry it may have been one: it begins like a file of bbolt, or was zeroed
	}
	return errNotArchive
}

// entry returns the entry whose value begins at an offset, if there is an intact one.
func (s *scan) entry(at int64) (e storedEntry, ok bool) {
	h, ok := parseHeader(s.window[at-s.from:])
	if !ok || at < int64(h.key) || at+int64(h.value()) > s.size || buckets[h.kind] == nil {
		return e, false
	}
	from, n := at-int64(h.key), int64(h.key+h.value())
	var b []byte
	if end := from + n - s.from; from >= s.from && end <= int64(len(s.window)) {
		b = s.window[from-s.from : end]
	} else {
		s.spare = s.read(s.spare, from, n)
		b = s.spare
	}
	e = storedEntry{header: h, key: b[:h.key], value: b[h.key:], at: at}
	var err error
	e.record, err = unseal(h.kind, e.key, e.value)
	return e, err == nil
}

// read returns n bytes of the file from off, in buf if they fit.
func (s *scan) read(buf []byte, off, n int64) []byte {
	if int64(cap(buf)) < n {
		buf = make([]byte, n)
	}
	buf = buf[:n]
	if got, err := s.f.ReadAt(buf, off); err == nil || errors.Is(err, io.EOF) {
		return buf[:got]
	}
	for done := int64(0); done < n; done += diskPage {
		page := buf[done:min(n, done+diskPage)]
		if _, err := s.f.ReadAt(page, off+done); err != nil && !errors.Is(err, io.EOF) {
			clear(page)
			if s.failed == nil {
				s.failed = err
			}
		}
	}
	return buf
}

// cut reports whether the file is shorter than the newest state of bbolt's tree in it, by what an intact meta page says.
func (s *scan) cut() bool {
	const head, sum, pages = 16, 56, 40 // where in a page the record begins; in that its check sum, and the number of pages
	page := int64(diskPage)
	for at := int64(0); at <= page; at += page {
		b := s.read(nil, at, head+sum+8)
		if len(b) < head+sum+8 {
			return false
		}
		h := fnv.New64a()
		h.Write(b[head : head+sum])
		if h.Sum64() != binary.NativeEndian.Uint64(b[head+sum:]) {
			continue
		}
		if page = int64(binary.NativeEndian.Uint32(b[head+8:])); page == 0 {
			return false
		}
		if int64(binary.NativeEndian.Uint64(b[head+pages:]))*page > s.size {
			return true
		}
	}
	return false
}

var errNotArchive = errors.New("not a ccd archive")
