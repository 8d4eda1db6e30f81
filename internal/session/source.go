package session

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/rogpeppe/go-internal/diff"

	"ccd/internal/mark"
	"ccd/internal/redact"
	"ccd/internal/transcript"
)

const (
	giant    = 256 << 10 // bytes; of a longer item only both ends are read
	giantEnd = 32 << 10  // bytes read of each end
)

// Source fetches the texts of a model and makes the pointers of its IDs. After a failed fetch, Err is set and later reads
// return nothing.
type Source struct {
	Err   error
	Whole bool                           // texts of over 256 KB are read whole
	Known map[mark.ID]transcript.Pointer // of all IDs that may be printed

	s     *Session
	fetch func(transcript.Span) ([]byte, error)
	cache map[int64][]byte // raw items without their secrets, by offset
	size  int
}

// cacheSize is how many bytes of fetched items are kept for one text.
const cacheSize = 12 << 20

// NewSource returns a Source for s. fetch returns the bytes of a span of the transcript, valid until its next call.
func NewSource(s *Session, fetch func(transcript.Span) ([]byte, error)) *Source {
	return &Source{s: s, fetch: fetch, Known: map[mark.ID]transcript.Pointer{}, cache: map[int64][]byte{}}
}

func (t *Source) span(at transcript.Span) []byte {
	if t.Err != nil {
		return nil
	}
	data, err := t.fetch(at)
	if err == nil && int64(len(data)) != at.Len {
		err = fmt.Errorf("got %d bytes", len(data))
	}
	if err != nil {
		t.Err = fmt.Errorf("read %d bytes at offset %d: %w", at.Len, at.Off, err)
		return nil
	}
	return data
}

// Raw returns an item's JSON without its secrets, or a JSON string of both ends of a giant. It fails if the bytes are not
// those that the model was made from.
func (t *Source) Raw(r Ref) []byte {
	if raw, ok := t.cache[r.Span.Off]; ok {
		return raw
	}
	var raw []byte
	if r.Span.Len > giant && !t.Whole {
		raw = t.ends(r)
	} else {
		raw = t.span(r.Span)
		if t.Err == nil && mark.Sum(raw) != r.Sum {
			t.Err = fmt.Errorf("read item at offset %d: its bytes have changed since they were read", r.Span.Off)
		}
		raw = bytes.Clone(redact.Apply(raw, 0, t.s.Marks(r)))
	}
	if t.size += len(raw); t.size > cacheSize {
		t.cache, t.size = map[int64][]byte{}, len(raw)
	}
	t.cache[r.Span.Off] = raw
	return raw
}

// ends reads both ends of a giant and makes a JSON string of their text.
func (t *Source) ends(r Ref) []byte {
	head := bytes.Clone(t.span(transcript.Span{Off: r.Span.Off, Len: giantEnd}))
	tail := t.span(transcript.Span{Off: r.Span.End() - giantEnd, Len: giantEnd})
	if t.Err != nil {
		return nil
	}
	marks := t.s.Marks(r)
	head, tail = redact.Apply(head, 0, marks), redact.Apply(tail, int(r.Span.Len-giantEnd), marks)
	text := string(head) + "\n…\n" + string(tail)
	if head[0] == '"' {
		// A blank is never part of an escape: between blanks both ends are JSON.
		if i, j := bytes.LastIndexByte(head, ' '), bytes.IndexByte(tail, ' '); i > 0 && j >= 0 {
			text = string(transcript.Original(transcript.Text, append(head[:i:i], '"'))) + "\n…\n" +
				string(transcript.Original(transcript.Text, append([]byte{'"'}, tail[j:]...)))
		}
	}
	raw, err := json.Marshal(text)
	if err != nil {
		return []byte(`""`)
	}
	return raw
}

// Text returns an item's text as the agent saw it; of a human message only what the person typed.
func (t *Source) Text(r Ref) string {
	text, _ := t.Said(r)
	return text
}

// Said is Text, with the number of characters that the client added to it.
func (t *Source) Said(r Ref) (text string, added int) {
	if r.Zero() || r.Kind == transcript.Image {
		return "", 0
	}
	text = string(transcript.Original(r.Kind, t.Raw(r)))
	if r.Kind == transcript.Human {
		return t.s.client.Said(r.Frame, text)
	}
	return text, 0
}

// Record returns the line of a record without its secrets.
func (t *Source) Record(rec int32) []byte {
	return redact.Apply(bytes.Clone(t.span(t.s.Line(rec))), 0, t.s.marks[rec])
}

// Explain returns what a call's result says.
func (t *Source) Explain(c *Call) transcript.Outcome {
	if c.Result.Zero() {
		return transcript.Outcome{}
	}
	return t.s.client.Explain(c.Tool, c.Op, t.Raw(c.Result), c.State == Failed && !c.HasExit)
}

// Outcome is Explain without what the client adds to a result.
func (t *Source) Outcome(c *Call) transcript.Outcome {
	out := t.Explain(c)
	if out.Text = WithoutReminders(out.Text); c.Tool == "" { // a person ran it
		out.Text = printed.Replace(out.Text)
	}
	return out
}

var printed = strings.NewReplacer("<bash-stdout>", "", "</bash-stdout>", "", "<bash-stderr>", "", "</bash-stderr>", "")

// WithoutReminders returns a result's text without what the client adds to it: that is not the tool's.
func WithoutReminders(text string) string {
	for {
		before, rest, ok := strings.Cut(text, "<system-reminder>")
		_, after, ended := strings.Cut(rest, "</system-reminder>")
		if !ok || !ended {
			return text
		}
		text = strings.TrimRight(before, "\n") + after
	}
}

// Patch returns the change that a call makes as - and + lines, a new file as its content, or a patch as written; "" for
// other calls.
func (t *Source) Patch(c *Call) (text string, whole bool) {
	input := t.Raw(c.At)
	return patchOf(input, func() string { return t.s.client.Patch(c.Tool, input) })
}

// patchOf returns what a call changes, by its input. patch returns the patch that it applies.
func patchOf(input []byte, patch func() string) (text string, whole bool) {
	content, steps, ok := transcript.Edits(input)
	switch {
	case !ok:
		return patchLines(patch()), false
	case steps == nil:
		return content, true
	}
	var b strings.Builder
	for _, step := range steps {
		b.WriteString(lineDiff(step.Old, step.New))
	}
	return strings.TrimSuffix(b.String(), "\n"), false
}

// lineCounts counts the lines that a change adds and removes.
func lineCounts(text string, whole bool) (plus, minus int64) {
	if whole {
		return int64(len(splitLines(text))), 0
	}
	text = "\n" + text
	return int64(strings.Count(text, "\n+")), int64(strings.Count(text, "\n-"))
}

// ID returns the ID of an item's original and keeps its pointer.
func (t *Source) ID(r Ref) mark.ID {
	id := r.Sum.ID()
	if _, ok := t.Known[id]; !ok {
		t.Known[id] = transcript.Pointer{
			Hash: r.Sum, Shape: transcript.Single, Parts: []transcript.Part{{Span: r.Span, Kind: r.Kind}},
			Record: r.N(), Last: r.N(), Time: t.s.Time(r.Rec), Note: r.Kind.String(),
		}
	}
	return id
}

// lineDiff returns the lines that differ between two texts as - and + lines, with one unchanged line before the first group and behind
// each, and a mark where others are left out.
func lineDiff(before, after string) string {
	var out strings.Builder
	above, changed, skipped := "", false, false
	all := strings.Split(string(diff.Diff("", whole(before), "", whole(after))), "\n")
	for _, line := range all[min(len(all), diffHead):] {
		switch {
		case line == "":
		case line[0] == '-' || line[0] == '+':
			if out.Len() == 0 {
				out.WriteString(above)
			} else if skipped {
				out.WriteString("  …\n")
			}
			out.WriteString(line[:1] + " " + line[1:] + "\n")
			changed, skipped = true, false
		case changed && line[0] == ' ':
			out.WriteString("  " + line[1:] + "\n")
			changed = false
		case line[0] == ' ':
			above, skipped = "  "+line[1:]+"\n", true
		}
	}
	return out.String()
}

// diffHead is how many lines a diff begins with that are no changes: the names of the texts.
const diffHead = 3

// whole returns a text with an end of its last line.
func whole(text string) []byte {
	if text != "" && !strings.HasSuffix(text, "\n") {
		text += "\n"
	}
	return []byte(text)
}

func splitLines(text string) []string {
	if text == "" {
		return nil
	}
	return strings.Split(strings.TrimSuffix(text, "\n"), "\n")
}

// patchLines returns the lines of a patch that change something, with the files that they are in: no wrapper, no context, no
// line that is removed and added again. Where something is left out between them there is a mark.
func patchLines(patch string) string {
	var out, before, after strings.Builder
	files := strings.Count(patch, "\n*** ") - strings.Count(patch, "\n*** End")
	flush := func() {
		if before.Len()+after.Len() > 0 {
			if change := lineDiff(before.String(), after.String()); change != "" {
				if out.Len() > 0 && !strings.HasPrefix(change, "  ") {
					out.WriteString("  …\n")
				}
				out.WriteString(change)
			}
		}
		before.Reset()
		after.Reset()
	}
	for line := range strings.Lines(patch) {
		line = strings.TrimRight(line, "\r\n")
		switch {
		case strings.HasPrefix(line, "*** ") && files > 1 && !strings.HasSuffix(line, " Patch"):
			flush()
			out.WriteString(line + "\n")
		case strings.HasPrefix(line, "+"):
			after.WriteString(line[1:] + "\n")
		case strings.HasPrefix(line, "-"):
			before.WriteString(line[1:] + "\n")
		default:
			flush()
		}
	}
	flush()
	return strings.TrimSuffix(out.String(), "\n")
}
