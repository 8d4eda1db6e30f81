package hook

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"ccd/internal/mark"
)

// Entry is one line of STATE/hook.log, as JSON: what became of one call. No text of a transcript stands there.
type Entry struct {
	Time    time.Time `json:"time"`
	Event   string    `json:"event"`
	Agent   string    `json:"agent,omitempty"`
	Session string    `json:"session,omitempty"`
	Source  string    `json:"source,omitempty"`
	Ms      int64     `json:"ms"`
	Did     string    `json:"did,omitempty"`
	Why     string    `json:"why,omitempty"` // nothing was said, or not all was done
}

// maxLog is the size of the log in bytes; what was there then becomes the older one of two.
const maxLog = 256 << 10

// Log adds a line to the log below stateDir, which is made where missing. Whether that can be written is nobody's concern.
func Log(stateDir string, e Entry) {
	e.Event, e.Agent, e.Session, e.Source = word(e.Event), word(e.Agent), word(e.Session), word(e.Source)
	e.Why = mark.Inline(e.Why, 300)
	line, err := json.Marshal(e)
	path := filepath.Join(stateDir, "hook.log")
	if err != nil || writable(stateDir) != nil {
		return
	}
	info, err := os.Lstat(path)
	switch {
	case err != nil && !errors.Is(err, fs.ErrNotExist), err == nil && !info.Mode().IsRegular():
		return
	case err == nil && info.Size()+int64(len(line)) >= maxLog:
		if os.Rename(path, path+".1") != nil {
			return
		}
	}
	f, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return
	}
	_, _ = f.Write(append(line, '\n')) // a line that is lost is a line that is lost
	_ = f.Close()
}

// word is a name that an event gives; anything else that may stand there is not for the log.
func word(s string) string {
	if len(s) > 80 {
		return "?"
	}
	for i := range len(s) {
		if c := s[i]; (c < '0' || c > '9') && (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && c != '-' && c != '_' && c != '.' {
			return "?"
		}
	}
	return s
}
