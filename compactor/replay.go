package compactor

import (
	"encoding/json"
	"strings"

	"ccd/internal/transcript"
)

// written is the content that a call gave a file: a tool's "content", or a patch that adds it.
func written(raw []byte, path string) (string, bool) {
	var in editInput
	if err := json.Unmarshal(raw, &in); err == nil && in.Content != nil {
		return string(*in.Content), true
	}
	section, ok := patchSection(patchText(raw), path)
	if !ok || !section.add {
		return "", false
	}
	var b strings.Builder
	for _, l := range section.lines {
		b.WriteString(strings.TrimPrefix(l, "+") + "\n")
	}
	return b.String(), true
}

// edited applies an edit call to a text. It fails unless each old text is found, and found once where one is meant.
func edited(text string, raw []byte, path string) (string, bool) {
	var in editInput
	if err := json.Unmarshal(raw, &in); err == nil && len(in.steps()) > 0 {
		for _, s := range in.steps() {
			if s.Old == nil || s.New == nil || *s.Old == "" {
				return "", false
			}
			n := strings.Count(text, string(*s.Old))
			if n == 0 || (n > 1 && !s.All) {
				return "", false
			}
			text = strings.ReplaceAll(text, string(*s.Old), string(*s.New))
		}
		return text, true
	}
	section, ok := patchSection(patchText(raw), path)
	if !ok || section.add {
		return "", false
	}
	return section.apply(text)
}

// patchText is the text of a patch, wherever the input holds it.
func patchText(raw []byte) string {
	text := original(transcript.Call, raw)
	if strings.HasPrefix(strings.TrimSpace(text), "{") {
		var in map[string]any
		if json.Unmarshal([]byte(text), &in) == nil {
			for _, k := range []string{"input", "patch", "command", "cmd"} {
				if s, ok := in[k].(string); ok && strings.Contains(s, "*** Begin Patch") {
					return s
				}
				if list, ok := in[k].([]any); ok {
					for _, v := range list {
						if s, ok := v.(string); ok && strings.Contains(s, "*** Begin Patch") {
							return s
						}
					}
				}
			}
		}
	}
	return text
}

// patchPart is what a patch says of one file.
type patchPart struct {
	add   bool
	lines []string // as in the patch, signs included
}

// patchSection finds the part of a `*** Begin Patch` text that is about path; a path of the patch may be relative.
func patchSection(patch, path string) (patchPart, bool) {
	var p patchPart
	found := false
	for line := range strings.Lines(patch) {
		line = strings.TrimSuffix(line, "\n")
		if !strings.HasPrefix(line, "*** ") {
			if found {
				p.lines = append(p.lines, line)
			}
			continue
		}
		if found && (strings.Contains(line, " File: ") || strings.HasPrefix(line, "*** End Patch")) {
			return p, true
		}
		for _, verb := range []string{"*** Add File: ", "*** Update File: "} {
			if name, ok := strings.CutPrefix(line, verb); ok && (name == path || strings.HasSuffix(path, "/"+strings.TrimPrefix(name, "./"))) {
				found, p.add = true, verb == "*** Add File: "
			}
		}
	}
	return p, found
}

// apply applies the hunks of an update. Each must be found as a whole, behind the one before.
func (p patchPart) apply(text string) (string, bool) {
	from := 0
	for _, h := range p.hunks() {
		if h.old == "" {
			return "", false
		}
		i := strings.Index(text[from:], h.old)
		if i < 0 {
			return "", false
		}
		i += from
		text = text[:i] + h.new + text[i+len(h.old):]
		from = i + len(h.new)
	}
	return text, true
}

type hunk struct{ old, new string }

func (p patchPart) hunks() []hunk {
	var all []hunk
	var h hunk
	flush := func() {
		if h.old != h.new {
			all = append(all, h)
		}
		h = hunk{}
	}
	for _, l := range p.lines {
		switch {
		case strings.HasPrefix(l, "@@"):
			flush()
		case strings.HasPrefix(l, "-"):
			h.old += l[1:] + "\n"
		case strings.HasPrefix(l, "+"):
			h.new += l[1:] + "\n"
		default:
			l = strings.TrimPrefix(l, " ")
			h.old += l + "\n"
			h.new += l + "\n"
		}
	}
	flush()
	return all
}
