package view

import (
	"testing"
	"time"
)

// TestForPerson: the handover's own words turn to the person, quotes stay.
func TestForPerson(t *testing.T) {
	at := time.Date(2026, 3, 4, 9, 0, 0, 0, time.UTC).Local().Format("2006-01-02 15:04")
	for agent, person := range map[string]string{
		"Asked before (#3, 2026-03-04 09:00Z, your turn ended #4): \"do\"":    "Asked before (#3, " + at + ", the agent's turn ended #4): \"do\"",
		"Task (#5): \"the local one\" (to your #4: \"Which of your dates?\")": "Task (#5): \"the local one\" (to the agent's #4: \"Which of your dates?\")",
		"Your move: #6 has no answer yet.":                                    "The agent's move: #6 has no answer yet.",
		"Your last words (#6): \"Your move.\"":                                "The agent's last words (#6): \"Your move.\"",
		"The human's move; your turn ended (#6): \"Done.\"":                   "Your move; the agent's turn ended (#6): \"Done.\"",
		"The human's move: `Edit` (#7) has no answer yet.":                    "Your move: `Edit` (#7) has no answer yet.",
		"Plan (#6), 1 of 2 steps open: a; the human spoke since, last #8":     "Plan (#6), 1 of 2 steps open: a; you spoke since, last #8",
		"The human's standing words: \"The human's move\" (#1)":               "Your standing words: \"The human's move\" (#1)",
	} {
		if got := ForPerson(agent); got != person {
			t.Errorf("%q: %q, want %q", agent, got, person)
		}
	}
}
