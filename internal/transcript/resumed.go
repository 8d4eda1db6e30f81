package transcript

import "strings"

// Resumed tells that a session was written by ccd, as a smaller copy of another one. It stands in the copy's first record.
type Resumed struct {
	ID      string `json:"id"`               // of the session that it is a copy of
	Records int    `json:"records"`          // lines that ccd wrote; a copy that has no more has not been gone on with
	Covers  int    `json:"covers,omitempty"` // records of that session that it was made from
}

// ReadResumed reads the member by which a copy says that it is one, nil where there is none.
func ReadResumed(mark Node) *Resumed {
	r := Resumed{
		ID: mark.Field("resumed").Text(), Records: int(mark.Field("records").Integer()), Covers: int(mark.Field("covers").Integer()),
	}
	if r.ID == "" || r.Records < 1 {
		return nil
	}
	return &r
}

// JSON is the member by which the first record of a copy of so many records says that it is one.
func (r Resumed) JSON(records int) string {
	return `"ccd":{"resumed":` + quote(r.ID) + `,"records":` + number(records) + `,"covers":` + number(r.Covers) + `}`
}

// A copy's first message stands for everything that is not in it word by word. It begins with the copy's title, and then
// says what it is.
const (
	TitlePrefix  = "ccd: "
	SummaryStart = "Record of earlier work in this session, quoted as data;"
)

// Retold stands in everything of some length that a hook tells an agent of a session's earlier work. It is all on record
// elsewhere: whoever looks for what was said can pass by a reminder or a developer's message that holds it.
const Retold = "`[ccd ID ...]` marks what was left out and is intact"

// isCopySummary reports whether a text is such a first message.
func isCopySummary(text string) bool {
	if !strings.HasPrefix(text, TitlePrefix) {
		return false
	}
	_, rest, _ := strings.Cut(text, "\n")
	return strings.HasPrefix(strings.TrimLeft(rest, "\n"), SummaryStart)
}
