package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"ccd/internal/ownfile"
	"ccd/internal/transcript"
)

// restored is one line of STATE/restores.log: that an original was asked for, and whether it came. Nothing of what it
// holds stands there, nor its ID.
type restored struct {
	Time    time.Time `json:"time"`
	Kind    string    `json:"kind"` // what was named: "id", "record", "session" or "file"
	Agent   string    `json:"agent"`
	Session string    `json:"session"` // "" where none was found
	OK      bool      `json:"ok"`
}

const (
	maxRestores = 1 << 20 // bytes of the log; what was there then becomes the older one of two
	maxRestored = 2048    // bytes of a line
)

func restoresLog(stateDir string) string { return filepath.Join(stateDir, "restores.log") }

// kind is what a restore's command line names.
func (f restoreFlags) kind(args []string) string {
	switch {
	case f.session != "":
		return "session"
	case len(args) == 1 && strings.Contains(args[0], "#"):
		return "record"
	}
	return "id"
}

// noteRestore counts a restore where that can be written. Whether it can is nobody's concern: it only counts.
func (l *library) noteRestore(kind string, of transcript.Key, err error) {
	if errors.As(err, new(usageError)) || errors.Is(err, context.Canceled) || errors.Is(err, fs.ErrExist) {
		return // nothing was looked for, or nobody waited for it, or it was found and may not be put there
	}
	line, bad := json.Marshal(restored{time.Now().UTC().Truncate(time.Second), kind, of.Agent, of.ID, err == nil})
	if bad == nil && len(line) < maxRestored {
		appendCapped(restoresLog(l.stateDir), append(line, '\n'), maxRestores)
	}
}

// appendCapped adds to a file of at most so many bytes: a full one is renamed, in the place of the one before. A
// directory that is read-only stays as it is, also for a user whom that would not stop.
func appendCapped(path string, line []byte, most int64) {
	if dir, err := os.Stat(filepath.Dir(path)); err != nil || dir.Mode().Perm()&0o200 == 0 {
		return
	}
	info, err := os.Lstat(path)
	switch {
	case err != nil && !errors.Is(err, fs.ErrNotExist), err == nil && !info.Mode().IsRegular():
		return
	case err == nil && info.Size()+int64(len(line)) > most:
		if os.Rename(path, path+".1") != nil {
			return
		}
	}
	f, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return
	}
	_, _ = f.Write(line) // a count that is lost is a count that is lost
	_ = f.Close()
}

// restores reads what noteRestore wrote, the older lines first. Lines that cannot be read are left out.
func (l *library) restores() []restored {
	var all []restored
	for _, name := range []string{restoresLog(l.stateDir) + ".1", restoresLog(l.stateDir)} {
		text, err := ownfile.Read(name, 2*maxRestores)
		if err != nil {
			continue
		}
		for line := range bytes.Lines(text) {
			var r restored
			if json.Unmarshal(line, &r) == nil && !r.Time.IsZero() {
				all = append(all, r)
			}
		}
	}
	return all
}
