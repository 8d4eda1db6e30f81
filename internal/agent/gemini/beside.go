package gemini

import (
	"path/filepath"
	"strings"

	"ccd/internal/transcript"
)

// index is the list of projects: the working directory of each, and the name of its directory below tmp.
var index = transcript.Index{
	Of: func(s transcript.Session, _ string) (path, name string) {
		below := strings.TrimPrefix(s.Source, filepath.Base(s.Root)+"/")
		name, _, _ = strings.Cut(below, "/")
		return filepath.Join(filepath.Dir(s.Root), "projects.json"), name
	},
	Read: func(text []byte) map[string]transcript.Facts {
		all := map[string]transcript.Facts{}
		for dir, name := range transcript.Arguments(text).Field("projects").Members() {
			if filepath.IsAbs(string(dir)) {
				all[name.Text()] = transcript.Facts{Cwd: string(dir)}
			}
		}
		return all
	},
}
