package reader

import (
	"os"
	"time"

	"ccd/daemon"
	"ccd/internal/transcript"
	"ccd/watcher"
)

// lag returns how many bytes of a file of that size and time are not archived, where the session's file was. A file that is
// shorter than what is archived was replaced, and will be archived from its first byte. How much a compressed file holds is known
// only of the one that was archived; of another all its own bytes count.
func (e *Entry) lag(size int64, modified time.Time) int64 {
	switch archived := e.Tip().Offset; {
	case e.Kept.SkipReason != "", e.Packed && e.archivedAs(size, modified):
		return 0
	case e.Packed, size < archived:
		return size
	default:
		return size - archived
	}
}

// archivedAs reports whether the file was like that when it was last archived.
func (e *Entry) archivedAs(size int64, modified time.Time) bool {
	return e.Kept.Source.Size == size && e.Kept.Source.ModTime == modified.UnixNano()
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
	return e.lag(info.Size(), info.ModTime()), true
}

// Behind returns how many bytes of some sessions are not archived and will not be, as no daemon runs.
func (l *Library) Behind(of []*Entry) (lag int64) {
	if _, running, _ := daemon.ReadRun(l.StateDir); running { // valid in any case
		return 0
	}
	for _, e := range of {
		lag += e.Lag()
	}
	return lag
}

// Pending is what stands in files and not in the archive.
type Pending struct {
	Files  int       // that have changed since they were archived
	Bytes  int64     // of them that are not archived
	Oldest time.Time // modification time
}

// Behind counts the files, among those that the filter accepts (nil: all), that are not archived as they stand.
func Behind(found []watcher.Found, archived []*Entry, filter func(watcher.Found) bool) (p Pending) {
	byPath := make(map[string]*Entry, len(archived))
	for _, e := range archived {
		byPath[e.Path] = e
	}
	for _, f := range found {
		e, bytes, current := byPath[f.Path], f.Size, false
		if e != nil {
			bytes = e.lag(f.Size, f.ModTime)
			current = e.Kept.SkipReason != "" || bytes == 0 && e.archivedAs(f.Size, f.ModTime)
		} else if plain, packed := transcript.Unpacked(f.Path); packed {
			_, err := os.Lstat(plain)
			current = err == nil // that one is archived
		}
		if current || filter != nil && !filter(f) {
			continue
		}
		p.Files++
		p.Bytes += bytes
		if p.Oldest.IsZero() || f.ModTime.Before(p.Oldest) {
			p.Oldest = f.ModTime
		}
	}
	return p
}
