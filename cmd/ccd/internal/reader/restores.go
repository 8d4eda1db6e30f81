package reader

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"path/filepath"
	"time"

	"ccd/internal/ownfile"
	"ccd/internal/transcript"
	"ccd/internal/words"
)

// Restored is one line of STATE/restores.log: that an original was asked for, and whether it came. Nothing of what it
// holds stands there, nor its ID.
type Restored struct {
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

// NoteRestore counts a restore where that can be written. Whether it can is nobody's concern: it only counts.
func (l *Library) NoteRestore(kind string, of transcript.Key, err error) {
	if errors.As(err, new(words.UsageError)) || errors.Is(err, context.Canceled) || errors.Is(err, fs.ErrExist) {
		return // nothing was looked for, or nobody waited for it, or it was found and may not be put there
	}
	line, bad := json.Marshal(Restored{time.Now().UTC().Truncate(time.Second), kind, of.Agent, of.ID, err == nil})
	if bad == nil && len(line) < maxRestored {
		ownfile.Append(restoresLog(l.StateDir), append(line, '\n'), maxRestores)
	}
}

// Restores reads what NoteRestore wrote, the older lines first. Lines that cannot be read are left out.
func (l *Library) Restores() []Restored {
	var all []Restored
	for _, name := range []string{restoresLog(l.StateDir) + ".1", restoresLog(l.StateDir)} {
		text, err := ownfile.Read(name, 2*maxRestores)
		if err != nil {
			continue
		}
		for line := range bytes.Lines(text) {
			var r Restored
			if json.Unmarshal(line, &r) == nil && !r.Time.IsZero() {
				all = append(all, r)
			}
		}
	}
	return all
}
