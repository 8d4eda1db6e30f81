package words

import (
	"testing"
	"time"
)

func TestAgo(t *testing.T) {
	now := time.Date(2026, 3, 5, 10, 30, 0, 0, time.Local)
	for want, at := range map[string]time.Time{
		"?":                {},
		"now":              now.Add(-20 * time.Second),
		"2026-03-05 12:30": now.Add(2 * time.Hour),
		"5m ago":           now.Add(-5 * time.Minute),
		"10h ago":          now.Add(-10 * time.Hour),
		"yesterday 14:02":  time.Date(2026, 3, 4, 14, 2, 0, 0, time.Local),
		"3 Mar":            time.Date(2026, 3, 3, 23, 59, 0, 0, time.Local),
		"2025-11-12":       time.Date(2025, 11, 12, 8, 0, 0, 0, time.Local),
	} {
		if got := Ago(at.UTC(), now.UTC()); got != want {
			t.Errorf("%s: %q, want %q", at, got, want)
		}
	}
	midnight := time.Date(2026, 3, 5, 1, 0, 0, 0, time.Local)
	if got := Ago(midnight.Add(-2*time.Hour), midnight); got != "2h ago" {
		t.Errorf("late last evening: %q", got)
	}
}

func TestTokens(t *testing.T) {
	for n, want := range map[int64]string{0: "0", 999: "999", 1000: "1.0K", 1749: "1.7K", 9949: "9.9K", 9950: "10K", 57_593: "58K", 999_499: "999K", 999_500: "1.0M", 1_234_567: "1.2M"} {
		if got := Tokens(n); got != want {
			t.Errorf("%d: %s, want %s", n, got, want)
		}
	}
}
