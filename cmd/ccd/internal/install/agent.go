package install

import (
	"errors"
	"fmt"
	"path/filepath"

	"ccd/cmd/ccd/internal/disk"
	"ccd/internal/transcript"
	"ccd/internal/words"
)

// hooksOff returns what disables an agent's hooks and its mod, "" if nothing does.
func (s *Setup) hooksOff(a agent) string {
	if f, err := read(a.hooks); a.hooks != "" && err == nil {
		if d, err := parse(a.hooks, f.text, a.Comments); err == nil {
			if off := d.get("disableAllHooks"); off != nil && off.Value.Kind() == 't' {
				return a.hooks + " disables all hooks (disableAllHooks), also ccd's."
			}
		}
	}
	if f, err := read(a.servers); a.servers != "" && a.Member == "" && err == nil {
		all, _, _ := values(f)
		if features, _ := all["features"].(map[string]any); features["hooks"] == false {
			return a.servers + " disables all hooks (features.hooks), also ccd's."
		}
	}
	return ""
}

// notes returns what keeps an agent from using what is installed.
func (s *Setup) notes(a agent) (notes []string) {
	if off := s.hooksOff(a); off != "" {
		notes = append(notes, off)
	}
	if a.Shadow != "" && disk.Exists(filepath.Join(a.dir, a.Shadow)) {
		notes = append(notes, a.title+" reads "+filepath.Join(a.dir, a.Shadow)+" instead of "+a.Guide+", so it does not see ccd's instructions.")
	}
	return notes
}

// edited returns the error for a file of ccd's that the user changed.
func (f file) edited() error {
	return words.Hint(fmt.Errorf("read %s: %w", f.path, errEdited), "save your changes elsewhere, then: rm %s", transcript.ShellWord(f.path))
}

var errEdited = errors.New("it was changed since ccd wrote it")
