package reader

import (
	"os"
	"time"

	"ccd/daemon"
	"ccd/internal/transcript"
	"ccd/watcher"
)

// Stored is how much of a transcript's file the archive holds.
type Stored struct {
	bytes   int64
	source  daemon.Stat // of the file when it was last archived
	packed  bool
	skipped bool
}

// Stored is what the archive holds of the session's file.
func (e *Entry) Stored() Stored {
	return Stored{e.Tip().Offset, e.Kept.Source, e.Packed, e.Kept.SkipReason != ""}
}

// lag returns how many bytes of a file of that size and time are not archived. A file that is shorter than what is
// stored was replaced, and will be archived from its first byte. How much a compressed file holds is known only of the
// one that was archived; of another all its own bytes count.
func (s Stored) lag(size int64, modified time.Time) int64 {
	switch {
	case s.skipped, s.packed && s.same(size, modified):
		return 0
	case s.packed, size < s.bytes:
		return size
	}
	return size - s.bytes
}

// same reports whether the file is as it was when it was last archived.
func (s Stored) same(size int64, modified time.Time) bool {
	return s.source.Size == size && s.source.ModTime == modified.UnixNano()
}

// Lag returns how many bytes of the session's file are not archived, 0 where the file is gone.
func (e *Entry) Lag() int64 {
	lag, _ := e.File()
	return lag
}

// File returns how many bytes of the session's file are not archived, and whether the file is where it was last seen.
func (e *Entry) File() (lag int64, present bool) {
	if e.Machine != "" {
		return 0, false
	}
	info, err := os.Lstat(e.Path)
	if err != nil || !info.Mode().IsRegular() {
		return 0, err == nil
	}
	return e.Stored().lag(info.Size(), info.ModTime()), true
}

// Pending is what stands in files and not in the archive.
type Pending struct {
	Files  int       // that have changed since they were archived
	Bytes  int64     // of them that are not archived
	Oldest time.Time // modification time
}

// Behind counts the files, among those that the filter accepts (nil: all), that are not archived as they stand.
func Behind(found []watcher.Found, archived map[string]Stored, filter func(watcher.Found) bool) (p Pending) {
	for _, f := range found {
		s, known := archived[f.Path]
		current := known && (s.skipped || s.same(f.Size, f.ModTime) && s.lag(f.Size, f.ModTime) == 0)
		if plain, packed := transcript.Unpacked(f.Path); !known && packed {
			_, err := os.Lstat(plain)
			current = err == nil // that one is archived
		}
		if current || filter != nil && !filter(f) {
			continue
		}
		p.Files++
		p.Bytes += s.lag(f.Size, f.ModTime)
		if p.Oldest.IsZero() || f.ModTime.Before(p.Oldest) {
			p.Oldest = f.ModTime
		}
	}
	return p
}

// StoredOf is what is stored of each session, by path.
func StoredOf(sessions []*Entry) map[string]Stored {
	all := make(map[string]Stored, len(sessions))
	for i := range sessions {
		all[sessions[i].Path] = sessions[i].Stored()
	}
	return all
}
