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

// Put writes a copy to path, which must not exist, with mode 0600. The copy must not become the session that the agent
// continues by default, so its modification time is before that of source (a path, which need not exist) and of the
// sessions beside it. purge is the age at which the agent removes sessions, 0 if it never does. If all others are about to
// be removed, the copy must be newer than they are, which newest reports.
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

// siblings returns the modification times of the sessions in a directory and of one more file. It skips what cannot be
// read, such as a link to itself, because no agent can continue that.
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

// life is how long a copy should be kept if its agent removes sessions by age.
const life = 14 * 24 * time.Hour

// older returns the modification time for a copy among sessions of the given times: before all of them, so that it is never
// first in a list by time, even after newer sessions are removed. Because agents remove sessions by age, it is not made so
// old that it would be removed soon, only older than the newest. If the newest is about to be removed itself, the copy must
// outlive it and becomes the newest.
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
