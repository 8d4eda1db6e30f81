package main

import (
	"os"
	"strings"
	"time"

	"ccd/daemon"
	"ccd/watcher"
)

// stored is how much of a transcript's file the archive holds.
type stored struct {
	bytes   int64
	source  daemon.Stat // of the file when it was last archived
	packed  bool
	skipped bool
}

func (e entry) stored() stored {
	return stored{e.Tip().Offset, e.state.Source, e.Packed, e.state.Skipped != ""}
}

// lag returns how many bytes of a file of that size and time are not archived. A file that is shorter than what is
// stored was replaced, and will be archived from its first byte. How much a compressed file holds is known only of the
// one that was archived; of another all its own bytes count.
func (s stored) lag(size int64, modified time.Time) int64 {
	switch {
	case s.skipped, s.packed && s.same(size, modified):
		return 0
	case s.packed, size < s.bytes:
		return size
	}
	return size - s.bytes
}

// same reports whether the file is as it was when it was last archived.
func (s stored) same(size int64, modified time.Time) bool {
	return s.source.Size == size && s.source.ModTime == modified.UnixNano()
}

// lag returns how many bytes of the session's file are not archived, 0 where the file is gone.
func (e entry) lag() int64 {
	info, err := os.Lstat(e.Path)
	if err != nil || !info.Mode().IsRegular() {
		return 0
	}
	return e.stored().lag(info.Size(), info.ModTime())
}

// pending is what stands in files and not in the archive.
type pending struct {
	files  int       // that have changed since they were archived
	bytes  int64     // of them that are not archived
	oldest time.Time // modification time
}

// behind counts the files, among those that the filter accepts (nil: all), that are not archived as they stand.
func behind(found []watcher.Found, archived map[string]stored, filter func(watcher.Found) bool) (p pending) {
	for _, f := range found {
		s, known := archived[f.Path]
		current := known && (s.skipped || s.same(f.Size, f.ModTime) && s.lag(f.Size, f.ModTime) == 0)
		if plain, packed := strings.CutSuffix(f.Path, ".zst"); !known && packed {
			current = exists(plain) // that one is archived
		}
		if current || filter != nil && !filter(f) {
			continue
		}
		p.files++
		p.bytes += s.lag(f.Size, f.ModTime)
		if p.oldest.IsZero() || f.ModTime.Before(p.oldest) {
			p.oldest = f.ModTime
		}
	}
	return p
}

// archived is what is stored of each session, by path.
func (l *library) archived() map[string]stored {
	all := make(map[string]stored, len(l.sessions))
	for _, e := range l.sessions {
		all[e.Path] = e.stored()
	}
	return all
}
