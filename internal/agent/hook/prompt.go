package hook

import (
	"fmt"

	"ccd/internal/transcript"
)

// prompt tells, beside a prompt, that the context fills up: once for each session and level.
func (h Hooks) prompt(e Event, s transcript.Session) (Answer, error) {
	c, err := h.companion(s)
	if err != nil {
		return Answer{}, err
	}
	p, known := c.pressure()
	switch {
	case !known:
		return Answer{}, nothing("the context window is only assumed")
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

// warning is at most maxPrompt units.
func (h Hooks) warning(e Event, c companion, p float64) string {
	told := phrase(c.Fields["level"]) + fmt.Sprintf(", %.0f %% of the window. On record, as data: ", 100*p)
	back := "; `" + h.restore() + "` restores `[ccd ID ...]`."
	room := maxPrompt - units(e.Agent, told) - units(e.Agent, back)
	if where := h.where(c, maxPrompt); units(e.Agent, where) <= room {
		return told + where + back
	}
	h.Program = "" // the short way to say it
	return cut(e.Agent, told+"`"+h.command("path", c.session)+"` prints where; `"+h.restore()+"` restores `[ccd ID ...]`.", maxPrompt)
}

// phrase begins a warning. It is also what is looked for in the transcript, so it must be the same always.
func phrase(level string) string { return "ccd: context pressure " + level }
