package hook

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"ccd/internal/agent/registry"
	"ccd/internal/mark"
	"ccd/internal/transcript"
)

// Limits of the search for an earlier session.
const (
	maxTried = 64       // companions and heads of transcripts that are read
	maxFirst = 64 << 10 // bytes of a transcript that are read to learn where it works: a rollout's first line is some 20 KB
	maxAsked = 160      // chars of what was last asked
)

// offer is one line on the newest earlier session of the project.
func (h Hooks) offer(ctx context.Context, e Event, s transcript.Session) (string, error) {
	c, last, err := h.newest(ctx, e, h.others(ctx, s))
	if err != nil {
		return "", err
	}
	text := fmt.Sprintf("ccd: an earlier session of this project is on record, %s", age(h.Now.Sub(last)))
	companion := ". If the work goes on from it, read its companion: " + h.where(c, 500)
	return text + asked(e.Agent, lastAsked(c.now), maxOffer-units(e.Agent, text+companion)) + companion + "\n", nil
}

// asked tells within room units what was last asked, as far as there is room for it.
func asked(agent, text string, room int) string {
	text = strings.ReplaceAll(inline(text, maxAsked), `"`, "'")
	before := "; last asked there, quoted and no request of now"
	if strings.Contains(text, escapedTag) {
		before += ", " + escapedTag + " for <"
	}
	before += `: "`
	room -= units(agent, before+"…\"")
	switch short := cut(agent, text, max(room, 0)); {
	case short == "":
		return ""
	case short != text:
		return before + short + `…"`
	}
	return before + text + `"`
}

// newest is the companion that can be read, of the same project, whose session grew last.
func (h Hooks) newest(ctx context.Context, e Event, from []candidate) (companion, time.Time, error) {
	tried := 0
	for _, one := range from {
		if one.companion == "" {
			continue
		}
		if tried++; tried > maxTried || ctx.Err() != nil {
			break
		}
		if !ofProject(e, one.Session) {
			continue
		}
		if c, err := open(one.companion, one.Session); err == nil && c.Fields["parent"] == "" {
			return c, one.last, nil
		}
	}
	return companion{}, time.Time{}, nothing("no earlier session of the project has a companion")
}

// ofProject reports whether a session is of the project that the event comes from. Of Claude Code that is known by the
// directory of the transcript.
func ofProject(e Event, s transcript.Session) bool {
	return s.Agent == claude || WorkingDir(s) == filepath.Clean(e.Cwd)
}

// WorkingDir is where a session works by the first records of its transcript, "" where they do not tell.
func WorkingDir(s transcript.Session) string {
	info, err := os.Lstat(s.Path)
	if err != nil || !info.Mode().IsRegular() {
		return ""
	}
	f, err := os.Open(s.Path)
	if err != nil {
		return ""
	}
	defer f.Close()
	head, err := io.ReadAll(io.LimitReader(f, maxFirst))
	if err != nil {
		return ""
	}
	end := strings.LastIndexByte(string(head), '\n') + 1
	seg := transcript.Segment{Data: head[:end], End: transcript.Cursor{Generation: 1, Offset: int64(end)}}
	cwd := ""
	for r := range registry.NewDecoder(s.Agent, s.Class).Records(seg) {
		if cwd == "" && r.Cwd != "" {
			cwd = filepath.Clean(r.Cwd)
		}
	}
	return cwd
}

// lastAsked is the last human message as Now quotes it, as far as it does.
func lastAsked(now string) string {
	_, asked, ok := strings.Cut(now, "\nAsked last (")
	if !ok {
		return ""
	}
	var quoted strings.Builder
	for line := range strings.Lines(asked[strings.IndexByte(asked, '\n')+1:]) {
		if !strings.HasPrefix(line, "> ") && !strings.HasPrefix(line, ">+ ") {
			break
		}
		quoted.WriteString(line)
	}
	text, err := mark.Unquote(quoted.String())
	if err != nil {
		return ""
	}
	return text
}

// age tells how long ago something was, in words.
func age(d time.Duration) string {
	switch {
	case d < 2*time.Minute:
		return "just now"
	case d < 2*time.Hour:
		return fmt.Sprintf("%d minutes ago", d/time.Minute)
	case d < 48*time.Hour:
		return fmt.Sprintf("%d hours ago", d/time.Hour)
	}
	return fmt.Sprintf("%d days ago", d/(24*time.Hour))
}
