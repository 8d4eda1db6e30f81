package scorecard

import (
	"regexp"
	"slices"
	"strings"
)

// What a line says of a path, in some languages, as words of the text that is graded; git's own letters and diffs too.
var (
	wasEdited  = regexp.MustCompile(`(?i)^\W*(?:edit|creat|chang|wrote|writ|modif|updat|add|renam|new\b|touch|patch|fix|implement|refactor|rewr|replac|extend|introduc|ge[äa]ndert|erstell|geschrieben|angelegt|cambi|escri|cread|crée|cré[ée]|écri|измен|созда|修改|创建|新增|更新|編集|変更|作成|追加)|^(?:[MA]|\+\+\+|\?\?)$`)
	wasDeleted = regexp.MustCompile(`(?i)^\W*(?:delet|remov|renam|rm\b|mov|drop|gone|unlink|gelösch|entfern|elimin|borrad|supprim|удал|删除|移除|削除)|^D$`)
	letters    = regexp.MustCompile(`^[^\pL]*\pL[\pL'’-]*[^\pL\d_./\\]*$`)
)

// What may stand between a path and the word that says what became of it.
const (
	maxBetween = 3   // plain words
	maxPaths   = 200 // other paths, numbers and signs
)

// affected reports whether a line says of a path what happened to it: right before or behind it, where other paths may
// stand between, or as the heading of a list of paths.
func (p *page) affected(forms []string, says *regexp.Regexp) bool {
	forms = slices.DeleteFunc(slices.Clone(forms), func(form string) bool { return bounded(p.paths, form, true) < 0 })
	if len(forms) == 0 {
		return false
	}
	lead := ""
	for i, l := range p.lines {
		line := slash(l)
		for _, form := range forms {
			at := bounded(line, form, true)
			if at < 0 {
				continue
			}
			before, after := strings.Fields(line[:at]), strings.Fields(line[at+len(form):])
			slices.Reverse(before)
			found, open := speaks(before, says)
			if !found && open {
				found, _ = speaks(strings.Fields(lead), says)
			}
			if !found {
				if i+1 < len(p.lines) {
					after = append(after, strings.Fields(p.lines[i+1])...)
				}
				found, _ = speaks(after, says)
			}
			if found {
				return true
			}
		}
		if strings.HasPrefix(l, "#") || strings.HasSuffix(l, ":") || strings.HasSuffix(l, "：") {
			lead = l
		}
	}
	return false
}

// speaks reports whether one of the first words says it, and, where none does, whether the words come to an end before.
func speaks(words []string, says *regexp.Regexp) (found, open bool) {
	plain := 0
	for i, w := range words[:min(len(words), maxPaths)] {
		if says.MatchString(w) {
			return true, false
		}
		if letters.MatchString(w) {
			plain++
		}
		if plain == maxBetween || i == maxPaths-1 {
			return false, false
		}
	}
	return false, true
}
