package status

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"time"

	"ccd/cmd/ccd/internal/hook"
	"ccd/cmd/ccd/internal/reader"
	"ccd/cmd/ccd/internal/tally"
	"ccd/internal/transcript"
	"ccd/internal/words"
)

// Totals adds up sessions.
type Totals struct {
	Sessions   int             `json:"sessions"`
	Companions int             `json:"companions"`
	Messages   int64           `json:"messages_about"`  // real tokens of the messages of the sessions with a companion, converted
	Real       int64           `json:"companion_about"` // real tokens of the companions, converted
	Saved      float64         `json:"saved_percent"`   // of Messages
	ByProject  []*Project      `json:"by_project"`      // the largest first
	*Counts                    // of this machine, nil where another one's archive is looked at
	Damage     []reader.Damage `json:"damage"`
}

// Counts are what ccd did on this machine, as far back as its small logs go.
type Counts struct {
	Restores    Restores         `json:"restores"`
	Compactions hook.Compactions `json:"compactions"` // those of clients that ask ccd
	Summaries   Summaries        `json:"summarizer"`
}

// Restores are the attempts to restore an original.
type Restores struct {
	Since     *time.Time `json:"since"` // nil if there was none
	Tried     int        `json:"tried"`
	Succeeded int        `json:"succeeded"`
	NotFound  int        `json:"not_found"`
	Damaged   int        `json:"damaged"`
}

// Summaries are the calls of the summarizer's command.
type Summaries struct {
	Since  *time.Time `json:"since"` // nil if there was none
	Calls  int        `json:"calls"`
	Failed int        `json:"failed"`
	Late   int        `json:"timed_out"` // of the failed ones
	Ms     int64      `json:"ms"`        // of all calls
}

// CountsOf counts what the logs of the state directory have.
func CountsOf(l *reader.Library) *Counts {
	c := &Counts{Compactions: hook.ReadLog(l.StateDir).Compactions}
	for _, line := range tally.Read(l.StateDir) {
		switch r, s := &c.Restores, &c.Summaries; line.What {
		case tally.Restore:
			r.Since = cmp.Or(r.Since, &line.Time)
			r.Tried++
			switch line.Why {
			case "":
				r.Succeeded++
			case tally.NotFound:
				r.NotFound++
			case tally.Damaged:
				r.Damaged++
			}
		case tally.Summary:
			s.Since = cmp.Or(s.Since, &line.Time)
			s.Calls++
			s.Ms += line.Ms
			if line.Why != "" {
				s.Failed++
			}
			if line.Late {
				s.Late++
			}
		}
	}
	return c
}

// Rows are the lines of the counts for people.
func (c *Counts) Rows() (rows [][]string) {
	add := func(name string, since *time.Time, format string, args ...any) {
		rows = append(rows, []string{name, "since " + words.Local(*since) + ": " + fmt.Sprintf(format, args...)})
	}
	if r := c.Restores; r.Tried > 0 {
		add("restores", r.Since, "%d done, %d of damaged originals, %d failed; %d asked for what is not archived",
			r.Succeeded, r.Damaged, r.Tried-r.Succeeded-r.NotFound-r.Damaged, r.NotFound)
	}
	if n := c.Compactions; n.Answered+n.Skipped+n.Fallbacks > 0 {
		add("compactions", n.Since, "%d by ccd, %d by the client's own model, %d with too little to leave out", n.Answered, n.Fallbacks, n.Skipped)
		for _, why := range slices.SortedFunc(maps.Keys(n.Why), func(x, y string) int { return cmp.Or(cmp.Compare(n.Why[y], n.Why[x]), cmp.Compare(x, y)) }) {
			rows = append(rows, []string{"", fmt.Sprintf("%d by the client's own model: %s", n.Why[why], why)})
		}
	}
	if s := c.Summaries; s.Calls > 0 {
		add("summarizer", s.Since, "%s in %s, %d failed, %d of them not in time", words.Count(s.Calls, "call"), time.Duration(s.Ms)*time.Millisecond, s.Failed, s.Late)
	}
	return rows
}

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

func (p *Project) add(e *reader.Entry) {
	p.Bytes += e.Bytes()
	if last := e.Last(); !last.IsZero() && last.After(p.LastAt()) {
		p.Last = words.Known(last)
	}
	if e.Class == transcript.Attachment {
		return
	}
	size := sizeOf(e)
	p.Sessions++
	p.Size, p.About = p.Size+size.Tokens, p.About || size.About && size.Tokens > 0
	if e.Kept.Companion != "" {
		p.Companions++
	}
}

// TotalsOf adds up sessions, those of sub-agents and attachments to their parent's project.
func TotalsOf(sessions []*reader.Entry) Totals {
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
	if out.Messages > 0 {
		out.Saved = math.Round(1000*(1-float64(out.Real)/float64(out.Messages))) / 10
	}
	slices.SortStableFunc(out.ByProject, func(x, y *Project) int { return cmp.Compare(y.Size, x.Size) })
	return out
}
