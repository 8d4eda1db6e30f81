package registry_test

import (
	"encoding/json"
	"testing"
	"time"

	"ccd/internal/agent/registry"
	"ccd/internal/transcript"
)

// TestTimesThatCannotBeWritten checks that a time that JSON cannot represent is ignored, because the state is written
// as JSON.
func TestTimesThatCannotBeWritten(t *testing.T) {
	for text, want := range map[string]time.Time{
		"2026-02-03T04:05:06.5+01:00":   time.Date(2026, 2, 3, 3, 5, 6, 5e8, time.UTC),
		"9999-12-31T23:59:59.999-23:00": {},
		"0001-01-01T00:00:00+23:00":     {},
		"0000-01-01T00:00:00Z":          {},
		"9999-12-31T23:59:59+01:00":     time.Date(9999, 12, 31, 22, 59, 59, 0, time.UTC),
		"yesterday":                     {},
	} {
		for agent, line := range map[string]string{
			"claude-code":       `{"type":"user","timestamp":"` + text + `","message":{"role":"user","content":"Mill"}}`,
			"codex":             `{"timestamp":"` + text + `","type":"response_item","payload":{"type":"message","role":"user","content":[]}}`,
			transcript.Messages: `{"role":"user","timestamp":"` + text + `","content":"Mill"}`,
		} {
			for r := range (registry.Table{}).NewDecoder(agent, transcript.Main).Records(transcript.Segment{Data: []byte(line + "\n"), Rest: true}) {
				if !r.Time.Equal(want) {
					t.Errorf("%s: %s is %v, want %v", agent, text, r.Time, want)
				}
				if _, err := json.Marshal(r.Time); err != nil {
					t.Errorf("%s: %s: %v", agent, text, err)
				}
			}
		}
	}
}
