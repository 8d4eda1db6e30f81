package hook

import (
	"bytes"
	"cmp"
	"encoding/json"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"ccd/internal/lazy"
	"ccd/internal/mark"
	"ccd/internal/ownfile"
	"ccd/internal/words"
)

// Entry is one line of STATE/hook.log as JSON: the outcome of one call. It never contains transcript text.
type Entry struct {
	Time    time.Time `json:"time"`
	Event   string    `json:"event"`
	Agent   string    `json:"agent,omitempty"`
	Session string    `json:"session,omitempty"`
	Source  string    `json:"source,omitempty"`
	Ms      int64     `json:"ms"`
	Did     string    `json:"did,omitempty"`
	Home    string    `json:"home,omitempty"` // the root of another home of the agent, which ccd does not watch
	Why     string    `json:"why,omitempty"`  // why there was no answer, or only a part
}

// maxLog is the size in bytes at which the log is rotated. One older log is kept.
const maxLog = 256 << 10

// Log adds a line to the log in stateDir, which it creates if missing. Errors are ignored, because a hook must answer anyway.
func Log(stateDir string, e Entry) {
	e.Event, e.Agent, e.Session, e.Source = word(e.Event), word(e.Agent), word(e.Session), word(e.Source)
	e.Why = mark.Inline(e.Why, 300)
	if line, err := json.Marshal(e); err == nil {
		_ = os.MkdirAll(stateDir, 0o700)
		ownfile.Append(filepath.Join(stateDir, "hook.log"), append(line, '\n'), maxLog)
	}
}

// logged yields the entries of the log in stateDir, or only those of a session.
func logged(stateDir, session string) iter.Seq[Entry] {
	return func(yield func(Entry) bool) {
		for line := range ownfile.Lines(filepath.Join(stateDir, "hook.log")) {
			var e Entry
			if bytes.Contains(line, []byte(session)) && json.Unmarshal(line, &e) == nil && !yield(e) {
				return
			}
		}
	}
}

// Told is what the log tells, as far as it goes back.
type Told struct {
	Homes       map[string][]string // roots of homes that events named and ccd does not watch, by agent, in the order of the log
	Compactions Compactions
	Outcomes    map[string]Outcome // by agent
}

// ReadLog reads the log in stateDir.
func ReadLog(stateDir string) Told {
	t := Told{Homes: map[string][]string{}, Compactions: Compactions{Why: map[string]int{}}, Outcomes: map[string]Outcome{}}
	for e := range logged(stateDir, "") {
		if e.Home != "" && !slices.Contains(t.Homes[e.Agent], e.Home) {
			t.Homes[e.Agent] = append(t.Homes[e.Agent], e.Home)
		}
		t.Compactions.add(e)
		t.Outcomes[e.Agent] = t.Outcomes[e.Agent].after(e)
	}
	return t
}

// Compactions are the compactions in the log that a client asked ccd to answer.
type Compactions struct {
	Since     *time.Time     `json:"since"` // the oldest entry of the log, nil if there is none
	Answered  int            `json:"answered"`
	Skipped   int            `json:"skipped"`   // there was too little to leave out: nothing was compacted
	Fallbacks int            `json:"fallbacks"` // the client's own model compacted
	Why       map[string]int `json:"why"`       // of these, by reason
}

func (c *Compactions) add(e Entry) {
	c.Since = cmp.Or(c.Since, &e.Time)
	switch {
	case e.Event != SessionCompact || e.Did == offered:
	case e.Why != "":
		c.Fallbacks++
		c.Why[strings.TrimPrefix(e.Why, "answer compaction: ")]++
	case e.Did == skipped:
		c.Skipped++
	default:
		c.Answered++
	}
}

// Outcome is what came of the newest compaction of an agent, and when it last got a text from ccd.
type Outcome struct {
	Compacted time.Time `json:"compacted,omitzero"` // when ccd was asked for the newest compaction, or was not asked
	By        string    `json:"by,omitempty"`       // "ccd" or "agent"
	Why       string    `json:"why,omitempty"`      // why not ccd
	Told      time.Time `json:"told,omitzero"`
}

// String says it in a few words, "" if there is nothing to say.
func (o Outcome) String() string {
	var all []string
	switch {
	case o.By == "ccd":
		all = append(all, "ccd compacted "+words.Age(o.Compacted)+" ago")
	case o.By != "":
		all = append(all, "compacted by itself "+words.Age(o.Compacted)+" ago: "+o.Why)
	}
	if !o.Told.IsZero() {
		all = append(all, "told "+words.Age(o.Told)+" ago")
	}
	return strings.Join(all, "; ")
}

// after returns the outcome after a later entry of the agent.
func (o Outcome) after(e Entry) Outcome {
	switch {
	case e.Event == SessionCompact && strings.HasPrefix(e.Did, compactedWord):
		o.Compacted, o.By, o.Why = e.Time, "ccd", ""
	case e.Event == SessionCompact && e.Why != "":
		o.Compacted, o.By, o.Why = e.Time, "agent", reason(e.Why)
	case strings.Contains(e.Why, errUnasked.Error()):
		o.Compacted, o.By, o.Why = e.Time, "agent", reason(errUnasked.Error())
	}
	if strings.HasPrefix(e.Did, "added ") {
		o.Told = e.Time
	}
	return o
}

// reason returns an error without what all have.
func reason(err string) string { return strings.TrimPrefix(err, ErrNothing.Error()+": ") }

// word returns s if it looks like a name, else "?": events may contain arbitrary text there, which must not be logged.
func word(s string) string {
	if !name().MatchString(s) {
		return "?"
	}
	return s
}

var name = lazy.Regexp(`^[\w.-]{0,80}$`)
