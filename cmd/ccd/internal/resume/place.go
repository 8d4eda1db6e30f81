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
// sessions beside it, unless that is over a day old: an agent may soon remove what is older. It fails for a name that is taken.
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
	last, err := lastOf(dir, source)
	if err != nil {
		return fmt.Errorf("write copy: %w", err)
	}
	if last = last.Add(-time.Second); now.Sub(last) > 24*time.Hour {
		last = now
	}
	if err := p.Date(last); err != nil {
		return err
	}
	return p.CommitNew()
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
