// Package tally counts what ccd did for people and agents: a line each in a small file of the state directory.
//
// It knows nothing of sessions, and no line has a word of a transcript. The file has a limited size, so that counts are of the time
// since its oldest line.
package tally

import (
	"encoding/json"
	"path/filepath"
	"time"

	"ccd/internal/ownfile"
)

// What is counted.
const (
	Restore = "restore" // an original was asked for
	Summary = "summary" // the summarizer's command was called
)

// Why an original was not restored, but for any other failure.
const (
	NotFound = "not found"
	Damaged  = "damaged"
)

// Line is one of them.
type Line struct {
	Time time.Time `json:"time"`
	What string    `json:"what"`
	By   string    `json:"by,omitempty"`   // identifies the command of a summary
	Why  string    `json:"why,omitempty"`  // why it failed, in a few words; "" if it did not
	Late bool      `json:"late,omitempty"` // because it was not done in time
	Ms   int64     `json:"ms,omitempty"`
}

const (
	name    = "tally.log"
	maxSize = 256 << 10 // bytes, from which a new file is begun; one older file is kept
)

// Add adds a line, where the state directory exists and can be written. It ignores errors: no command fails because of a count.
func Add(stateDir string, l Line) {
	l.Time = time.Now().UTC().Truncate(time.Second)
	if line, err := json.Marshal(l); err == nil {
		ownfile.Append(filepath.Join(stateDir, name), append(line, '\n'), maxSize)
	}
}

// Read returns the lines in their order, none where there is no file.
func Read(stateDir string) (all []Line) {
	for text := range ownfile.Lines(filepath.Join(stateDir, name)) {
		var l Line
		if json.Unmarshal(text, &l) == nil && !l.Time.IsZero() {
			all = append(all, l)
		}
	}
	return all
}

// Failing returns the newest of the calls by a command if they always fail: all of them failed, or the newest three. Else it returns
// the zero Line. n is how many failed in a row.
func Failing(all []Line, by string) (last Line, n int) {
	calls := 0
	for _, l := range all {
		if l.What != Summary || l.By != by {
			continue
		}
		calls++
		if last, n = l, n+1; l.Why == "" {
			n = 0
		}
	}
	if n == 0 || n < min(calls, 3) {
		return Line{}, 0
	}
	return last, n
}
