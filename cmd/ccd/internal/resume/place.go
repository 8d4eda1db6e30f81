package resume

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"ccd/internal/atomicfile"
)

// Put writes a copy to path, which must not exist, with mode 0600. The copy must not become the session that the agent
// continues by default, so its modification time is before that of the newest among source (a path, which need not exist) and the
// sessions beside it. purge is the age at which the agent removes sessions, 0 if it never does. If all others are about to
// be removed, the copy is the newest, which newest reports.
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
	last, err := lastOf(dir, source)
	if err != nil {
		return false, fmt.Errorf("write copy: %w", err)
	}
	at, newest := older(last, purge, now)
	if err := p.Date(at); err != nil {
		return false, err
	}
	return newest, p.CommitNew()
}

// lastOf returns the newest modification time of the sessions in a directory and of one more file. It skips what cannot be
// read, such as a link to itself, because no agent can continue that.
func lastOf(dir, source string) (last time.Time, err error) {
	entries, err := os.ReadDir(dir)
	paths := []string{source}
	for _, e := range entries {
		if strings.HasSuffix(e.Name(), ".jsonl") {
			paths = append(paths, filepath.Join(dir, e.Name()))
		}
	}
	for _, path := range paths {
		if info, err := os.Stat(path); err == nil && info.ModTime().After(last) {
			last = info.ModTime()
		}
	}
	return last, err
}

// older returns the modification time for a copy: before the newest other session, or now, if there is none or the agent is about to
// remove that for its age.
func older(last time.Time, purge time.Duration, now time.Time) (at time.Time, newest bool) {
	switch {
	case last.IsZero():
		return now, false
	case purge > 0 && now.Sub(last) >= purge-min(24*time.Hour, purge/4):
		return now, true
	}
	return last.Add(-time.Second), false
}
