package fold

import (
	"strings"

	"ccd/internal/mark"
	"ccd/internal/transcript"
)

// RequestLine begins the first line of an input for a summarizer; the ID of the text follows.
const RequestLine = "ccd summarizer request "

// maxRequest is how far into a message the line that marks an input may be, in bytes, because agents put the prompt of their
// command line before their standard input.
const maxRequest = 4096

// Asks reports whether a record requests a summary. Its session is then one that a summarizer's command made and must not be
// followed. settled is false if the record has neither a message nor a call, so that the next record must be checked too.
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

// isRequest reports whether a text contains the line that marks an input.
func isRequest(text string) bool {
	for line := range strings.Lines(text[:min(len(text), maxRequest)]) {
		if id, ok := strings.CutPrefix(strings.TrimRight(line, "\r\n"), RequestLine); ok && mark.IsID(id) {
			return true
		}
	}
	return false
}
