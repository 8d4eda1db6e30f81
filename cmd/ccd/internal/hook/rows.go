package hook

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"ccd/compactor/lexicon"
	"ccd/internal/mark"
	"ccd/internal/transcript"
)

// Row is a message as a mod of Claude Code sees and gives it: in an event one for each block of a reply, in an answer one
// message of the API. It has no handle: after a resume the client would take rows with one for the whole old history.
type Row struct {
	Role    string   `json:"role"` // user or assistant
	Text    string   `json:"text"`
	Calls   []Use    `json:"toolUses"` // never nil in an answer
	Results []Output `json:"toolResults,omitempty"`
}

// Use is a tool call.
type Use struct {
	ID    string          `json:"tool_use_id"`
	Tool  string          `json:"tool"`
	Input json.RawMessage `json:"input"`
}

// Output is the result of a call. The client does not show the images in it.
type Output struct {
	ID     string `json:"tool_use_id"`
	Text   string `json:"text"`
	Failed bool   `json:"isError"`
}

// blocksOf returns how many content blocks the client makes of messages.
func blocksOf(all []Row) (n int) {
	for _, m := range all {
		if n += len(m.Calls) + len(m.Results); m.Text != "" {
			n++
		}
	}
	return n
}

// size returns the chars of a message.
func (m *Row) size() int {
	n := utf8.RuneCountInString(m.Text)
	for _, c := range m.Calls {
		n += utf8.RuneCount(c.Input)
	}
	for _, r := range m.Results {
		n += utf8.RuneCountInString(r.Text)
	}
	return n
}

func sizeOf(all []Row) (n int) {
	for i := range all {
		n += all[i].size()
	}
	return n
}

// merged makes messages of rows: adjacent calls and texts of the agent are one, and their results are the message after it,
// in the order of the calls. A call without a result, and a result without a call before it, would make the API refuse all.
func merged(rows []Row) (all []Row) {
	results := map[string]Output{}
	for _, m := range rows {
		for _, r := range m.Results {
			if _, twice := results[r.ID]; !twice {
				results[r.ID] = r
			}
		}
	}
	rows = said(rows)
	seen, texts := map[string]bool{}, []string(nil) // texts of the agent's last message
	answer := func() {                              // the text and the results of the message that ends here
		n := len(all)
		if n > 0 && all[n-1].Role == "assistant" {
			all[n-1].Text = strings.Join(texts, "\n\n")
		}
		if n == 0 || len(all[n-1].Calls) == 0 {
			return
		}
		m := Row{Role: "user", Calls: []Use{}}
		for _, c := range all[n-1].Calls {
			m.Results = append(m.Results, results[c.ID])
		}
		all = append(all, m)
	}
	for _, m := range rows {
		if m.Role != "assistant" {
			if m.Text != "" || len(m.Results) > 0 {
				answer()
			}
			if m.Text != "" {
				all = append(all, Row{Role: "user", Text: m.Text, Calls: []Use{}})
			}
			continue
		}
		var calls []Use
		for _, c := range m.Calls {
			if _, done := results[c.ID]; done && c.ID != "" && !seen[c.ID] && json.Valid(c.Input) {
				seen[c.ID] = true
				calls = append(calls, c)
			}
		}
		if m.Text == "" && len(calls) == 0 {
			continue
		}
		if n := len(all); n == 0 || all[n-1].Role != "assistant" {
			all = append(all, Row{Role: "assistant", Calls: []Use{}})
			texts = nil
		}
		last := &all[len(all)-1]
		if m.Text != "" {
			texts = append(texts, m.Text)
		}
		last.Calls = append(last.Calls, calls...)
	}
	answer()
	return all
}

// said returns rows without what the client says of a command that it ran itself, such as /compact: that is no message.
func said(rows []Row) []Row {
	echo := func(i int) bool {
		return i >= 0 && i < len(rows) && rows[i].Role == "user" && strings.HasPrefix(rows[i].Text, "<local-command-")
	}
	all := make([]Row, 0, len(rows))
	for i, m := range rows {
		if !echo(i) && !(strings.HasPrefix(m.Text, "<command-name>") && (echo(i-1) || echo(i+1))) {
			all = append(all, m)
		}
	}
	return all
}

// spot is where something stands in the session's records.
type spot struct {
	n    int // number of the record
	id   mark.ID
	time time.Time
}

// finder finds the records that rows show.
type finder struct {
	wanted  map[string]bool // the calls in the rows
	lengths map[int]bool    // of the texts in the rows, in bytes
	calls   map[string]spot // by the call's ID; that of a call's input
	results map[string]spot
	texts   map[mark.Hash][]spot
	keeps   string // the UUID of the first record that the client keeps itself
	kept    int    // its number, 0 if it is not found
	unseen  []unseen
	records int
	last    time.Time // of the newest record
}

// unseen is something that rows do not show, so that it cannot stay in the context.
type unseen struct {
	spot
	what string
}

func newFinder(rows []Row, keeps string) *finder {
	f := &finder{
		keeps: keeps, wanted: map[string]bool{}, lengths: map[int]bool{},
		calls: map[string]spot{}, results: map[string]spot{}, texts: map[mark.Hash][]spot{},
	}
	for i := range rows {
		f.lengths[len(strings.TrimSpace(rows[i].Text))] = true
		for _, c := range rows[i].Calls {
			f.wanted[c.ID] = true
		}
	}
	return f
}

// add takes the next record of the session.
func (f *finder) add(r *transcript.Record) {
	f.records = r.N
	if !r.Time.IsZero() {
		f.last = r.Time
	}
	if r.UUID != "" && r.UUID == f.keeps {
		f.kept = r.N
	}
	for i := range r.Items {
		it := &r.Items[i]
		if it.Side || it.Copy || it.Call != "" && !f.wanted[it.Call] {
			continue
		}
		var text []byte
		if it.Call == "" && it.Kind != transcript.Image && it.Kind != transcript.Thinking {
			if text = bytes.TrimSpace(transcript.Original(it.Kind, it.Raw)); !f.lengths[len(text)] {
				continue
			}
		}
		at := spot{r.N, it.Sum().ID(), r.Time}
		switch {
		case it.Kind == transcript.Call:
			f.calls[strings.Clone(it.Call)] = at
		case it.Call != "":
			f.results[strings.Clone(it.Call)] = at
			if bytes.Contains(it.Raw, []byte(`"type":"image"`)) {
				f.unseen = append(f.unseen, unseen{at, "image"})
			}
		case it.Kind == transcript.Image:
			f.unseen = append(f.unseen, unseen{at, transcript.MediumOf(it.Raw).String()})
		case it.Kind == transcript.Thinking:
			if len(transcript.Original(it.Kind, it.Raw)) > 0 {
				f.unseen = append(f.unseen, unseen{at, "thinking"})
			}
		default:
			sum := mark.Sum(text)
			f.texts[sum] = append(f.texts[sum], at)
		}
	}
}

// first returns the number of the record at which messages begin, past the last one if none of them is found. It goes
// backwards, so that of equal texts the right one is taken.
func (f *finder) first(all []Row) int {
	at := f.records + 1
	found := func(n int) {
		if n > 0 && n < at {
			at = n
		}
	}
	for i := len(all) - 1; i >= 0; i-- {
		m := &all[i]
		for _, r := range m.Results {
			found(f.results[r.ID].n)
		}
		for _, c := range m.Calls {
			found(f.calls[c.ID].n)
		}
		found(f.textBefore(m.Text, at).n)
	}
	return at
}

// textBefore returns where a text was last said, at the latest in record n.
func (f *finder) textBefore(text string, n int) (at spot) {
	if text == "" {
		return at
	}
	all := f.texts[mark.Sum([]byte(strings.TrimSpace(text)))] // in order of the records
	if i, _ := slices.BinarySearchFunc(all, n+1, func(s spot, n int) int { return cmp.Compare(s.n, n) }); i > 0 {
		return all[i-1]
	}
	return at
}

// The first lines of what is shortened, in chars.
const (
	shortHead = 500
	shortWord = 2000 // longer strings in a call's input are shortened
)

// microcompact shortens the old results that are large, in place.
func (f *finder) microcompact(all []Row, live Live) {
	large := 0
	for i := len(all) - 1; i >= 0; i-- {
		for k := len(all[i].Results) - 1; k >= 0; k-- {
			r := &all[i].Results[k]
			at := f.results[r.ID]
			recent := !at.time.IsZero() && f.last.Sub(at.time) <= recentTime
			if utf8.RuneCountInString(r.Text) <= live.Large || live.Verbatim.Part > 0 && recent {
				continue
			}
			if large++; large > wholeResults {
				f.shorten(&r.Text, at, min(shortHead, live.Large/2))
			}
		}
	}
}

// recentTime is how long before the newest record a result is not old.
const recentTime = 5 * time.Minute

// newest returns the newest messages that fit into room chars, and at least leastMessages. They begin where no pair
// is torn. Old results are shortened as microcompact does, and then, if they still do not fit, so is what is longest.
func newest(all []Row, live Live, room int, f *finder) []Row {
	f.microcompact(all, live)
	from, sum := len(all), 0
	for i := len(all) - 1; i >= 0; i-- {
		if _, ours := transcript.ReadLive(all[i].Text); ours { // an earlier text: the new one replaces it
			break
		}
		sum += all[i].size()
		if from < len(all) && len(all)-from >= leastMessages && sum > room {
			break
		}
		if len(all[i].Results) == 0 {
			from = i
		}
	}
	all = all[from:]
	sum = sizeOf(all)
	for i := 0; i < len(all) && sum > room; i++ { // the oldest first
		sum -= all[i].size()
		most, head, word := 0, shortHead, shortWord
		if i >= len(all)-2 { // the agent has just asked for it, or is to answer it
			most, head, word = room/2, room/4, room/2
		}
		m := &all[i]
		for k := range m.Results {
			if r := &m.Results[k]; utf8.RuneCountInString(r.Text) > most {
				f.shorten(&r.Text, f.results[r.ID], head)
			}
		}
		for k := range m.Calls {
			f.shortenInput(&m.Calls[k], word)
		}
		if utf8.RuneCountInString(m.Text) > room/4 {
			f.shorten(&m.Text, f.textBefore(m.Text, f.records), room/8)
		}
		sum += m.size()
	}
	return all
}

// shorten leaves the beginning and the end of a text whose original has an ID.
func (f *finder) shorten(text *string, at spot, head int) {
	chars := utf8.RuneCountInString(*text)
	if at.id == "" || chars <= 2*head {
		return
	}
	first := lexicon.Head(*text, head)
	if i := strings.LastIndexByte(first, '\n'); i > len(first)/2 {
		first = first[:i]
	}
	end := []rune((*text)[len(first):])
	end = end[max(0, len(end)-head/3):]
	*text = inert(first) + "\n" + shortened(at, chars) + "\n" + inert(string(end))
}

// shortened is the line in place of what is left out.
func shortened(at spot, chars int) string {
	return mark.New(at.id, fmt.Sprintf("%d chars, shortened; ccd agent restore %s prints all", chars, at.id))
}

// shortenInput shortens the strings at the top of a call's input that have more than most chars.
func (f *finder) shortenInput(c *Use, most int) {
	at, ok := f.calls[c.ID]
	var input map[string]json.RawMessage
	if !ok || json.Unmarshal(c.Input, &input) != nil {
		return
	}
	changed := false
	for name, raw := range input {
		var text string
		if json.Unmarshal(raw, &text) != nil || utf8.RuneCountInString(text) <= most {
			continue
		}
		if b, err := json.Marshal(inert(lexicon.Head(text, shortHead)) + "\n" + shortened(at, utf8.RuneCountInString(text))); err == nil {
			input[name], changed = b, true
		}
	}
	if b, err := json.Marshal(input); changed && err == nil {
		c.Input = b
	}
}
