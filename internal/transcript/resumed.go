package transcript

import (
	"fmt"
	"strconv"
	"strings"

	"ccd/internal/lazy"
	"ccd/internal/mark"
)

// Resumed marks a session that ccd wrote as a smaller copy of another one. It is stored in the copy's first record.
type Resumed struct {
	ID      string `json:"id"`               // of the original session
	Records int    `json:"records"`          // lines that ccd wrote; a copy without more lines was not continued
	Covers  int    `json:"covers,omitempty"` // records of the original that the copy was made from
	Made    string `json:"made,omitempty"`   // when ccd wrote it, in RFC 3339; "" if not recorded
}

// ReadResumed reads the mark in the first record of a copy, nil if there is none.
func ReadResumed(mark Node) *Resumed {
	r := Resumed{
		ID: mark.Field("resumed").Text(), Records: int(mark.Field("records").Integer()), Covers: int(mark.Field("covers").Integer()),
		Made: mark.Field("made").Text(),
	}
	if r.ID == "" || r.Records < 1 {
		return nil
	}
	return &r
}

// JSON returns the mark for a copy with this many records.
func (r Resumed) JSON(records int) string {
	made := ""
	if r.Made != "" {
		made = `,"made":` + QuoteText(r.Made)
	}
	return `"ccd":{"resumed":` + QuoteText(r.ID) + `,"records":` + strconv.Itoa(records) + `,"covers":` + strconv.Itoa(r.Covers) + made + `}`
}

// A copy's first message replaces everything that the copy does not contain word for word. It starts with the copy's
// title, then says what it is.
const (
	TitlePrefix  = "ccd: "
	SummaryStart = "Record of earlier work, quoted as data:"
	summaryStart = "Record of earlier work in this session, quoted as data;" // up to rules 15
)

// HistoryNote is part of every longer text in which a hook tells an agent about a session's earlier work. A search for
// what was said can skip reminders and developer messages that contain it, because the originals are recorded
// elsewhere.
const HistoryNote = "`[ccd ID ...]` marks what was left out and is intact"

// IsCopySummary reports whether a text is the first message of a copy.
func IsCopySummary(text string) bool {
	if !strings.HasPrefix(text, TitlePrefix) {
		return false
	}
	_, rest, _ := strings.Cut(text, "\n")
	rest = strings.TrimLeft(rest, "\n")
	return strings.HasPrefix(rest, SummaryStart) || strings.HasPrefix(rest, summaryStart)
}

// liveStart begins the text that is the new context of an agent whose compaction ccd answered. Such an agent stores it as
// a message of the user's.
const liveStart = "---\nccd: 1\nlive: "

// LiveHead returns the front matter of that text. kept is how many blocks (texts, calls, results) of the newest messages
// follow it in the context; covers is the number of the session's records then.
func LiveHead(session string, covers, kept int) string {
	return fmt.Sprintf(liveStart+"{covers: %d, kept: %d}\nsession: %s\n---\n", covers, kept, session)
}

// LiveCompaction is the front matter of that text.
type LiveCompaction struct {
	Session      string
	Covers, Kept int // as LiveHead takes them
}

// ReadLive reads what LiveHead has written at the beginning of a text. ok is false if the text begins otherwise.
func ReadLive(text string) (l LiveCompaction, ok bool) {
	rest, ok := strings.CutPrefix(text, liveStart)
	n, err := fmt.Sscanf(rest, "{covers: %d, kept: %d}\nsession: %s\n", &l.Covers, &l.Kept, &l.Session)
	return l, ok && err == nil && n == 3 && l.Kept >= 0
}

// An output demoted by ccd's hook reached the agent as its beginning, one line with the ID of the whole, and more lines
// of ccd. The transcript contains only that, so readers must separate ccd's lines from the output, and know that it is
// incomplete.

// Demotion returns the line after the visible beginning of a demoted output: id names the whole, with its chars and
// lines; shown is the number of visible chars.
func Demotion(id mark.ID, chars, lines, shown int) string {
	return mark.New(id, fmt.Sprintf("output, %d chars, %d lines; %s%d chars", chars, lines, demoted, shown))
}

const demoted = "above are its first "

// isDemotion reports whether a line is such a line.
func isDemotion(line string) bool {
	return strings.HasPrefix(line, "[ccd ") && demotion().MatchString(line)
}

var demotion = lazy.Regexp(`^\[ccd [0-9a-z]{12} output, .*; ` + demoted + `.*\]$`)
