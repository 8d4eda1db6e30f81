package status

import (
	"cmp"
	"slices"
	"time"

	"ccd/cmd/ccd/internal/reader"
	"ccd/internal/transcript"
	"ccd/internal/words"
)

// Project is the sessions of one working directory, added up.
type Project struct {
	Project    string     `json:"project"`
	Sessions   int        `json:"sessions"`
	Bytes      int64      `json:"bytes"`
	Companions int        `json:"companions"`
	Last       *time.Time `json:"last"`
}

// LastAt is when a session of the project last grew, the zero time where that is not known.
func (p *Project) LastAt() time.Time {
	if p.Last == nil {
		return time.Time{}
	}
	return *p.Last
}

// projectOf returns what tells the project of a session: its own working directory, for attachments and sub-agents their
// parent's.
func projectOf(sessions []reader.Entry) func(reader.Entry) string {
	cwd := map[transcript.Key]string{}
	for _, e := range sessions {
		cwd[e.Key] = e.Kept.Cwd
	}
	return func(e reader.Entry) string {
		return cmp.Or(cwd[transcript.Key{Agent: e.Agent, ID: e.Parent}], e.Kept.Cwd, "(unknown)")
	}
}

// Projects adds up by project, the largest first.
func Projects(sessions []reader.Entry) []*Project {
	project := projectOf(sessions)
	at := map[string]*Project{}
	all := []*Project{}
	for _, e := range sessions {
		name := project(e)
		p := at[name]
		if p == nil {
			p = &Project{Project: name}
			at[name], all = p, append(all, p)
		}
		p.Bytes += e.Bytes()
		if e.Class != transcript.Attachment {
			p.Sessions++
		}
		if e.HasCompanion() {
			p.Companions++
		}
		if last := e.Last(); !last.IsZero() && (p.Last == nil || last.After(*p.Last)) {
			p.Last = words.Known(last)
		}
	}
	slices.SortStableFunc(all, func(x, y *Project) int { return cmp.Compare(y.Bytes, x.Bytes) })
	return all
}
