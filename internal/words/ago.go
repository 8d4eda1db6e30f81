package words

import (
	"fmt"
	"time"
)

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
