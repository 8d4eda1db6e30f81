package resume

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"ccd/internal/atomicfile"
)

// Put writes a copy to path, where nothing may stand, with mode 0600. It never takes over what an agent goes on with
// last: its modification time is before that of source (a path, which need not exist) and of the sessions beside it.
// Purge is the age at which the agent removes sessions, 0 where it never does: where all of them have that age, the copy
// must be newer to be there at all, which newest reports.
func (c *Copy) Put(path, source string, purge time.Duration, now time.Time) (newest bool, err error) {
	dir := filepath.Dir(path)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return false, fmt.Errorf("write copy: %w", err)
	}
	p, err := atomicfile.Prepare(path, 0o600, append(bytes.Join(c.Lines, []byte{'\n'}), '\n'))
	if err != nil {
		return false, err
	}
	defer p.Discard()
	times, err := siblings(dir, source)
	if err != nil {
		return false, fmt.Errorf("write copy: %w", err)
	}
	at, newest := older(times, purge, now)
	if err := p.Date(at); err != nil {
		return false, err
	}
	return newest, p.CommitNew()
}

// siblings are the modification times of the sessions in a directory, and of one more file. What cannot be looked at, as
// a link to itself, no agent goes on with.
func siblings(dir, source string) (times []time.Time, err error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	paths := []string{source}
	for _, e := range entries {
		if strings.HasSuffix(e.Name(), ".jsonl") {
			paths = append(paths, filepath.Join(dir, e.Name()))
		}
	}
	for _, path := range paths {
		if info, err := os.Stat(path); err == nil {
			times = append(times, info.ModTime())
		}
	}
	return times, nil
}

// life is how long a copy is kept at the least where its agent purges by age and nothing speaks against it.
const life = 14 * 24 * time.Hour

// older is the modification time of a copy among sessions of the given times: before all of them, so that no list by
// time begins with it, also when the newer ones are gone. But agents purge by age: it is not made so old for that that
// it is removed soon, only as old as the newest needs. Where the newest is about to be purged itself, the copy must
// outlive it, and is the newest.
func older(times []time.Time, purge time.Duration, now time.Time) (at time.Time, newest bool) {
	if len(times) == 0 {
		return now, false
	}
	last := slices.MaxFunc(times, time.Time.Compare)
	at = slices.MinFunc(times, time.Time.Compare).Add(-time.Second)
	if purge <= 0 {
		return at, false
	}
	if oldest := now.Add(min(life, purge/2) - purge); at.Before(oldest) {
		at = oldest
	}
	switch {
	case at.Before(last):
		return at, false
	case now.Sub(last) < purge-min(24*time.Hour, purge/4):
		return last.Add(-time.Second), false
	}
	return at, true
}
