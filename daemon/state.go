package daemon

import (
	"bytes"
	"cmp"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"ccd/compactor"
	"ccd/compactor/companion"
	"ccd/internal/mark"
	"ccd/internal/ownfile"
)

// State is what the archive stores for the daemon with each session. It is a cache except for Manual and Labels, which a
// person chose. Token counts are estimates except for Reported.
type State struct {
	Source     Stat      // of the transcript
	At         Place     // end of the archived bytes
	Read       Place     // end of those whose records were read
	Checked    time.Time // when all bytes of the source were last compared with the archive
	Rewritten  time.Time // when the last generation began because the source was replaced, or rewritten in place
	Trigger    string    // the trigger that fired, "" if none has
	SkipReason string    // why the session is not followed, "" if it is: "summarizer"
	Gone       bool      // the transcript's file is gone; the archive has it
	GoneAt     time.Time // when that was noticed
	Companion  string    // path, "" if there is none
	Written    Stat      // of the companion
	Deferred   bool      // it was old when a scan found it: its companion is made when it grows or is asked for
	Covers     Place     // how much the companion covers; zero if it is to be made again: summaries came, or the index may lack its IDs
	Options    string    // hash of the options that it was read with

	Manual compactor.Manual // options that a person requested
	Labels Labels           // set by a person

	compactor.Known // what lists show

	Joined           int              // of the records, those that the transcript does not repeat: of other files of its story; -1 if these are not archived
	TakenBack        compactor.Ranges // of records
	UnknownFormat    bool             // no record is of a known type: there is no companion
	Estimate         int64            // of the context
	About            int64            // Estimate in real tokens, about
	Level            string
	Original         int64   // of the part that the companion covers
	Compacted        int64   // of the companion
	Real             int64   // real tokens of the companion, about
	Saved            float64 // percent
	Verified         bool
	MissingSummaries int // summaries that the companion lacks, of those requested at once
	Course           compactor.Curve
}

// Place is a position in a session.
type Place struct {
	Generation int   `json:"generation"`
	Offset     int64 `json:"offset"` // bytes
}

// Stat is what ccd compares to detect that a file changed.
type Stat struct {
	Size    int64  `json:"size"`
	ModTime int64  `json:"mtime"` // nanoseconds since 1970
	Inode   uint64 `json:"inode,omitempty"`
}

// stateForm are the options of the JSON that the archive stores. A path may have any bytes; texts only show what they are.
var stateForm = json.JoinOptions(json.OmitZeroStructFields(true), jsontext.AllowInvalidUTF8(true))

// Encode returns the state as the archive stores it: a line of JSON, then the deeds as they are. They are most of its bytes, and a
// command that lists thousands of sessions has no use for them.
func (s State) Encode() []byte {
	deeds := s.Deeds
	s.Companion, s.Deeds = mark.Name(s.Companion), nil
	b, _ := json.Marshal(s, stateForm) // no field has a value that JSON lacks
	return append(append(b, '\n'), deeds...)
}

// DecodeState decodes a stored state, of which it keeps a part. Empty input is the zero State. It fails if that is no State.
func DecodeState(b []byte) (s State, err error) {
	if len(b) == 0 {
		return s, nil
	}
	line, deeds, _ := bytes.Cut(b, []byte{'\n'})
	if err := json.Unmarshal(line, &s, stateForm); err != nil {
		return State{}, fmt.Errorf("decode session state: %w", err)
	}
	if s.Companion = mark.Unname(s.Companion); len(deeds) > 0 {
		s.Deeds = deeds
	}
	return s, nil
}

// NotResumed reports whether the session is a copy that ccd wrote and that has no new records yet.
func (s State) NotResumed() bool { return s.Resumed.Records > 0 && s.Records <= s.Resumed.Records }

// Grew is when the session last grew: by its own clock, else by its file's; zero if neither is known.
func (s State) Grew() time.Time {
	if s.NotResumed() { // a copy that nobody has continued is as old as it is, not as its messages
		if at, err := time.Parse(time.RFC3339, s.Resumed.Made); err == nil {
			return at
		}
	}
	if s.Last.IsZero() && s.Source.ModTime != 0 {
		return time.Unix(0, s.Source.ModTime).UTC()
	}
	return s.Last
}

// IsZero reports whether s is unset.
func (s Stat) IsZero() bool { return s == Stat{} }

func stat(path string) (Stat, error) {
	info, err := os.Lstat(path)
	if err != nil {
		return Stat{}, err
	}
	return statOf(info), nil
}

func statOf(info fs.FileInfo) Stat {
	return Stat{Size: info.Size(), ModTime: info.ModTime().UnixNano(), Inode: ownfile.Inode(info)}
}

// unknownFormat reports whether a session has records, but none of a known type.
func unknownFormat(c compactor.Status) bool { return c.Records > 0 && c.Parsed.Empty() }

// setStatus takes over the model's status. perToken is the number of chars per real token.
func (s *State) setStatus(c compactor.Status, perToken float64) {
	before := s.Known
	s.Known, s.UnknownFormat, s.Level = c.Known, unknownFormat(c), c.Level.String()
	if c.Items == 0 { // a transcript that was overwritten with nothing: what is known of the session stays
		s.Start, s.Cwd, s.Title, s.Ask = cmp.Or(before.Start, s.Start), cmp.Or(before.Cwd, s.Cwd), cmp.Or(before.Title, s.Title), cmp.Or(before.Ask, s.Ask)
		s.Parent, s.Origin, s.Model = cmp.Or(before.Parent, s.Parent), cmp.Or(before.Origin, s.Origin), cmp.Or(before.Model, s.Model)
		if s.First.IsZero() {
			s.First, s.Last = before.First, before.Last
		}
	}
	s.Estimate, s.About = c.Context, companion.About(c.Context, perToken)
	s.Course, s.TakenBack = c.Curve.Clone(), slices.Clone(c.Back)
	s.Trigger = cmp.Or(s.Trigger, c.Trigger)
}
