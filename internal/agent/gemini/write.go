package gemini

import (
	"cmp"
	"crypto/sha256"
	_ "embed" // the form of a copy
	"fmt"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"text/template"

	"ccd/internal/agent/parts"
	"ccd/internal/transcript"
)

// write returns the lines of a draft in the form of 0.61: a header, then one line per message. Results are in the reply
// with their calls. Usage is left out. lastUpdated is the time of the copy, because the client deletes old sessions.
// The copy starts a second before its source because --resume latest picks the session that started last.
var write = transcript.Writer(form, func(d *transcript.Draft) template.FuncMap {
	return template.FuncMap{
		"part": parts.Part,
		"hash": func(dir string) string { return fmt.Sprintf("%x", sha256.Sum256([]byte(dir))) },
		"updated": func() string {
			last := d.Made
			for _, m := range d.Messages {
				if m.Time.After(last) {
					last = m.Time
				}
			}
			return transcript.Stamp(last)
		},
		"answer": func(i int, call string) *transcript.Block { // in the message after number i
			if i+1 == len(d.Messages) {
				return nil
			}
			all := d.Messages[i+1].Blocks
			n := slices.IndexFunc(all, func(b transcript.Block) bool { return b.Kind == transcript.Result && b.Call == call })
			if n < 0 {
				return nil
			}
			return &all[n]
		},
	}
})

//go:embed copy.tmpl
var form string

var notInName = regexp.MustCompile(`[^a-z0-9]+`)

// place returns the path of a draft below the root, with slashes. The client names the directory of a project after the
// last element of its path, adds a number if another project has that name, and writes the owner to .project_root.
func place(d *transcript.Draft, root string) string {
	name := fmt.Sprintf("session-%s-%.8s.jsonl", d.Start.UTC().Format("2006-01-02T15-04"), d.ID)
	owner := func(dir string) string {
		text, err := os.ReadFile(filepath.Join(root, dir, ".project_root"))
		if err != nil {
			return ""
		}
		return strings.TrimSpace(string(text))
	}
	dirs, _ := os.ReadDir(root) // an unreadable root has no session
	for _, dir := range dirs {
		if owner(dir.Name()) == d.Cwd {
			return path.Join(dir.Name(), "chats", name)
		}
	}
	slug := strings.Trim(notInName.ReplaceAllString(strings.ToLower(path.Base(filepath.ToSlash(d.Cwd))), "-"), "-")
	slug = cmp.Or(slug, "project")
	dir := slug
	for n := 1; owner(dir) != ""; n++ {
		dir = fmt.Sprintf("%s-%d", slug, n)
	}
	return path.Join(dir, "chats", name)
}
