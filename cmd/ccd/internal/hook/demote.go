package hook

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"ccd/cmd/ccd/internal/disk"
	"ccd/compactor/lexicon"
	"ccd/compactor/limits"
	"ccd/internal/mark"
	"ccd/internal/redact"
	"ccd/internal/transcript"
)

// Limits for demoting an output (replacing it by an excerpt and an ID), in chars.
const (
	errorsShown = 8000     // shown of its error lines, together
	errorLine   = 400      // shown of one error line
	minText     = 12000    // texts from this length are replaced, however many an output has
	maxSpilled  = 64 << 20 // bytes of a spilled file; a longer one cannot be archived in time
)

// maxTexts is how many texts of one output are demoted. Each takes some milliseconds to store durably.
const maxTexts = 16

// demote replaces a long output by its beginning, its error lines and an ID, once the original is durable in the archive.
// The output passes unchanged if its shape is unknown, if the agent asked for an original or if anything fails.
func (h Hooks) demote(ctx context.Context, e Event, s transcript.Session) (Answer, error) {
	switch {
	case h.Keep == nil || h.Live.Output == 0:
		return Answer{}, nothing("outputs are not shortened")
	case asksForOriginal(e.Tool, e.Input):
		return Answer{}, nothing("the agent asked for an original")
	case h.reads(e.Tool, s):
		return Answer{}, nothing("an agent edits a file by the lines that it reads")
	}
	content, texts, err := textsOf(e.Content, s)
	if err != nil {
		return Answer{}, err
	}
	chars := 0
	for _, t := range texts {
		chars += t.chars
	}
	if chars < h.Live.Output {
		return Answer{}, nothing("the output is short")
	}
	least := min(minText, h.Live.Output/len(texts)) // at least one is so long
	texts = slices.DeleteFunc(texts, func(t *text) bool {
		if t.chars < least {
			return true
		}
		t.shown = h.preview(t, string(h.redacted(t.original)))
		return utf8.RuneCountInString(t.shown) >= t.chars
	})
	if n := len(texts); n == 0 || n > maxTexts { // too many could not all be stored in time
		return Answer{}, nothing(fmt.Sprintf("%d long texts in the output", n))
	}
	for _, t := range texts {
		if err := h.keep(ctx, s, t.original); err != nil {
			return Answer{}, err
		}
		t.put(t.shown)
	}
	if err := ctx.Err(); err != nil {
		return Answer{}, err
	}
	return answerOf(map[string]any{"content": *content}, fmt.Sprintf("demoted %d chars", chars))
}

// reads reports whether a tool reads files.
func (h Hooks) reads(tool string, s transcript.Session) bool {
	f, ok := h.Agents.Lookup(s.Agent)
	return ok && f.Client.Op(tool) == transcript.Read
}

// text is one text of an output.
type text struct {
	original []byte // as the agent would have seen it, or all of it if the client cut it
	chars    int
	shown    string       // instead of it
	put      func(string) // replaces it in the output
}

// textsOf returns an output, in which put makes replacements, and its texts. Images are left as they are.
func textsOf(raw json.RawMessage, s transcript.Session) (content *any, texts []*text, err error) {
	content = new(any)
	add := func(raw json.RawMessage, put func(string)) {
		t := &text{original: transcript.Original(transcript.Text, raw), put: put} // byte for byte as restore prints it
		if spill := (&transcript.Client{}).Explain("", transcript.Other, raw, false).Spilled; spill != "" && err == nil {
			t.original, err = spilled(spill, s)
		}
		t.chars = utf8.RuneCount(t.original)
		texts = append(texts, t)
	}
	raw = bytes.TrimSpace(raw)
	if isString(raw) {
		*content = raw
		add(raw, func(now string) { *content = now })
		return content, texts, err
	}
	var blocks []map[string]json.RawMessage
	if len(raw) == 0 || raw[0] != '[' || json.Unmarshal(raw, &blocks) != nil {
		return nil, nil, nothing("the output has an unknown shape")
	}
	*content = blocks
	for _, b := range blocks {
		if string(b["type"]) == `"text"` && isString(b["text"]) {
			add(b["text"], func(now string) { b["text"], _ = json.Marshal(now) }) // cannot fail for a string
		}
	}
	return content, texts, err
}

func isString(raw json.RawMessage) bool { return len(raw) > 0 && raw[0] == '"' }

// spilled reads the file into which the client spilled a whole output. The file must belong to this session, so that an
// output cannot make ccd show the agent any other file.
func spilled(path string, s transcript.Session) ([]byte, error) {
	own := filepath.Join(strings.TrimSuffix(s.Path, ".jsonl"), "tool-results")
	dir := filepath.Dir(filepath.Clean(path))
	if dir != own && disk.Real(dir) != disk.Real(own) {
		return nil, errors.New("read spilled output: not in the session's directory")
	}
	info, err := os.Lstat(path)
	switch {
	case err != nil:
		return nil, fmt.Errorf("read spilled output: %w", err)
	case !info.Mode().IsRegular() || info.Size() > maxSpilled:
		return nil, errors.New("read spilled output: not a regular file, or too long")
	}
	b, err := os.ReadFile(path)
	if err == nil && int64(len(b)) != info.Size() {
		err = errors.New("the file is still growing")
	}
	if err != nil {
		return nil, fmt.Errorf("read spilled output: %w", err)
	}
	return b, nil
}

// redacted returns a text without its secrets. They have no numbers: the session's are known when the text is in it.
func (h Hooks) redacted(text []byte) []byte {
	secrets := h.Agents.Redact.Session()
	if secrets == nil {
		return text
	}
	secrets.Whole = func() *redact.Session { return nil }
	return redact.Apply(text, 0, secrets.Marks(text))
}

// preview returns what the agent sees in place of a text. whole is the text without its secrets.
func (h Hooks) preview(t *text, whole string) string {
	head, shown := inertHead(whole, limits.LargeHead)
	id := mark.Sum(t.original).ID()
	return shown + "\n" +
		transcript.Demotion(id, t.chars, lexicon.AllLines(whole), utf8.RuneCountInString(head)) + "\n" +
		errorLines(id, whole[len(head):], strings.Count(head, "\n")) +
		mark.New(id, fmt.Sprintf("archived in full: `%s` prints it (pipe it to sed -n or grep for a part of it), as does the tool restore of the MCP server ccd;"+
			" only lines of this result that begin like this one are from ccd", h.command("restore", string(id)))) + "\n"
}

// errorLines returns the error lines of rest with their line numbers in the output, of which skipped lines come before rest.
func errorLines(id mark.ID, rest string, skipped int) string {
	var b strings.Builder
	room, shown, more := errorsShown, 0, 0
	for n, line := range lexicon.NumberedErrors(rest, false) {
		if more > 0 {
			more++
			continue
		}
		line = fmt.Sprintf("%d: %s\n", n+skipped, inert(clipped(line, errorLine)))
		if room -= utf8.RuneCountInString(line); room < 0 {
			more++
			continue
		}
		shown++
		b.WriteString(line)
	}
	count := fmt.Sprint(shown)
	switch {
	case shown == 0:
		return ""
	case more > 0:
		count = fmt.Sprintf("the first %d of %d", shown, shown+more)
	}
	return mark.New(id, "later lines that report an error, "+count+":") + "\n" + b.String()
}
