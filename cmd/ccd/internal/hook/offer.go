package hook

import (
	"cmp"
	"context"
	"fmt"
	"path/filepath"
	"strings"

	"ccd/internal/agent/registry"
	"ccd/internal/mark"
	"ccd/internal/transcript"

	"github.com/dustin/go-humanize"
)

// maxAsked is how much of the last request is quoted, in chars.
const maxAsked = 160

// offer returns one line about the newest earlier session of the project.
func (h Hooks) offer(ctx context.Context, e Event, s transcript.Session) (string, error) {
	if !filepath.IsAbs(e.Cwd) {
		return "", nothing("the event names no directory")
	}
	before, err := h.Earlier(ctx, s, e.Cwd)
	if err != nil {
		return "", err
	}
	if before == nil {
		return "", nothing("no earlier session of the project has a companion")
	}
	c, err := open(before.CompanionFile(), before.Session.Session)
	if err != nil {
		return "", err
	}
	text := fmt.Sprintf("ccd: an earlier session of this project is archived, %s", humanize.RelTime(before.Last(), h.Now, "ago", "from now"))
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
