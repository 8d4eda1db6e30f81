package resume

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"ccd/internal/atomicfile"
)

// Put writes a copy to path, where nothing may stand, with mode 0600. It never takes over what an agent goes on with
// last: its modification time is before that of source (a path, which need not exist) and of the sessions beside it.
func (c *Copy) Put(path, source string, now time.Time) error {
	dir := filepath.Dir(path)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return fmt.Errorf("write copy: %w", err)
	}
	p, err := atomicfile.Prepare(path, 0o600, append(bytes.Join(c.Lines, []byte{'\n'}), '\n'))
	if err != nil {
		return err
	}
	defer p.Discard()
	times, err := siblings(dir, source)
	if err != nil {
		return fmt.Errorf("write copy: %w", err)
	}
	if err := p.Date(older(times, now)); err != nil {
		return err
	}
	return p.CommitNew()
}

// siblings are the modification times of the sessions in a directory, and of one more file.
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
		info, err := os.Stat(path)
		switch {
		case err == nil:
			times = append(times, info.ModTime())
		case !errors.Is(err, fs.ErrNotExist):
			return nil, err
		}
	}
	return times, nil
}

const (
	young = 7 * 24 * time.Hour  // files of this age no agent purges
	spent = 29 * 24 * time.Hour // files of this age agents purge when they start
)

// older is the modification time of a copy among sessions of the given times. It is before all of them, so that no
// list by time begins with it; but agents purge by age, so it is not made older than a week for that: it is then a second
// before the newest. Where that one is about to be purged itself, the copy must outlive it.
func older(times []time.Time, now time.Time) time.Time {
	if len(times) == 0 {
		return now
	}
	newest, oldest := times[0], times[0]
	for _, t := range times {
		if t.After(newest) {
			newest = t
		}
		if t.Before(oldest) {
			oldest = t
		}
	}
	switch {
	case now.Sub(oldest) < young:
		return oldest.Add(-time.Second)
	case now.Sub(newest) < spent:
		return newest.Add(-time.Second)
	}
	return now.Add(-young)
}
