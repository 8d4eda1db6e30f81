package claude

import (
	"cmp"
	"path/filepath"
	"strings"

	"ccd/internal/transcript"
)

// indexes are the list of a project's sessions with their titles, and the teams, whose configurations name the session that leads.
var indexes = []transcript.Index{
	{
		Of: func(s transcript.Session, _ string) (path, name string) {
			return filepath.Join(filepath.Dir(s.Path), "sessions-index.json"), s.ID
		},
		Read: func(text []byte) map[string]transcript.Facts {
			all := map[string]transcript.Facts{}
			for one := range transcript.Arguments(text).Field("entries").Elements() {
				title := cmp.Or(one.Field("customTitle").Text(), one.Field("summary").Text())
				all[one.Field("sessionId").Text()] = transcript.Facts{Title: title}
			}
			return all
		},
	},
	{
		Of: func(s transcript.Session, team string) (path, name string) {
			if team == "" || !filepath.IsLocal(team) || strings.ContainsAny(team, `/\`) {
				return "", ""
			}
			return filepath.Join(filepath.Dir(s.Root), "teams", team, "config.json"), ""
		},
		Read: func(text []byte) map[string]transcript.Facts {
			return map[string]transcript.Facts{"": {Parent: transcript.Arguments(text).Field("leadSessionId").Text()}}
		},
	},
}
