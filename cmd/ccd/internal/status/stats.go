package status

import (
	"cmp"
	"slices"
	"time"

	"ccd/cmd/ccd/internal/reader"
	"ccd/internal/transcript"
	"ccd/internal/words"
)

// Totals adds up sessions.
type Totals struct {
	Sessions   int             `json:"sessions"`
	Companions int             `json:"companions"`
	Messages   int64           `json:"messages_about"`  // real tokens of the messages of the sessions with a companion, converted
	Real       int64           `json:"companion_about"` // real tokens of the companions, converted
	ByProject  []*Project      `json:"by_project"`      // the largest first
	Damage     []reader.Damage `json:"damage"`
}

// Shrunk says what size the messages of the sessions with a companion have, and what size their companions.
func (t Totals) Shrunk() string { return Shrunk(t.Messages, t.Real) }

// Project adds up the sessions of a project.
type Project struct {
	Project    string     `json:"project"`
	Sessions   int        `json:"sessions"`
	Companions int        `json:"companions"`
	Size       int64      `json:"size_tokens"`
	About      bool       `json:"size_about"`
	Bytes      int64      `json:"bytes"` // archived, with attachments
	Last       *time.Time `json:"last"`  // the last record, nil if unknown
}

// LastAt is Last, the zero time where that is not known.
func (p *Project) LastAt() time.Time {
	if p.Last == nil {
		return time.Time{}
	}
	return *p.Last
}

func (p *Project) add(e reader.Entry) {
	p.Bytes += e.Bytes()
	if last := e.Last(); !last.IsZero() && last.After(p.LastAt()) {
		p.Last = words.Known(last)
	}
	if e.Class == transcript.Attachment {
		return
	}
	size := sizeOf(&e)
	p.Sessions++
	p.Size, p.About = p.Size+size.Tokens, p.About || size.About && size.Tokens > 0
	if e.Kept.Companion != "" {
		p.Companions++
	}
}

// TotalsOf adds up sessions, those of sub-agents and attachments to their parent's project.
func TotalsOf(sessions []reader.Entry) Totals {
	out := Totals{ByProject: []*Project{}}
	cwd := map[transcript.Key]string{}
	for _, e := range sessions {
		cwd[e.Key] = e.Kept.Cwd
	}
	projects := map[string]*Project{}
	for _, e := range sessions {
		name := cmp.Or(cwd[transcript.Key{Agent: e.Agent, ID: e.Parent}], e.Kept.Cwd, "(unknown)")
		if projects[name] == nil {
			projects[name] = &Project{Project: name}
			out.ByProject = append(out.ByProject, projects[name])
		}
		projects[name].add(e)
		if e.Class != transcript.Attachment {
			out.Sessions++
		}
		if e.Kept.Companion != "" {
			out.Companions++
			out.Messages, out.Real = out.Messages+e.Kept.About, out.Real+e.Kept.Real
		}
	}
	slices.SortStableFunc(out.ByProject, func(x, y *Project) int { return cmp.Compare(y.Size, x.Size) })
	return out
}
