package compactor

import (
	"fmt"
	"testing"
)

// A message that the person took back says so, and is no rule any more: Claude Code hangs the next one on the record
// before it. A message that hangs on the last record takes nothing back.
func TestTakenBack(t *testing.T) {
	for _, back := range []bool{true, false} {
		s := newScript()
		s.human("Mend the export.")
		s.say("It is mended.")
		parent := s.n
		s.human("Never use floats in the export, always use integers.")
		s.say("No floats are left.")
		if !back {
			parent = s.n
		}
		s.line("user", map[string]any{"role": "user", "content": "Use decimals."}, map[string]any{"parentUuid": fmt.Sprintf("u-%d", parent)})
		s.say("Decimals it is.")
		c := told(t, s.built(), Defaults())
		if back {
			wants(t, c.section("Conversation"), "### 2 · #3 09:00Z, taken back at #5 09:00Z\n")
			wantsNot(t, c.all(), "## Rules")
		} else {
			wantsNot(t, c.section("Conversation"), "taken back")
			wants(t, c.section("Rules"), "Never use floats")
		}
	}
}
