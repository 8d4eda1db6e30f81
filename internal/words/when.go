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

// Ago is a time as a person near now reads it, in their own zone: "5m ago", "yesterday 14:02", "12 Nov", "2025-11-12";
// "?" for the zero time.
func Ago(t, now time.Time) string {
	if t.IsZero() {
		return "?"
	}
	t, now = t.Local(), now.Local()
	today := time.Date(now.Year(), now.Month(), now.Day(), 0, 0, 0, 0, now.Location())
	switch since := now.Sub(t); {
	case since < time.Minute && since > -time.Minute:
		return "now"
	case since < 0:
		return t.Format("2006-01-02 15:04")
	case since < 6*time.Hour || !t.Before(today):
		return Short(since) + " ago"
	case !t.Before(today.AddDate(0, 0, -1)):
		return t.Format("yesterday 15:04")
	case t.Year() == now.Year():
		return t.Format("2 Jan")
	}
	return t.Format(time.DateOnly)
}

// Local is a time to the minute in the reader's own zone; "" for the zero time.
func Local(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.Local().Format("2006-01-02 15:04")
}

// Tokens is a number of tokens with two or three digits: "850", "1.7K", "57K", "1.2M".
func Tokens(n int64) string {
	switch {
	case n < 1000:
		return fmt.Sprint(n)
	case n < 9950:
		return fmt.Sprintf("%.1fK", float64(n)/1e3)
	case n < 999_500:
		return fmt.Sprintf("%.0fK", float64(n)/1e3)
	}
	return fmt.Sprintf("%.1fM", float64(n)/1e6)
}
