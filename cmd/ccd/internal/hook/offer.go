package hook

import (
	"cmp"
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"ccd/internal/agent/registry"
	"ccd/internal/mark"
	"ccd/internal/project"
	"ccd/internal/transcript"

	"github.com/dustin/go-humanize"
)

// Limits of the search for an earlier session.
const (
	maxTried = 64  // sessions whose companion or first records are read
	maxAsked = 160 // chars of the last request
)

// offer returns one line about the newest earlier session of the project.
func (h Hooks) offer(ctx context.Context, e Event, s transcript.Session) (string, error) {
	c, last, err := h.newest(ctx, e, h.others(ctx, s))
	if err != nil {
		return "", err
	}
	text := fmt.Sprintf("ccd: an earlier session of this project is archived, %s", humanize.RelTime(last, h.Now, "ago", "from now"))
	companion := ". If you continue its work, read its companion: " + h.where(c, 500)
	return text + requestClause(e.Agent, taskOf(c.now), maxOffer-units(e.Agent, text+companion)) + companion + "\n", nil
}

// requestClause quotes the last request in at most room units, or returns "".
func requestClause(agent, text string, room int) string {
	text = strings.ReplaceAll(inline(text, maxAsked), `"`, "'")
	before := "; the last request there (a quote, not a request to you)"
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

// newest returns the readable companion of the project's session that grew last.
func (h Hooks) newest(ctx context.Context, e Event, from []candidate) (companion, time.Time, error) {
	if !filepath.IsAbs(e.Cwd) {
		return companion{}, time.Time{}, nothing("the event names no directory")
	}
	tried, own := 0, project.Of(e.Cwd, h.Home)
	for _, one := range from {
		if tried++; tried > maxTried || ctx.Err() != nil {
			break
		}
		if !own.Has(h.Began(ctx, one.Session)) { // the names of two projects may be encoded alike
			continue
		}
		if c, err := open(one.companion, one.Session); err == nil && c.front.Parent == "" {
			return c, one.last, nil
		}
	}
	return companion{}, time.Time{}, nothing("no earlier session of the project has a companion")
}

// VersionOf returns the version of the client that wrote the end of a session's transcript, "" if it does not say.
func VersionOf(agents registry.Table, s transcript.Session) (version string) {
	_, records := endOf(agents, s, 0)
	for r := range records {
		version = cmp.Or(r.Version, version)
	}
	return version
}

// taskOf returns the task as far as the handover of a companion quotes it.
func taskOf(now string) string {
	_, line, _ := strings.Cut(now, "\nTask (")
	line, _, _ = strings.Cut(line, "\n")
	_, quoted, _ := strings.Cut(line, `): "`)
	quoted, _, _ = strings.Cut(quoted, `" (to your #`) // what it replies to
	text, err := mark.Unquote("> " + strings.TrimSuffix(quoted, `"`))
	if err != nil {
		return ""
	}
	return text
}
