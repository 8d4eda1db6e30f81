// Package status knows how things are: the daemon, its service, the roots and the archive at a glance; each session, and
// what was saved of it; the bytes of each project.
//
// Invariant: it reads what the archive, run.json and the service manager tell and changes nothing. What cannot be read is
// listed as degraded; the rest is still shown. It knows nothing of flags, exit codes and terminals.
package status

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/dustin/go-humanize"

	"ccd/archive"
	"ccd/cmd/ccd/internal/reader"
	"ccd/compactor"
	"ccd/internal/mark"
	"ccd/internal/transcript"
	"ccd/internal/words"
)

// Session is a session as lists show it: what is asked of its Entry, at one time.
type Session struct {
	*reader.Entry `json:"-"`

	Agent       string     `json:"agent"`
	Session     string     `json:"session"`
	Damage      string     `json:"damage"`
	Parent      string     `json:"parent"`
	Project     string     `json:"project"`
	Title       string     `json:"title"`
	Asked       string     `json:"asked"`
	Last        *time.Time `json:"last"`
	Records     int        `json:"records"`
	Bytes       int64      `json:"bytes"`
	Lag         int64      `json:"lag_bytes"`
	Generations int        `json:"generations"`
	Model       string     `json:"model"`
	Reported    int64      `json:"reported_tokens"`
	Estimate    int64      `json:"estimated_tokens"`
	About       int64      `json:"about_tokens"`
	Tokens      int64      `json:"size_tokens"`
	Converted   bool       `json:"size_about"`
	Window      int64      `json:"context_window"`
	Assumed     bool       `json:"context_window_assumed"`
	Pressure    float64    `json:"pressure"`
	Level       string     `json:"level"`
	Trigger     string     `json:"trigger"`
	Original    int64      `json:"original_tokens"`
	Compacted   int64      `json:"companion_tokens"`
	Real        int64      `json:"companion_about"`
	Saved       float64    `json:"saved_percent"`
	Verified    bool       `json:"verified"`
	Companion   string     `json:"companion"`
	Foreign     bool       `json:"not_understood"`
	Skipped     string     `json:"skipped"`
	Resumed     string     `json:"resumed"`
	Fork        string     `json:"forked_from"`
	Source      string     `json:"source"`
	Present     bool       `json:"source_present"`
	Rewritten   *time.Time `json:"rewritten"`
	Pinned      bool       `json:"pinned"`
	Tags        []string   `json:"tags"`
	Name        string     `json:"name"`
	Waiting     bool       `json:"waiting"`
	Compactions int        `json:"compactions"`
	Step        int        `json:"curve_step"`
	Curve       []int64    `json:"curve"`
	Machine     string     `json:"machine,omitempty"`
	State       string     `json:"state"`
	Attention   string     `json:"attention"`

	compacted []int // how often the agent compacted in each stretch of Curve
}

// Of is a session as lists show it. It looks at its file and at its companion's.
func Of(e *reader.Entry) Session {
	s := &e.Kept
	size := sizeOf(e)
	lag, present := e.File()
	one := Session{
		Agent: e.Agent, Session: mark.Name(e.Name()), Parent: mark.Name(e.Parent), Project: s.Cwd, Title: s.Title, Asked: s.Ask, Last: words.Known(e.Last()),
		Records: s.Records, Bytes: e.Bytes(), Lag: lag, Generations: len(e.Generations), Model: s.Model,
		Reported: s.Reported, Estimate: s.Estimate, About: s.About, Tokens: size.Tokens, Converted: size.About, Window: s.Window, Assumed: s.Assumed, Pressure: size.Share(),
		Level: s.Level, Trigger: s.Trigger, Original: s.Original, Compacted: s.Compacted, Real: s.Real, Saved: s.Saved,
		Verified: s.Verified, Companion: mark.Name(s.Companion), Foreign: s.UnknownFormat, Skipped: s.SkipReason, Resumed: s.Resumed.ID, Fork: mark.Name(s.Origin), Source: mark.Name(e.Path), Present: present,
		Rewritten: words.Known(s.Rewritten), Pinned: s.Labels.Pinned, Tags: append([]string{}, s.Labels.Tags...), Name: s.Labels.Name, Waiting: s.Waiting && lag == 0 && e.Class != transcript.SubAgent, Machine: e.Machine, Entry: e,
	}
	one.setCurve(s.Course)
	now := time.Now()
	one.State = one.state(now)
	one.Attention = one.attention()
	return one
}

func (s *Session) setCurve(c compactor.Curve) {
	s.Step, s.Curve, s.compacted = c.Step, append([]int64{}, c.Tokens...), c.Compactions
	for _, n := range c.Compactions {
		s.Compactions += n
	}
	if s.Reported == 0 { // they are estimates, which no other figure is
		s.Step, s.Curve, s.compacted = 0, []int64{}, nil
	}
}

// Marks is how often the agent compacted its context in each stretch of Curve.
func (s Session) Marks() []int { return s.compacted }

// States of a session.
const (
	Working = "working" // the agent wrote something a moment ago
	Quiet   = "quiet"   // it has not: it thinks, runs something, waits for a permission, or has ended
	Waits   = "waiting" // the agent has answered, the person is next
	Resting = "idle"    // nothing has happened for a while, or nobody works in it here
	Deleted = "deleted" // the transcript is gone, the archive has it
)

// state tells who is next. A file that is ahead of the archive may have changed that.
func (s Session) state(now time.Time) string {
	switch {
	case !s.Present && s.Machine == "":
		return Deleted
	case s.Apart() != "", s.Lag > 0 && now.Sub(s.LastAt()) > writesWithin:
		return Resting
	case s.Waiting && (now.Sub(s.LastAt()) <= waitsWithin || s.Entry.Kept.Asking && now.Sub(s.LastAt()) <= asksWithin):
		return Waits
	case now.Sub(s.LastAt()) > liveWithin && (!s.Entry.Kept.Open || s.Lag > 0 || now.Sub(s.LastAt()) > waitsWithin):
		return Resting
	case now.Sub(s.LastAt()) > writesWithin:
		return Quiet
	}
	return Working
}

// Active reports whether the agent or the person may go on with the session at any moment.
func (s Session) Active() bool { return s.State == Working || s.State == Quiet || s.State == Waits }

// Does is the state in words.
func (s Session) Does() string {
	if s.State == Quiet {
		return "quiet " + words.Age(s.LastAt())
	}
	return s.State
}

// writesWithin is how often an agent that works usually writes. That it has ended, no transcript says.
const writesWithin = time.Minute

// waitsWithin is how long a session counts as waiting for its person, and a call without a result as running: as long as a meal. A
// question that has no answer waits longer.
const (
	waitsWithin = time.Hour
	asksWithin  = 7 * 24 * time.Hour
)

// nearlyFull is the pressure from which a session is about to be compacted.
const nearlyFull = 0.9

// attention is why a person should look at the session now, in a few words, the most urgent first; "" where there is no reason.
func (s Session) attention() string {
	switch state := s.State; {
	case s.Damaged():
		return "its stored state is damaged"
	case s.Lost != nil:
		return "bytes of it are lost"
	case s.Active() && s.Pressure >= nearlyFull && !s.Assumed:
		return fmt.Sprintf("context %.0f%% full", 100*s.Pressure)
	case state == Waits:
		return "waiting for you for " + words.Age(s.LastAt())
	case state == Quiet && s.stuck():
		return "a call without a result for " + words.Age(s.LastAt())
	case s.Companion != "" && !s.Verified:
		return "companion not verified: ccd compact says why"
	case s.Present && s.Lag > 0 && state == Resting:
		return humanize.IBytes(uint64(s.Lag)) + " not archived"
	}
	return ""
}

// resultsWithin is how long a call may take, as far as its session and that one's sub-agents write nothing, before a person is told.
const resultsWithin = 5 * time.Minute

// stuck reports whether a call may wait for the person.
func (s Session) stuck() bool {
	return s.Entry.Kept.Open && time.Since(s.LastAt()) >= resultsWithin && time.Since(s.Delegated) >= resultsWithin
}

// Families are the sessions in the order in which they are listed: main ones, pinned ones first, then newest first and, with all,
// each with its copies and sub-agents behind it.
func Families(sessions []*reader.Entry, all bool) (families [][]Session) {
	at := map[transcript.Key]int{}
	for _, e := range sessions {
		if e.Class == transcript.Main && e.CopyOf == nil && (all || !e.Aside()) {
			at[e.Key] = len(families)
			families = append(families, []Session{Of(e)})
		}
	}
	for _, e := range sessions {
		of := transcript.Key{Agent: e.Agent, ID: e.Parent}
		if e.CopyOf != nil {
			of = e.CopyOf.Key
		}
		switch i, known := at[of]; {
		case !all, e.CopyOf == nil && e.Class != transcript.SubAgent:
		case known:
			families[i] = append(families[i], Of(e))
		default: // its session is not listed
			families = append(families, []Session{Of(e)})
		}
	}
	pinned := func(f []Session) bool { return f[0].Pinned }
	others := slices.DeleteFunc(slices.Clone(families), pinned)
	return append(slices.DeleteFunc(families, func(f []Session) bool { return !pinned(f) }), others...)
}

// Rows are the sessions of families, never nil.
func Rows(families [][]Session) []Session { return append([]Session{}, slices.Concat(families...)...) }

// Called is what people recognize the session by: the name that they gave it, else the agent's title, else the first
// request, on one line; "" where it has none of them.
func (s Session) Called() string { return mark.Inline(cmp.Or(s.Name, s.Title, s.Asked), 0) }

// Labelled is Called behind the session's pin and tags, and whether it is a fork: "[pinned, billing] cents migration".
func (s Session) Labelled() string {
	title := s.Called()
	labels := slices.Clone(s.Tags)
	if s.Fork != "" {
		labels = slices.Insert(labels, 0, "fork")
	}
	if len(labels) > 0 {
		title = "[" + mark.Inline(strings.Join(labels, ", "), 0) + "] " + title
	}
	if s.Pinned {
		title = "* " + title
	}
	return strings.TrimSpace(title)
}

// Directory is the name of the project among those of all sessions.
func (s Session) Directory() string { return cmp.Or(s.Entry.Project, words.Directory(s.Project)) }

// LastAt is when the session last grew, the zero time where that is not known.
func (s Session) LastAt() time.Time { return s.Entry.Last() }

// SubAgent reports whether another session started it.
func (s Session) SubAgent() bool { return s.Class == transcript.SubAgent }

// Size is what the agent holds of the session.
func (s Session) Size() Size { return SizeOf(s.Reported, s.About, s.Estimate, s.Window) }

// Problem is what ccd cannot do for the session, in a word or two; "" where there is nothing.
func (s Session) Problem() string {
	switch {
	case s.Damaged():
		return "damaged"
	case s.Lost != nil:
		return "lost"
	case s.Foreign:
		return "not parsed"
	case s.Companion == "" && s.Skipped != "":
		return "not followed"
	case s.Companion != "" && !s.Verified:
		return "unverified"
	}
	return ""
}

// Apart is why nobody works in the session here: it is another machine's, a file given to ccd compact, a copy that nobody has
// continued, or empty; else "".
func (s Session) Apart() string {
	switch {
	case s.Machine != "":
		return "on " + mark.Inline(s.Machine, 60)
	case s.Root == "":
		return "file"
	case s.Copy():
		return "copy"
	case s.StateDamage == nil && s.Lost == nil && s.Kept.Records == 0 && s.Bytes+s.Lag == 0:
		return "empty"
	}
	return ""
}

// Damaged reports whether what is kept of the session is damaged: it is listed by Unreadable then.
func (s Session) Damaged() bool { return s.StateDamage != nil }

// Unreadable are the sessions that are damaged; one without a name is damage that may hide others.
func Unreadable(damage []error) (all []Session) {
	for _, err := range damage {
		var d *archive.DamageError
		if errors.As(err, &d) {
			e := &reader.Entry{Session: archive.Session{Session: transcript.Session{Key: d.Session}, StateDamage: d}}
			all = append(all, Session{Agent: d.Session.Agent, Session: d.Session.ID, Damage: d.Error(), Tags: []string{}, Entry: e})
		}
	}
	return all
}

// Size is how many real tokens a session has in its agent's context. It is the one number for a session's size that
// people are shown.
type Size struct {
	Tokens int64 // as the model reported last, else converted from the estimate
	About  bool  // converted
	Window int64 // tokens that the context takes, 0 where that is not known
}

// SizeOf is the size of a session: what its model reported, else about so many real tokens, else, where an older ccd kept
// neither, a quarter of the estimate.
func SizeOf(reported, about, estimate, window int64) Size {
	return Size{Tokens: cmp.Or(reported, about, estimate/4), About: reported == 0, Window: window}
}

func sizeOf(e *reader.Entry) Size {
	return SizeOf(e.Kept.Reported, e.Kept.About, e.Kept.Estimate, e.Kept.Window)
}

// Share is the part of the window that the session takes, 0 where that is not known.
func (s Size) Share() float64 {
	if s.Window <= 0 {
		return 0
	}
	return float64(s.Tokens) / float64(s.Window)
}

// Short is the size without its share of the window: "58K", "~58K".
func (s Size) Short() string {
	return s.marked(words.Tokens(s.Tokens))
}

// marked puts "~" before what was converted from the length of texts. What has none, a model reported.
func (s Size) marked(text string) string {
	if s.About && s.Tokens > 0 {
		return "~" + text
	}
	return text
}

// String is the size with its share of the window: "~58K, 29%".
func (s Size) String() string {
	if s.Window <= 0 {
		return s.Short()
	}
	return fmt.Sprintf("%s, %.0f%%", s.Short(), 100*s.Share())
}

// Filled is the share of the window that the session takes: "29%", "~29%". Without a window it is the size.
func (s Size) Filled() string {
	if s.Window <= 0 || s.Tokens == 0 {
		return s.Short()
	}
	return s.marked(fmt.Sprintf("%.0f%%", 100*s.Share()))
}

// Shrunk says what size messages had and have now, both converted. Where nothing tells the size that they had, it is not told.
func Shrunk(before, after int64) string {
	if before <= 0 {
		return fmt.Sprintf("~%s tokens", words.Tokens(after))
	}
	line := fmt.Sprintf("~%s -> ~%s tokens of messages", words.Tokens(before), words.Tokens(after))
	if 100*after > 99*before {
		return line + ", not smaller"
	}
	return fmt.Sprintf("%s, %.0f%% smaller", line, 100*(1-float64(after)/float64(before)))
}
