package words

import (
	"testing"
	"time"
)

// TestInstant: times as people type them, in their own zone, across a change of the clocks.
func TestInstant(t *testing.T) {
	berlin, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Skipf("NOTICE: no time zones: %v", err)
	}
	now := time.Date(2026, 3, 31, 15, 30, 0, 0, berlin) // a Tuesday; the clocks went forward on Sunday, the 29th
	for text, want := range map[string]struct{ from, to string }{
		"2026-01-29T10:30:05Z":      {"2026-01-29T10:30:05Z", ""},
		"2026-01-29T10:30:05+02:00": {"2026-01-29T08:30:05Z", ""},
		"2026-01-29T10:30Z":         {"2026-01-29T10:30:00Z", "2026-01-29T10:31:00Z"},
		"2026-01-29t10:30z":         {"2026-01-29T10:30:00Z", "2026-01-29T10:31:00Z"},
		"2026-01-29 10:30Z":         {"2026-01-29T10:30:00Z", "2026-01-29T10:31:00Z"},
		"2026-01-29T10:30":          {"2026-01-29T09:30:00Z", "2026-01-29T09:31:00Z"},
		"2026-01-29 10:30:05":       {"2026-01-29T09:30:05Z", "2026-01-29T09:30:06Z"},
		"2026-01-29":                {"2026-01-28T23:00:00Z", "2026-01-29T23:00:00Z"},
		"2026-03-29":                {"2026-03-28T23:00:00Z", "2026-03-29T22:00:00Z"},
		"14:00":                     {"2026-03-31T12:00:00Z", "2026-03-31T12:01:00Z"},
		"9:05:07":                   {"2026-03-31T07:05:07Z", "2026-03-31T07:05:08Z"},
		"today":                     {"2026-03-30T22:00:00Z", "2026-03-31T22:00:00Z"},
		"Today 14:00":               {"2026-03-31T12:00:00Z", "2026-03-31T12:01:00Z"},
		"yesterday":                 {"2026-03-29T22:00:00Z", "2026-03-30T22:00:00Z"},
		"2026-03-30  7:15":          {"2026-03-30T05:15:00Z", "2026-03-30T05:16:00Z"},
		"3h":                        {"2026-03-31T10:30:00Z", ""},
		"1h30m":                     {"2026-03-31T12:00:00Z", ""},
		"5m ago":                    {"2026-03-31T13:25:00Z", ""},
		"yesterday 9:30":            {"2026-03-30T07:30:00Z", "2026-03-30T07:31:00Z"},
		"monday":                    {"2026-03-29T22:00:00Z", "2026-03-30T22:00:00Z"},
		"Sun 9:30":                  {"2026-03-29T07:30:00Z", "2026-03-29T07:31:00Z"},
		"tuesday":                   {"2026-03-30T22:00:00Z", "2026-03-31T22:00:00Z"},
		"10 Feb":                    {"2026-02-09T23:00:00Z", "2026-02-10T23:00:00Z"},
		"10 feb 9:30":               {"2026-02-10T08:30:00Z", "2026-02-10T08:31:00Z"},
		"last tuesday":              {"2026-03-23T23:00:00Z", "2026-03-24T23:00:00Z"},
		"tuesday 15:00":             {"2026-03-31T13:00:00Z", "2026-03-31T13:01:00Z"},
		"tuesday 17:00":             {"2026-03-24T16:00:00Z", "2026-03-24T16:01:00Z"},
		"wednesday":                 {"2026-03-24T23:00:00Z", "2026-03-25T23:00:00Z"},
		"last week":                 {"", ""},
		"monday monday":             {"", ""},
		"3d":                        {"2026-03-28T14:30:00Z", ""},
		"2w":                        {"2026-03-17T14:30:00Z", ""},
		"2y":                        {"2024-03-31T13:30:00Z", ""},
		"99999y":                    {"", ""},
		"2026-13":                   {"", ""},
		"":                          {"0001-01-01T00:00:00Z", ""},
		"someday":                   {"", ""},
		"25:00":                     {"", ""},
		"2026-02-30":                {"", ""},
		"-3h":                       {"", ""},
		"3":                         {"", ""},
		"-1d":                       {"", ""},
		"1e9d":                      {"", ""},
		"3 parsecs":                 {"", ""},
		"yesterday maybe":           {"", ""},
		"\x1b[2J":                   {"", ""},
	} {
		got, span, err := Instant(text, now)
		if want.from == "" {
			if err == nil {
				t.Errorf("%q is taken for %s", text, got)
			}
			continue
		}
		to := ""
		if span > 0 {
			to = got.Add(span).UTC().Format(time.RFC3339Nano)
		}
		if from := got.UTC().Format(time.RFC3339Nano); err != nil || from != want.from || to != want.to {
			t.Errorf("%q: %s to %q, %v; want %+v", text, from, to, err, want)
		}
	}
	if end, err := Moment("yesterday", now); err != nil || end.UTC().Format(time.RFC3339Nano) != "2026-03-30T21:59:59.999999999Z" {
		t.Errorf("the end of yesterday is %s, %v", end.UTC(), err)
	}
}
