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

// Live is the front matter of that text.
type Live struct {
	Session      string
	Covers, Kept int // as LiveHead takes them
}

// ReadLive reads what LiveHead has written at the beginning of a text. ok is false if the text begins otherwise.
func ReadLive(text string) (l Live, ok bool) {
	rest, ok := strings.CutPrefix(text, liveStart)
	n, err := fmt.Sscanf(rest, "{covers: %d, kept: %d}\nsession: %s\n", &l.Covers, &l.Kept, &l.Session)
	return l, ok && err == nil && n == 3 && l.Kept >= 0
}
