package fold

import (
	"strings"

	"ccd/internal/mark"
	"ccd/internal/transcript"
)

// RequestLine begins the first line of an input for a summarizer; the ID of the text follows.
const RequestLine = "ccd summarizer request "

// maxRequest is how far into a message the line that marks an input may stand, in bytes: agents put a prompt of their
// command line before what they read.
const maxRequest = 4096

// Asks reports whether a record asks for a summary: its session is then one of a summarizer's command, which is not to
// be followed. Settled is false while nobody has said anything: the next record may tell.
func Asks(r *transcript.Record) (asks, settled bool) {
	for i := range r.Items {
		k := r.Items[i].Kind
		if (k == transcript.Human || k == transcript.Meta) && isRequest(original(k, r.Items[i].Raw)) {
			return true, true
		}
		settled = settled || k == transcript.Human || k == transcript.Text || k == transcript.Call
	}
	return false, settled
}

// isRequest looks for the line that marks an input.
func isRequest(text string) bool {
	for line := range strings.Lines(text[:min(len(text), maxRequest)]) {
		if id, ok := strings.CutPrefix(strings.TrimRight(line, "\r\n"), RequestLine); ok && mark.IsID(id) {
			return true
		}
	}
	return false
}
