package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/dustin/go-humanize"

	"ccd/archive"
	"ccd/internal/transcript"
	"ccd/watcher"
)

// checkArchive tells what was seen of the archive: can it be read, is what was looked at sound, has it room?
func checkArchive(_ context.Context, s *surroundings) []finding {
	const check = "archive"
	size, path := s.size, s.l.archivePath
	var all []finding
	switch {
	case s.slow:
		return nil // the lock's check tells
	case s.readErr != nil:
		all = append(all, wrong(check, "ccd verify", "%v", s.readErr))
	case size.File == 0:
		return []finding{ok(check, "%s is not there yet; `ccd run` makes it", path)}
	}
	const mend = "ccd verify lists all damage; what is sound still restores"
	for _, d := range s.sample.Damage {
		all = append(all, wrong(check, mend, "%v", d))
	}
	for _, d := range s.damage {
		all = append(all, wrong(check, mend, "%v", d))
	}
	all = few(check, "in the archive", all)
	switch limit := s.l.config.Archive.MaxSize; {
	case full(size, limit):
		all = append(all, wrong(check, "raise archive.max_size", "%s is %s and has no room to grow below archive.max_size of %s: nothing more is archived",
			path, humanize.IBytes(uint64(size.File)), s.l.written("archive.max_size")))
	case nearlyFull(size, limit):
		all = append(all, note(check, "raise archive.max_size", "%s is %s, over 80 %% of archive.max_size of %s",
			path, humanize.IBytes(uint64(size.File)), s.l.written("archive.max_size")))
	}
	if dir := existing(filepath.Dir(path)); filepath.Dir(path) != s.l.stateDir {
		if fs := watcher.ForeignFS(dir); fs != "" {
			all = append(all, note(check, "set archive.path to a disk of this machine", "%s is on %s: locks and mapped files are not to be trusted there", path, fs))
		}
	}
	if len(all) == 0 {
		all = append(all, ok(check, "%s, %s for %s of transcripts; %s", path, humanize.IBytes(uint64(size.File)),
			humanize.IBytes(uint64(size.Raw)), sampleLine(s.sample)))
	}
	return all
}

func sampleLine(s archive.Sampled) string {
	if s.Whole {
		return fmt.Sprintf("all %s and %s are sound", count(s.Blocks, "block"), count(s.Pointers, "original"))
	}
	return fmt.Sprintf("a sample of %s and %s is sound (ccd verify reads all)", count(s.Blocks, "block"), count(s.Pointers, "original"))
}

// full reports whether the archive's file has nothing free, and its next step would pass the limit of so many bytes.
// It doubles while it is small, then grows in steps of 16 MiB.
func full(size archive.Size, limit int64) bool {
	step := min(size.File, 16<<20)
	return limit > 0 && size.File > 0 && size.File+step > limit && size.Free < step
}

// nearlyFull reports whether what is in use is over 80 % of the limit.
func nearlyFull(size archive.Size, limit int64) bool {
	return limit > 0 && size.File-size.Free > limit/10*8
}

// checkLock tells who keeps the archive's lock: nobody should hold it for longer than a moment.
func checkLock(_ context.Context, s *surroundings) []finding {
	const check = "lock"
	if !s.slow {
		return nil
	}
	var locked *archive.LockedError
	if errors.As(s.readErr, &locked) {
		return []finding{wrong(check, locked.Hint(), "%v", locked)}
	}
	return []finding{wrong(check, "check the disk: ls "+shellWord(filepath.Dir(s.l.archivePath)), "no answer within %s; the file system hangs", checkLimit)}
}

func checkSpace(_ context.Context, s *surroundings) []finding {
	const check = "space"
	free, err := freeSpace(existing(filepath.Dir(s.l.archivePath)))
	if err != nil {
		return []finding{note(check, "", "cannot be told: %v", err)}
	}
	return []finding{s.space(free)}
}

// space judges so many bytes free for the archive, by what must stay free and by how fast the archive grows.
func (s *surroundings) space(free int64) finding {
	const check, soon = "space", 14
	least, mend := s.l.minFree(), "make room, or lower archive.min_free"
	if free < least {
		return wrong(check, mend, "%s free, below archive.min_free of %s: nothing is archived", humanize.IBytes(uint64(free)), s.l.written("archive.min_free"))
	}
	need := int64(float64(s.unarchived(nil).bytes) * s.packed())
	if need > free-least {
		return note(check, mend, "%s free, and what is not archived yet will need about %s", humanize.IBytes(uint64(free)), humanize.IBytes(uint64(need)))
	}
	if daily := s.daily(); daily > 0 && (free-least)/daily < soon {
		return note(check, mend, "%s free, enough for about %s at %s a day", humanize.IBytes(uint64(free)),
			count(int((free-least)/daily), "day"), humanize.IBytes(uint64(daily)))
	}
	return ok(check, "%s free for the archive", humanize.IBytes(uint64(free)))
}

// packed is what part of a transcript's bytes the archive takes, as far as it can be told.
func (s *surroundings) packed() float64 {
	if s.size.Raw < 1<<20 {
		return 0.25
	}
	return min(1, float64(s.size.File-s.size.Free)/float64(s.size.Raw))
}

// daily is how many bytes the archive has grown a day, by the sessions that began and ended within the last week.
func (s *surroundings) daily() int64 {
	const days = 7
	raw := int64(0)
	for _, e := range s.sessions {
		if e.Class != transcript.Attachment && s.now.Sub(e.state.First) < days*24*time.Hour {
			raw += e.bytes()
		}
	}
	return int64(float64(raw) * s.packed() / days)
}

func checkBackups(_ context.Context, s *surroundings) (all []finding) {
	for _, path := range archive.Backups(s.l.archivePath) {
		if info, err := os.Stat(path); err == nil {
			all = append(all, note("backups", "once you are content with this version: rm "+shellWord(path),
				"%s, %s: the archive as it was before an upgrade", path, humanize.IBytes(uint64(info.Size()))))
		}
	}
	return all
}

// existing returns the nearest directory above dir that is there.
func existing(dir string) string {
	for dir != filepath.Dir(dir) && !exists(dir) {
		dir = filepath.Dir(dir)
	}
	return dir
}
