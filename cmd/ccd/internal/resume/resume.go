// Package resume makes a new, smaller session in an agent's own format from an archived one, and checks that the agent's API
// would accept it.
package resume

import "github.com/google/uuid"

// NewID returns a new session ID of the kind that the agent itself makes: ordered by time for Codex, else random.
func NewID(agent string) (string, error) {
	if agent == "codex" {
		id, err := uuid.NewV7()
		return id.String(), err
	}
	id, err := uuid.NewRandom()
	return id.String(), err
}
