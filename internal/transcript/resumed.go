package transcript

import "strings"

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
	return `"ccd":{"resumed":` + QuoteText(r.ID) + `,"records":` + number(records) + `,"covers":` + number(r.Covers) + made + `}`
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
