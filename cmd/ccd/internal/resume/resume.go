// Package resume makes a new, smaller session in an agent's own format from an archived one, and refuses to write what
// the agent's API would refuse.
package resume

import "github.com/google/uuid"

// NewID returns a fresh session ID: random for Claude Code, ordered by time for Codex, as the agents themselves do.
func NewID(agent string) (string, error) {
	if agent == "codex" {
		id, err := uuid.NewV7()
		return id.String(), err
	}
	id, err := uuid.NewRandom()
	return id.String(), err
}
