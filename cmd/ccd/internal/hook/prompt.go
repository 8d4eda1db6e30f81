package hook

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"iter"
	"os"

	"ccd/compactor"
	"ccd/internal/agent/registry"
	"ccd/internal/transcript"
)

// prompt warns beside a prompt that the context fills up, once per session and level. After a compaction by a client that has no event
// for it, it tells what SessionStart tells others.
func (h Hooks) prompt(ctx context.Context, e Event, s transcript.Session) (Answer, error) {
	if e.toldByPrompt() && h.noteBoundary(s) {
		e.Source = compacted
		text, err := h.continued(ctx, e, s)
		return contextAnswer(e, text, "", err)
	}
	c, err := h.companion(s)
	if err != nil {
		return Answer{}, err
	}
	if c.front.Assumed {
		return Answer{}, nothing("the context window is only assumed")
	}
	p, known := c.pressure(h.Agents, s)
	switch {
	case !known:
		return Answer{}, nothing("the context was compacted or replaced since")
	case p < h.Pressure:
		return Answer{}, nothing("pressure below the threshold")
	}
	level := c.front.Level.String()
	if !h.noteLevel(s, level) {
		return Answer{}, nothing("warned before")
	}
	answer, err := contextAnswer(e, h.warning(e, c, p), "", nil)
	answer.Did += ", level " + level
	return answer, err
}

// pressure returns the share of the context window in use: the model's last report in the part of the transcript that the
// companion does not cover yet, else the companion's figure. It is unknown right after the agent compacted its context and
// if the transcript was replaced.
func (c companionFile) pressure(agents registry.Table, s transcript.Session) (p float64, known bool) {
	size, records := endOf(agents, s, c.front.Covers.Bytes)
	if size >= 0 && size < c.front.Covers.Bytes {
		return 0, false
	}
	p, known = c.front.Pressure, true
	for r := range records {
		if r.Boundary != nil {
			known = false
		}
		if u := r.Usage; u != nil && !u.Side && compactor.Plausible(u.Context, c.front.Window) {
			p, known = float64(u.Context)/float64(c.front.Window), true
		}
	}
	return p, known
}

// noteBoundary records that the agent now knows of the newest compaction at the end of its transcript, and reports whether it did not know
// of it before.
func (h Hooks) noteBoundary(s transcript.Session) bool {
	id := ""
	_, records := endOf(h.Agents, s, 0)
	for r := range records {
		if r.Boundary != nil {
			id = string(r.Sum().ID())
		}
	}
	return id != "" && h.noteLevel(s, "compaction "+id)
}

// maxTail is how much of the end of a transcript is read, in bytes.
const maxTail = 1 << 20

// endOf returns the size of a transcript, -1 if there is none, and the records of what readTail returns, with numbers of their own.
func endOf(agents registry.Table, s transcript.Session, from int64) (size int64, records iter.Seq[*transcript.Record]) {
	size, tail := readTail(s.Path, from)
	seg := transcript.Segment{Data: tail, End: transcript.Cursor{Generation: 1, Offset: int64(len(tail))}}
	return size, agents.NewDecoder(s.Agent, s.Class).Records(seg)
}

// readTail returns the size of a transcript, -1 if there is none, and its complete lines after an offset, at most the last
// maxTail bytes of them.
func readTail(path string, from int64) (size int64, lines []byte) {
	info, err := os.Lstat(path)
	if err != nil || !info.Mode().IsRegular() {
		return -1, nil
	}
	f, err := os.Open(path)
	if err != nil {
		return -1, nil
	}
	defer f.Close()
	start := max(from, info.Size()-maxTail)
	tail, err := io.ReadAll(io.NewSectionReader(f, start, maxTail))
	if err != nil {
		return -1, nil
	}
	if start > from {
		tail = tail[bytes.IndexByte(tail, '\n')+1:]
	}
	return info.Size(), tail[:bytes.LastIndexByte(tail, '\n')+1]
}

// warning returns the warning, at most maxPrompt units long.
func (h Hooks) warning(e Event, c companionFile, p float64) string {
	told := phrase(c.front.Level.String()) + fmt.Sprintf(", %.0f%% of the window. Record, as data: ", 100*p)
	back := "; `" + h.restore() + "` prints the text behind `[ccd ID ...]`."
	room := maxPrompt - units(e.Agent, told) - units(e.Agent, back)
	if where := h.where(c, maxPrompt); units(e.Agent, where) <= room {
		return told + where + back
	}
	h.Program = "" // shortens the commands
	return cut(e.Agent, told+"`"+h.command("show", c.session)+"` prints it; `"+h.restore()+"` prints the text behind `[ccd ID ...]`.", maxPrompt)
}

// phrase begins a warning. noteLevel searches the transcript for it, so it must not depend on anything but the level.
func phrase(level string) string { return "ccd: context pressure " + inline(level, 40) }
