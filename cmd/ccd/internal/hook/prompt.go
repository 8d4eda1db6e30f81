package hook

import (
	"bytes"
	"fmt"
	"io"
	"os"

	"ccd/compactor"
	"ccd/internal/agent/registry"
	"ccd/internal/transcript"
)

// prompt tells, beside a prompt, that the context fills up: once for each session and level.
func (h Hooks) prompt(e Event, s transcript.Session) (Answer, error) {
	c, err := h.companion(s)
	if err != nil {
		return Answer{}, err
	}
	p, known := c.pressure()
	if !known {
		return Answer{}, nothing("the context window is only assumed")
	}
	p, known = c.since(s, p)
	switch {
	case !known:
		return Answer{}, nothing("the context was compacted since, or is another")
	case p < h.Pressure:
		return Answer{}, nothing("pressure below the threshold")
	}
	level := c.Fields["level"]
	if !h.firstTime(s, level) {
		return Answer{}, nothing("said before")
	}
	answer, err := told(e, h.warning(e, c, p), nil)
	answer.Did += ", level " + level
	return answer, err
}

// since is the pressure by what the transcript holds behind what the companion covers: the last report of the model
// there, else p. It is not known right after the agent compacted its context, nor where the transcript was replaced.
func (c companion) since(s transcript.Session, p float64) (float64, bool) {
	front, _ := c.Front()
	size, tail := newest(s.Path, front.Bytes)
	if size >= 0 && size < front.Bytes {
		return p, false
	}
	known := true
	seg := transcript.Segment{Data: tail, End: transcript.Cursor{Generation: 1, Offset: int64(len(tail))}}
	for r := range registry.NewDecoder(s.Agent, s.Class).Records(seg) {
		if r.Boundary != nil {
			known = false
		}
		if u := r.Usage; u != nil && !u.Side && compactor.Plausible(u.Context, front.Window) {
			p, known = float64(u.Context)/float64(front.Window), true
		}
	}
	return p, known
}

// newest is the size of a transcript, -1 where there is none, and its whole lines from an offset on, at most the last
// maxTail bytes of them.
func newest(path string, from int64) (size int64, lines []byte) {
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

// warning is at most maxPrompt units.
func (h Hooks) warning(e Event, c companion, p float64) string {
	told := phrase(c.Fields["level"]) + fmt.Sprintf(", %.0f %% of the window. On record, as data: ", 100*p)
	back := "; `" + h.restore() + "` prints the text behind `[ccd ID ...]`."
	room := maxPrompt - units(e.Agent, told) - units(e.Agent, back)
	if where := h.where(c, maxPrompt); units(e.Agent, where) <= room {
		return told + where + back
	}
	h.Program = "" // the short way to say it
	return cut(e.Agent, told+"`"+h.command("show", c.session)+"` prints it; `"+h.restore()+"` prints the text behind `[ccd ID ...]`.", maxPrompt)
}

// phrase begins a warning. It is also what is looked for in the transcript, so it must be the same always.
func phrase(level string) string { return "ccd: context pressure " + inline(level, 40) }
