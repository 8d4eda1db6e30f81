package hook

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"ccd/compactor"
	"ccd/internal/mark"
	"ccd/internal/transcript"
)

// Limits of a demotion, in chars.
const (
	minDemoted   = 30000 // an output from this length on is demoted
	headShown    = 2000  // of it, that stay
	errorsShown  = 8000  // of its error lines, all together
	errorLine    = 400   // of one error line
	leastDemoted = 12000 // of one text of an output that has several: shorter ones stay
)

// demote gives the agent the beginning of a long output, its error lines and an ID in place of all of it, once the
// original is durable in the archive. It gives nothing, so that the output passes unchanged, where it does not understand
// the output's shape, where the agent asked for an original, and where anything fails.
func (h Hooks) demote(ctx context.Context, e Event, s transcript.Session) (Answer, error) {
	switch {
	case h.Keep == nil || e.Agent != claude: // only Claude Code lets a hook replace an output
		return Answer{}, nothing("outputs are not demoted")
	case asksForOriginal(e.Tool, e.Input):
		return Answer{}, nothing("the agent asked for an original")
	}
	shape, err := shapeOf(e, s)
	if err != nil {
		return Answer{}, err
	}
	chars, demoted := shape.chars(), 0
	if chars < minDemoted {
		return Answer{}, nothing("the output is short")
	}
	for _, t := range shape.texts {
		if t.chars() < leastDemoted || t.source && bytes.Contains(t.original[:min(len(t.original), 4*headShown)], []byte("[ccd")) {
			continue // a file is shown as it is, or not at all: who edits it goes by these lines
		}
		if err := h.keep(ctx, s, t.original); err != nil {
			return Answer{}, err
		}
		t.put(h.preview(t))
		demoted++
	}
	if demoted == 0 || ctx.Err() != nil {
		return Answer{}, errors.Join(nothing("no text of it is to be demoted"), ctx.Err())
	}
	replaced, err := shape.json()
	if err != nil {
		return Answer{}, err
	}
	out, err := output(map[string]any{"hookEventName": e.Name, "updatedToolOutput": replaced})
	return Answer{out, fmt.Sprintf("demoted %d chars", chars)}, err
}

// asksForOriginal reports whether a call is the agent's way to get an original, or a companion: what it prints is what
// was asked for.
func asksForOriginal(tool string, input json.RawMessage) bool {
	if strings.HasPrefix(tool, "mcp__ccd__") {
		return true
	}
	var in struct {
		Command string `json:"command"`
		Path    string `json:"file_path"`
	}
	if json.Unmarshal(input, &in) != nil {
		return false
	}
	if strings.HasSuffix(in.Path, ".ccd.md") || strings.Contains(in.Command, ".ccd.md") {
		return true
	}
	for _, simple := range strings.FieldsFunc(in.Command, func(r rune) bool { return strings.ContainsRune("\n;&|(){}`$", r) }) {
		if runsCcd(strings.Fields(simple)) {
			return true
		}
	}
	return false
}

// runsCcd reports whether words are a command line of ccd: behind variables and programs that run another one.
func runsCcd(words []string) bool {
	for _, w := range words {
		w = strings.Trim(w, `"'`)
		if w == "ccd" || strings.HasSuffix(w, "/ccd") || strings.HasSuffix(w, "ccd.exe") {
			return true
		}
		switch name, _, assigned := strings.Cut(w, "="); {
		case assigned && !strings.HasPrefix(name, "-"), w == "env", w == "sudo", w == "timeout", w == "time", w == "command", w == "nice":
		case strings.Trim(w, "0123456789.smh") == "", strings.HasPrefix(w, "-"):
		default:
			return false
		}
	}
	return false
}

// preview is what the agent gets of a text.
func (h Hooks) preview(t *text) string {
	whole := string(t.original)
	head := headOf(whole, headShown)
	if i := strings.LastIndexByte(head, '\n'); t.source && i > 0 {
		head = head[:i] // whole lines: they have numbers
	}
	id := mark.Sum(t.original).ID()
	var b strings.Builder
	b.WriteString(inert(head) + "\n")
	b.WriteString(transcript.Demotion(id, t.chars(), lines(whole), utf8.RuneCountInString(head)) + "\n")
	b.WriteString(wrongLines(whole[len(head):], strings.Count(head, "\n"), t.source))
	fmt.Fprintf(&b, "The whole output is archived: run `%s` (with | sed -n, grep or the like for a part), or use the tool restore of the MCP server ccd.\n",
		h.command("restore", string(id)))
	return b.String()
}

// wrongLines are the error lines of a text, with their numbers, behind the first skipped lines of the output.
func wrongLines(rest string, skipped int, source bool) string {
	var b strings.Builder
	room, shown, more := errorsShown, 0, 0
	for n, line := range compactor.ErrorLines(rest, source) {
		if short := headOf(line, errorLine); len(short) < len(line) {
			line = short + " …"
		}
		line = fmt.Sprintf("%d: %s\n", n+skipped, inert(line))
		if need := utf8.RuneCountInString(line); need > room {
			more++
		} else if more == 0 {
			room -= need
			shown++
			b.WriteString(line)
		} else {
			more++
		}
	}
	switch {
	case shown == 0:
		return ""
	case more > 0:
		return fmt.Sprintf("Lines after these that tell of something wrong, the first %d of %d:\n%s", shown, shown+more, b.String())
	}
	return fmt.Sprintf("Lines after these that tell of something wrong, %d:\n%s", shown, b.String())
}

// headOf is the first n characters of a text.
func headOf(s string, n int) string {
	for i := range s {
		if n == 0 {
			return s[:i]
		}
		n--
	}
	return s
}

func lines(s string) int {
	n := strings.Count(s, "\n")
	if s != "" && !strings.HasSuffix(s, "\n") {
		n++
	}
	return n
}

// inert is text of an output in which nothing poses as a marker of ours. The original has it as it was.
func inert(s string) string {
	return strings.ReplaceAll(strings.ToValidUTF8(s, "\ufffd"), "[ccd", `[\ccd`)
}
