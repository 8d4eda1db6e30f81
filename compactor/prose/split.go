package prose

import (
	"strings"

	"ccd/compactor/lexicon"
)

// SplitCode shortens the prose of a text and leaves its fences as they are, where they are; a fence that is never closed
// goes on to the end. Prose of a few words stays. What comes back is never longer than the text.
func SplitCode(text string, shorten func(prose string) string) string {
	var b strings.Builder
	var fences lexicon.Fences
	prose, at := 0, 0 // where the prose begins; where the line does
	flush := func(to int) {
		b.WriteString(shortProse(text[prose:to], shorten))
		prose = to
	}
	for line := range strings.Lines(text) {
		end := at + len(line)
		fence, code := fences.Line(line)
		if fence && code {
			flush(at)
		}
		if fence || code {
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
	if lexicon.Chars(core) < shortestProse {
		return prose
	}
	short := shorten(core)
	if lexicon.Chars(short) >= lexicon.Chars(core) || fenceInside(short) {
		return prose
	}
	i := strings.Index(prose, core)
	return prose[:i] + short + prose[i+len(core):]
}

// fenceInside reports whether a line of a text would open a fence.
func fenceInside(text string) bool {
	for line := range strings.Lines(text) {
		if lexicon.FenceOf(line, "") != "" {
			return true
		}
	}
	return false
}
