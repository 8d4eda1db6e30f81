package status

import (
	"cmp"
	"math"
	"slices"
	"time"

	"ccd/cmd/ccd/internal/reader"
	"ccd/internal/mark"
	"ccd/internal/transcript"
	"ccd/internal/words"
)

// Saved is what was saved, of all sessions or of one, and what it took. Original and Compacted are estimates.
type Saved struct {
	Original     int64   `json:"original_tokens"`
	Compacted    int64   `json:"companion_tokens"`
	Percent      float64 `json:"saved_percent"`
	Compactions  int     `json:"compactions"`
	Milliseconds float64 `json:"milliseconds"`
	Tried        int     `json:"restores_tried"`
	Succeeded    int     `json:"restores_succeeded"`
	Size         int64   `json:"size_tokens"`     // real tokens of the sessions that have a companion
	About        bool    `json:"size_about"`      // some of them are converted from an estimate
	Real         int64   `json:"companion_about"` // real tokens of the companions
	Messages     int64   `json:"messages_about"`  // real tokens of the messages in these sessions, converted
}

// Shrunk says what size the messages of the sessions with a companion have, and what size their companions.
func (s Saved) Shrunk() string { return Shrunk(s.Messages, s.Real) }

// Stats is what was saved of several sessions, and of each.
type Stats struct {
	Sessions   int `json:"sessions"`
	Companions int `json:"companions"`
	Saved
	BySession []SessionSaved  `json:"by_session"`
	ByDay     []*Group        `json:"by_day"`     // the newest first
	ByProject []*Group        `json:"by_project"` // the largest first
	Damage    []reader.Damage `json:"damage"`
}

// SessionSaved is what was saved of one session.
type SessionSaved struct {
	Agent   string `json:"agent"`
	Session string `json:"session"`
	Parent  string `json:"parent"`
	Project string `json:"project"`
	Saved
}

// StatsOf adds up sessions and restores.
func StatsOf(sessions []reader.Entry, restores []reader.Restored) Stats {
	out := Stats{BySession: []SessionSaved{}}
	tried := map[transcript.Key][]reader.Restored{}
	for _, r := range restores {
		k := transcript.Key{Agent: r.Agent, ID: r.Session}
		tried[k] = append(tried[k], r)
	}
	for _, e := range sessions {
		own := SessionSaved{Agent: e.Agent, Session: mark.Name(e.ID), Parent: mark.Name(e.Parent), Project: e.Kept.Cwd}
		own.count(tried[e.Key])
		own.add(e)
		own.finish()
		if e.Class != transcript.Attachment {
			out.Sessions++
		}
		if e.Kept.Companion != "" {
			out.Companions++
		}
		out.add(e)
		if own.Compactions > 0 || e.Kept.Companion != "" || own.Tried > 0 {
			out.BySession = append(out.BySession, own)
		}
	}
	out.count(restores)
	out.finish()
	out.groups(sessions)
	return out
}

func (s *Saved) count(restores []reader.Restored) {
	for _, r := range restores {
		s.Tried++
		if r.OK {
			s.Succeeded++
		}
	}
}

func (s *Saved) add(e reader.Entry) {
	w := e.Kept.Work
	if e.Kept.Companion != "" {
		size := sizeOf(&e)
		s.Size, s.About, s.Real = s.Size+size.Tokens, s.About || size.About, s.Real+e.Kept.Real
		s.Messages += e.Kept.About
	}
	s.Original += e.Kept.Original
	s.Compacted += e.Kept.Compacted
	s.Compactions += w.Compactions
	s.Milliseconds += float64(w.Microseconds) / 1000
}

// finish works out what the sums say.
func (s *Saved) finish() {
	if s.Original > 0 {
		s.Percent = math.Round(1000*(1-float64(s.Compacted)/float64(s.Original))) / 10
	}
}

// Group is the sessions of a day or of a project, added up.
type Group struct {
	Day        string     `json:"day,omitempty"` // of the last record, where the reader is; "" where it is not known
	Project    string     `json:"project,omitempty"`
	Sessions   int        `json:"sessions"`
	Companions int        `json:"companions"`
	Size       int64      `json:"size_tokens"`
	About      bool       `json:"size_about"`
	Saved      int64      `json:"saved_about"` // real tokens that the companions are smaller than the messages of their sessions
	Bytes      int64      `json:"bytes"`       // archived, with attachments
	Last       *time.Time `json:"last"`        // the last record, nil if unknown
}

// LastAt is Last, the zero time where that is not known.
func (g *Group) LastAt() time.Time {
	if g.Last == nil {
		return time.Time{}
	}
	return *g.Last
}

func (g *Group) add(e reader.Entry) {
	g.Bytes += e.Bytes()
	if last := e.Last(); !last.IsZero() && last.After(g.LastAt()) {
		g.Last = words.Known(last)
	}
	if e.Class == transcript.Attachment {
		return
	}
	size := sizeOf(&e)
	g.Sessions++
	g.Size, g.About = g.Size+size.Tokens, g.About || size.About && size.Tokens > 0
	if e.Kept.Companion != "" {
		g.Companions++
		g.Saved += max(0, e.Kept.About-e.Kept.Real)
	}
}

// group adds up sessions by a name, in the order in which the names come.
func group(sessions []reader.Entry, name func(reader.Entry) *Group) []*Group {
	at, all := map[Group]*Group{}, []*Group{}
	for _, e := range sessions {
		g := name(e)
		key := *g
		if at[key] == nil {
			at[key], all = g, append(all, g)
		}
		at[key].add(e)
	}
	return all
}

// groups adds up sessions by day and by project.
func (s *Stats) groups(sessions []reader.Entry) {
	s.ByDay = group(sessions, func(e reader.Entry) *Group {
		if e.Last().IsZero() {
			return &Group{}
		}
		return &Group{Day: e.Last().Local().Format(time.DateOnly)}
	})
	slices.SortStableFunc(s.ByDay, func(x, y *Group) int { return cmp.Compare(y.Day, x.Day) })
	cwd := map[transcript.Key]string{}
	for _, e := range sessions {
		cwd[e.Key] = e.Kept.Cwd
	}
	project := func(e reader.Entry) string { // of attachments and sub-agents their parent's
		return cmp.Or(cwd[transcript.Key{Agent: e.Agent, ID: e.Parent}], e.Kept.Cwd, "(unknown)")
	}
	s.ByProject = group(sessions, func(e reader.Entry) *Group { return &Group{Project: project(e)} })
	slices.SortStableFunc(s.ByProject, func(x, y *Group) int { return cmp.Compare(y.Size, x.Size) })
}
