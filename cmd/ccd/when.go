package main

import (
	"fmt"
	"time"
)

// age tells how long ago t was, short enough for a column.
func age(t time.Time) string {
	if t.IsZero() {
		return "?"
	}
	return short(max(0, time.Since(t)))
}

// known is t for JSON: null where it is not known, so that the key always stands.
func known(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	return &t
}

// short tells a duration in its largest unit.
func short(d time.Duration) string {
	switch {
	case d < time.Minute:
		return fmt.Sprintf("%ds", int(d.Seconds()))
	case d < time.Hour:
		return fmt.Sprintf("%dm", int(d.Minutes()))
	case d < 48*time.Hour:
		return fmt.Sprintf("%dh", int(d.Hours()))
	}
	return fmt.Sprintf("%dd", int(d.Hours()/24))
}

// minute tells a time to the minute, "" for none.
func minute(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format("2006-01-02T15:04Z")
}
