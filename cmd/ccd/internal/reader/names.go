package reader

import (
	"cmp"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"strings"

	"ccd/internal/ownfile"
)

// Agents also keep names of sessions in files beside the transcripts: Codex in session_index.jsonl of its home, Claude Code in
// sessions-index.json of a project. Lists and searches take a name from there if the transcript has none.

// maxIndex is how much of such a file is read, in bytes.
const maxIndex = 8 << 20

// name sets the titles of sessions whose transcripts have none. What cannot be read is left out: it is only a name.
func (l *Library) name() {
	read := map[string]map[string]string{}
	for i := range l.Sessions {
		e := &l.Sessions[i]
		if e.Kept.Title != "" || e.Path == "" || l.Machine != "" {
			continue
		}
		var path string
		var parse func(string) map[string]string
		switch e.Agent {
		case "codex":
			path, parse = filepath.Join(filepath.Dir(e.Root), "session_index.jsonl"), codexNames
		case "claude-code":
			path, parse = filepath.Join(filepath.Dir(e.Path), "sessions-index.json"), claudeNames
		default:
			continue
		}
		names, known := read[path]
		if !known {
			names = parse(path)
			read[path] = names
		}
		e.Kept.Title = names[e.Name()]
	}
}

func indexText(path string) []byte {
	file, err := ownfile.Open(path, os.O_RDONLY, 0)
	if err != nil {
		return nil
	}
	defer file.Close()
	text, err := io.ReadAll(io.LimitReader(file, maxIndex))
	if err != nil {
		return nil
	}
	return text
}

// codexNames reads one name a line; a later one replaces an earlier one.
func codexNames(path string) map[string]string {
	names := map[string]string{}
	for line := range strings.Lines(string(indexText(path))) {
		var one struct {
			ID   string `json:"id"`
			Name string `json:"thread_name"`
		}
		if json.Unmarshal([]byte(line), &one) == nil && one.Name != "" {
			names[one.ID] = one.Name
		}
	}
	return names
}

func claudeNames(path string) map[string]string {
	var index struct {
		Entries []struct {
			ID      string `json:"sessionId"`
			Custom  string `json:"customTitle"`
			Summary string `json:"summary"`
		} `json:"entries"`
	}
	names := map[string]string{}
	if json.Unmarshal(indexText(path), &index) != nil {
		return names
	}
	for _, one := range index.Entries {
		names[one.ID] = cmp.Or(one.Custom, one.Summary)
	}
	return names
}
