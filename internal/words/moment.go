package words

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// moments are the forms in which a time is written. The span is what the form means from there on.
var moments = []struct {
	form string
	span time.Duration
}{
	{time.RFC3339Nano, 0},
	{"2006-01-02T15:04Z07:00", time.Minute},
	{"2006-01-02T15:04:05", 0},
	{"2006-01-02T15:04", time.Minute},
	{"2006-01-02 15:04:05Z07:00", 0},
	{"2006-01-02 15:04Z07:00", time.Minute},
	{"2006-01-02 15:04:05", 0},
	{"2006-01-02 15:04", time.Minute},
}

// clocks are the forms of a time of day.
var clocks = []struct {
	form string
	span time.Duration
}{{"15:04:05", 0}, {"15:04", time.Minute}, {"3pm", time.Hour}, {"3:04pm", time.Minute}}

// Moment reads a time as Instant does and returns the end of what it means: of a day its last nanosecond. "" is the zero
// time.
func Moment(text string, now time.Time) (time.Time, error) {
	t, span, err := Instant(text, now)
	return t.Add(max(0, span-time.Nanosecond)), err
}

// Instant reads a time as people type it, and how long the minute, day or month is that it means: a date, a month (2026-01),
// a time of day, today, yesterday, a day of the week (the last one, today included), any of these days with a time of day,
// or an age (3h, 90m, 2 days ago, last week). Where it names no zone it is in that of now. "" is the zero time.
func Instant(text string, now time.Time) (time.Time, time.Duration, error) {
	typed := strings.Join(strings.Fields(text), " ")
	if typed == "" {
		return time.Time{}, 0, nil
	}
	for _, m := range moments {
		if t, err := time.ParseInLocation(m.form, strings.ToUpper(typed), now.Location()); err == nil {
			return t, m.span, nil
		}
	}
	if t, err := time.ParseInLocation("2006-01", typed, now.Location()); err == nil {
		return t, t.AddDate(0, 1, 0).Sub(t), nil
	}
	typed = strings.TrimPrefix(strings.ToLower(typed), "last ")
	if typed == "week" || typed == "month" || typed == "year" {
		typed = "1 " + typed
	}
	if t, ok := before(typed, now); ok {
		return t, 0, nil
	}
	name, at, _ := strings.Cut(typed, " ")
	day, ok := dayOf(name, now)
	if !ok {
		day, at = midnight(now), typed
	}
	if ok && at == "" {
		return day, day.AddDate(0, 0, 1).Sub(day), nil
	}
	for _, c := range clocks {
		if t, err := time.Parse(c.form, strings.TrimPrefix(at, "at ")); err == nil {
			return time.Date(day.Year(), day.Month(), day.Day(), t.Hour(), t.Minute(), t.Second(), 0, day.Location()), c.span, nil
		}
	}
	return time.Time{}, 0, fmt.Errorf("parse time %q: expected a time such as 14:00, yesterday, monday 9:30, 2 days ago, 3h, 2026-01-29 or 2026-01-29T10:30Z", text)
}

func midnight(t time.Time) time.Time {
	return time.Date(t.Year(), t.Month(), t.Day(), 0, 0, 0, 0, t.Location())
}

// dayOf returns the beginning of a day that is named.
func dayOf(name string, now time.Time) (time.Time, bool) {
	switch today := midnight(now); {
	case name == "today":
		return today, true
	case name == "yesterday":
		return today.AddDate(0, 0, -1), true
	case len(name) >= 3:
		for back := range 7 {
			day := today.AddDate(0, 0, -back)
			if strings.HasPrefix(strings.ToLower(day.Weekday().String()), name) {
				return day, true
			}
		}
	}
	day, err := time.ParseInLocation(time.DateOnly, name, now.Location())
	return day, err == nil
}

// units are the words for a unit of time behind a number.
var units = map[string]time.Duration{
	"s": time.Second, "sec": time.Second, "second": time.Second,
	"m": time.Minute, "min": time.Minute, "minute": time.Minute,
	"h": time.Hour, "hr": time.Hour, "hour": time.Hour,
	"d": 24 * time.Hour, "day": 24 * time.Hour,
	"w": 7 * 24 * time.Hour, "week": 7 * 24 * time.Hour,
}

// before reads how long ago something was: now, 3h, 1h30m, 7d, 2 days ago, an hour ago, 3 months ago.
func before(text string, now time.Time) (time.Time, bool) {
	text = strings.TrimSuffix(text, " ago")
	if text == "now" {
		return now, true
	}
	if d, err := time.ParseDuration(text); err == nil && d >= 0 {
		return now.Add(-d), true
	}
	number, unit, ok := strings.Cut(text, " ")
	if !ok {
		i := strings.IndexFunc(text, func(r rune) bool { return r != '.' && (r < '0' || r > '9') })
		if i < 0 {
			return time.Time{}, false
		}
		number, unit = text[:i], text[i:]
	}
	if number == "a" || number == "an" {
		number = "1"
	}
	n, err := strconv.ParseFloat(number, 64)
	if err != nil || n < 0 || n > 1e5 {
		return time.Time{}, false
	}
	if len(unit) > 2 {
		unit = strings.TrimSuffix(unit, "s")
	}
	whole := n == float64(int(n))
	switch {
	case unit == "month" && whole:
		return now.AddDate(0, -int(n), 0), true
	case unit == "year" && whole:
		return now.AddDate(-int(n), 0, 0), true
	case units[unit] >= 24*time.Hour && whole: // the same time of day, also when the clocks were changed
		return now.AddDate(0, 0, -int(n)*int(units[unit]/(24*time.Hour))), true
	case units[unit] > 0:
		return now.Add(-time.Duration(n * float64(units[unit]))), true
	}
	return time.Time{}, false
}
