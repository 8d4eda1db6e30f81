package daemon

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"slices"
	"time"

	"ccd/compactor"
	"ccd/compactor/sidecar"
	"ccd/internal/mark"
	"ccd/internal/transcript"
)

// State is what the archive keeps for the daemon with each session: what was true when it was last synced. It is a
// cache with two exceptions: Manual, which a person chose, and the counts of Work. Tokens are estimates but for
// Reported.
type State struct {
	Source    Stat      `json:"source"`              // of the transcript
	At        Place     `json:"at"`                  // how far it was taken
	Torn      int64     `json:"torn,omitempty"`      // bytes before At of a last line that has no end and is not whole JSON
	Checked   time.Time `json:"checked,omitzero"`    // when all bytes of the source were last compared with the archive
	Rewritten time.Time `json:"rewritten,omitzero"`  // when the source last began another generation: replaced, or rewritten in place
	Fired     string    `json:"fired,omitempty"`     // the trigger that fired, "" while none has
	Skipped   string    `json:"skipped,omitempty"`   // why it is not followed, "" where it is: "summarizer"
	Gone      bool      `json:"gone,omitempty"`      // the transcript's file is gone; the archive has it
	GoneAt    time.Time `json:"gone_at,omitzero"`    // when that was seen; zero where an older ccd saw it
	Companion string    `json:"companion,omitempty"` // path, "" while there is none
	Earlier   []string  `json:"earlier,omitempty"`   // paths of companions in places that it left, and that could not be removed yet
	Written   Stat      `json:"written,omitzero"`    // of the companion
	Covers    Place     `json:"covers,omitzero"`     // how far the companion goes
	Options   string    `json:"options,omitempty"`   // hash of the options of the last fold

	Manual compactor.Manual `json:"manual,omitzero"` // asked for by a person
	Work   Work             `json:"work,omitzero"`

	Records   int                `json:"records,omitempty"`
	Broken    int                `json:"broken,omitempty"`
	Unknown   int                `json:"unknown,omitempty"`
	Foreign   bool               `json:"foreign,omitempty"` // none of its records is of a known type: it gets no companion
	First     time.Time          `json:"first,omitzero"`
	Last      time.Time          `json:"last,omitzero"`
	Model     string             `json:"model,omitempty"`
	Start     string             `json:"start,omitempty"` // the first working directory; "" also where an older ccd recorded none
	Cwd       string             `json:"cwd,omitempty"`   // the newest one
	Title     string             `json:"title,omitempty"`
	Parent    string             `json:"parent,omitempty"`
	Resumed   transcript.Resumed `json:"resumed,omitzero"`   // what it is a copy of that ccd wrote
	Estimate  int64              `json:"estimate,omitempty"` // of the context
	About     int64              `json:"about,omitempty"`    // the same in real tokens, about
	Reported  int64              `json:"reported,omitempty"`
	Window    int64              `json:"window,omitempty"`
	Assumed   bool               `json:"assumed,omitempty"`
	Outliers  compactor.Outliers `json:"outliers,omitzero"` // reports of a context that cannot be
	Pressure  float64            `json:"pressure,omitempty"`
	Level     string             `json:"level,omitempty"`
	Original  int64              `json:"original,omitempty"`  // of what the companion covers
	Compacted int64              `json:"compacted,omitempty"` // of the companion
	Real      int64              `json:"real,omitempty"`      // real tokens of the companion, about
	Saved     float64            `json:"saved,omitempty"`     // percent
	Verified  bool               `json:"verified,omitempty"`
	Reason    string             `json:"reason,omitempty"`
	Lost      int                `json:"lost,omitempty"`
	Wanted    int                `json:"wanted,omitempty"` // summaries that the companion lacks, of those asked for at once
}

// Work is what a session's companions have cost so far, and what the last one saved.
type Work struct {
	Compactions  int             `json:"compactions,omitempty"`  // companions put in place
	Microseconds int64           `json:"microseconds,omitempty"` // spent making them
	Fallbacks    map[string]int  `json:"fallbacks,omitempty"`    // taken on the way, by compactor.Fallback kind
	Saved        map[string]Gain `json:"saved,omitempty"`        // by compactor.Saving kind, of the last one
}

// Gain is what replacing items of one kind saved.
type Gain struct {
	Items  int   `json:"items"`
	Tokens int64 `json:"tokens"` // estimated
}

// with returns w with one more companion counted, which took so long to make.
func (w Work) with(h compactor.Header, took time.Duration) Work {
	next := Work{Compactions: w.Compactions + 1, Microseconds: w.Microseconds + took.Microseconds(), Fallbacks: maps.Clone(w.Fallbacks)}
	for _, f := range h.Fallbacks {
		if next.Fallbacks == nil {
			next.Fallbacks = map[string]int{}
		}
		next.Fallbacks[f.Kind] += f.Items
	}
	for _, s := range h.Saved {
		if next.Saved == nil {
			next.Saved = map[string]Gain{}
		}
		next.Saved[s.Kind] = Gain{s.Items, s.Tokens}
	}
	return next
}

// Place is a place in a session.
type Place struct {
	Generation int   `json:"generation"`
	Offset     int64 `json:"offset"` // bytes
}

// Stat is what two stats are compared by.
type Stat struct {
	Size    int64  `json:"size"`
	ModTime int64  `json:"mtime"` // nanoseconds since 1970
	Inode   uint64 `json:"inode,omitempty"`
}

// Idle reports whether the session is a copy that ccd wrote and that nobody has gone on with.
func (s State) Idle() bool { return s.Resumed.Records > 0 && s.Records <= s.Resumed.Records }

// IsZero reports whether nothing was ever seen.
func (s Stat) IsZero() bool { return s == Stat{} }

func stat(path string) (Stat, error) {
	info, err := os.Lstat(path)
	if err != nil {
		return Stat{}, err
	}
	return statOf(info), nil
}

func statOf(info fs.FileInfo) Stat {
	return Stat{Size: info.Size(), ModTime: info.ModTime().UnixNano(), Inode: inode(info)}
}

// DecodeState reads what the archive keeps with a session. Nothing kept is the zero State.
func DecodeState(b []byte) (State, error) {
	var s State
	if len(b) == 0 {
		return s, nil
	}
	if err := json.Unmarshal(b, &s); err != nil {
		return s, fmt.Errorf("decode session state: %w", err)
	}
	s.rename(mark.Unname)
	return s, nil
}

// rename changes the names of files, which need not be UTF-8, to what JSON can hold, or back.
func (s *State) rename(as func(string) string) {
	s.Companion, s.Parent = as(s.Companion), as(s.Parent)
	for i, p := range s.Earlier {
		s.Earlier[i] = as(p)
	}
}

func (s State) encode() ([]byte, error) {
	s.Earlier = slices.Clone(s.Earlier)
	s.rename(mark.Name)
	b, err := json.Marshal(s)
	if err != nil {
		return nil, fmt.Errorf("encode session state: %w", err)
	}
	return b, nil
}

// foreign reports whether nothing of a session was understood, though there is something.
func foreign(c compactor.Status) bool { return c.Records > 0 && c.Grasp.Nothing() }

// record takes over what the fold knows, with the chars that a token has. A torn line counts as one more record, which
// could not be parsed.
func (s *State) record(c compactor.Status, perToken float64, torn int64) {
	s.Records, s.Broken, s.Unknown, s.Foreign = c.Records, c.Broken, c.Unknown, foreign(c)
	s.First, s.Last = c.First, c.Last
	s.Model, s.Start, s.Cwd, s.Title, s.Parent, s.Resumed = c.Model, c.Start, c.Cwd, c.Title, c.Parent, c.Resumed
	s.Estimate, s.About, s.Reported, s.Window, s.Assumed = c.Context, sidecar.About(c.Context*3/4, perToken), c.Reported, c.Window, c.Assumed
	s.Outliers, s.Pressure, s.Level = c.Outliers, c.Pressure, c.Level.String()
	if s.Torn = torn; torn > 0 {
		s.Records, s.Broken = s.Records+1, s.Broken+1
	}
	if s.Fired == "" {
		s.Fired = c.Trigger
	}
}
