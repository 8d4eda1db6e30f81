package words

import (
	"fmt"
	"time"
)

// Age is how long ago t was, short enough for a column; "?" for the zero time.
func Age(t time.Time) string {
	if t.IsZero() {
		return "?"
	}
	return Short(max(0, time.Since(t)))
}

// Known is t for JSON: null for the zero time, so that the key is always there.
func Known(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	return &t
}

// Short is a duration in its largest unit.
func Short(d time.Duration) string {
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

// Minute is a time to the minute, in UTC; "" for the zero time.
func Minute(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format("2006-01-02T15:04Z")
}
