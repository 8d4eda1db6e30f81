package transcript

import (
	"fmt"
	"strings"
)

// liveStart begins the text that is the new context of an agent whose compaction ccd answered. Such an agent stores it as
// a message of the user's.
const liveStart = "---\nccd: 1\nlive: "

// LiveHead returns the front matter of that text. kept is how many blocks (texts, calls, results) of the newest messages
// follow it in the context; covers is the number of the session's records then.
func LiveHead(session string, covers, kept int) string {
	return fmt.Sprintf(liveStart+"{covers: %d, kept: %d}\nsession: %s\n---\n", covers, kept, session)
}

// ReadLive reports whether a text begins as LiveHead does, and how many blocks follow.
func ReadLive(text string) (kept int, ok bool) {
	rest, ok := strings.CutPrefix(text, liveStart)
	covers := 0
	if n, err := fmt.Sscanf(rest, "{covers: %d, kept: %d}\n", &covers, &kept); !ok || err != nil || n != 2 || kept < 0 {
		return 0, false
	}
	return kept, true
}
