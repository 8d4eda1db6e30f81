package words

import (
	"fmt"
	"strconv"
	"strings"
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
func Minute(t time.Time) string { return Format(t.UTC(), "2006-01-02T15:04Z") }

// Format is t.Format; "" for the zero time.
func Format(t time.Time, layout string) string {
	if t.IsZero() {
		return ""
	}
	return t.Format(layout)
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
func Local(t time.Time) string { return Format(t.Local(), "2006-01-02 15:04") }

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

// moments are the forms in which a time is written. The span is what the form means from there on; with a fraction of a second a time
// means itself.
var moments = []struct {
	form string
	span time.Duration
}{
	{time.RFC3339, time.Second},
	{"2006-01-02T15:04Z07:00", time.Minute},
	{"2006-01-02T15:04:05", time.Second},
	{"2006-01-02T15:04", time.Minute},
}

// Moment reads a time as Instant does and returns the end of what it means: of a day its last nanosecond. "" is the zero
// time. It fails as Instant does.
func Moment(text string, now time.Time) (time.Time, error) {
	t, span, err := Instant(text, now)
	return t.Add(max(0, span-time.Nanosecond)), err
}

// Exact is a time that means itself, and not the second from there on, in UTC.
func Exact(t time.Time) string {
	if t.Equal(t.Truncate(time.Millisecond)) {
		return t.UTC().Format("2006-01-02T15:04:05.000Z07:00")
	}
	return t.UTC().Format("2006-01-02T15:04:05.000000000Z07:00")
}

// Instant reads a time, and how long the second, minute or day is that it means: a date, today, yesterday, the newest day of a name,
// any of these with a time of day, a time of day, or an age (3h, 90m, 2d, 1w, 1y). Where it names no zone it is in that of now. "" is the
// zero time. It fails for other texts.
func Instant(text string, now time.Time) (time.Time, time.Duration, error) {
	typed := strings.ToLower(strings.Join(strings.Fields(text), " "))
	if typed == "" {
		return time.Time{}, 0, nil
	}
	if t, ok := before(strings.TrimSuffix(typed, " ago"), now); ok {
		return t, 0, nil
	}
	if day, month, rest := strings.Cut(typed, " "); rest { // as Ago prints it, of this year
		month, at, _ := strings.Cut(month, " ")
		if t, err := time.Parse("2 Jan 2006", fmt.Sprint(day, " ", month, " ", now.Year())); err == nil {
			typed = strings.TrimSpace(t.Format(time.DateOnly) + " " + at)
		}
	}
	typed, last := strings.CutPrefix(typed, "last ")
	day, at, _ := strings.Cut(typed, " ")
	if at == "" && strings.Contains(day, ":") && !strings.Contains(day, "-") { // only a time of day
		day, at = "today", day
	}
	if ago, ok := named(day, at, last, now); ok {
		day = now.AddDate(0, 0, -ago).Format(time.DateOnly)
	}
	if t, err := time.ParseInLocation(time.DateOnly, day, now.Location()); err == nil && at == "" {
		return t, t.AddDate(0, 0, 1).Sub(t), nil
	}
	if i := strings.IndexByte(at, ':'); i == 1 {
		at = "0" + at
	}
	whole := strings.ToUpper(strings.TrimSuffix(day+"T"+at, "T"))
	for _, m := range moments {
		if t, err := time.ParseInLocation(m.form, whole, now.Location()); err == nil {
			if strings.ContainsAny(whole, ".,") {
				m.span = 0
			}
			return t, m.span, nil
		}
	}
	return time.Time{}, 0, fmt.Errorf("parse time %q: expected a time such as 14:00, yesterday, tuesday 9:30, 2d, 3h, 2026-01-29 or 2026-01-29T10:30Z", text)
}

// named reads the name of a day, and returns how many days ago it began. Of a day of the week it is the newest one: "tuesday 17:00"
// on a Tuesday is today if that has been, "last tuesday" is not today.
func named(day, at string, last bool, now time.Time) (ago int, ok bool) {
	switch day {
	case "today":
		return 0, true
	case "yesterday":
		return 1, true
	}
	for ; ago < 7 && len(day) > 2; ago++ {
		name := strings.ToLower(now.AddDate(0, 0, -ago).Weekday().String())
		if day != name && day != name[:3] {
			continue
		}
		if t, _, err := Instant("today "+at, now); ago == 0 && (last && at == "" || err == nil && t.After(now)) {
			return 7, true
		}
		return ago, true
	}
	return 0, false
}

// before reads how long ago something was: 3h, 1h30m, 7d, 2w, 1y.
func before(text string, now time.Time) (time.Time, bool) {
	if d, err := time.ParseDuration(text); err == nil && d >= 0 {
		return now.Add(-d), true
	}
	unit, known := map[string]struct{ years, days int }{"d": {0, 1}, "w": {0, 7}, "y": {1, 0}}[text[len(text)-1:]]
	n, err := strconv.Atoi(text[:len(text)-1])
	t := now.AddDate(-n*unit.years, 0, -n*unit.days)
	return t, known && err == nil && n >= 0 && n < 1e5 && t.Year() > 0
}
