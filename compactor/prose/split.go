package prose

import "strings"

// SplitCode shortens the prose of a text and leaves its fences as they are, where they are; a fence that is never closed
// goes on to the end. Prose of a few words stays. What comes back is never longer than the text.
func SplitCode(text string, shorten func(prose string) string) string {
	var b strings.Builder
	fence := ""
	prose, at := 0, 0 // where the prose begins; where the line does
	flush := func(to int) {
		b.WriteString(shortProse(text[prose:to], shorten))
		prose = to
	}
	for line := range strings.Lines(text) {
		end := at + len(line)
		f := fenceOf(line, fence)
		switch {
		case f != "" && fence == "":
			flush(at)
			fence = f
		case f != "":
			fence = ""
		}
		if f != "" || fence != "" {
			b.WriteString(line)
			prose = end
		}
		at = end
	}
	flush(len(text))
	return b.String()
}

// shortProse is prose between fences in short, with the white space around it as it was; what cannot be shortened stays.
func shortProse(prose string, shorten func(string) string) string {
	core := strings.TrimSpace(prose)
	if Chars(core) < shortestProse {
		return prose
	}
	short := shorten(core)
	if Chars(short) >= Chars(core) || fenceInside(short) {
		return prose
	}
	i := strings.Index(prose, core)
	return prose[:i] + short + prose[i+len(core):]
}

// fenceInside reports whether a line of a text would open a fence.
func fenceInside(text string) bool {
	for line := range strings.Lines(text) {
		if fenceOf(line, "") != "" {
			return true
		}
	}
	return false
}
