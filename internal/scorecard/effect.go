package scorecard

import (
	"regexp"
	"slices"
	"strings"
)

// Words that say what happened to a path, in several languages, as the graded text may use them; also git's status
// letters and diff signs.
var (
	wasEdited  = lazy(`(?i)^\W*(?:edit|creat|chang|wrote|writ|modif|updat|add|renam|new\b|touch|patch|fix|implement|refactor|rewr|replac|extend|introduc|ge[äa]ndert|erstell|geschrieben|angelegt|cambi|escri|cread|crée|cré[ée]|écri|измен|созда|修改|创建|新增|更新|編集|変更|作成|追加)|^(?:[MA]|\+\+\+|\?\?)$`)
	wasDeleted = lazy(`(?i)^\W*(?:delet|remov|renam|rm\b|mov|drop|gone|unlink|gelösch|entfern|elimin|borrad|supprim|удал|删除|移除|削除)|^D$`)
	letters    = lazy(`^[^\pL]*\pL[\pL'’-]*[^\pL\d_./\\]*$`)
)

// How much may come between a path and the word that says what happened to it.
const (
	maxBetween = 3   // plain words
	maxPaths   = 200 // other paths, numbers and signs
)

// affected reports whether a line says that this happened to a path: directly before or after it, with other paths
// allowed in between, or in the heading of a list of paths.
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
			found, open := matchWord(before, says)
			if !found && open {
				found, _ = matchWord(strings.Fields(lead), says)
			}
			if !found {
				if i+1 < len(p.lines) {
					after = append(after, strings.Fields(p.lines[i+1])...)
				}
				found, _ = matchWord(after, says)
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

// matchWord reports whether one of the first words matches, and, if none does, whether the words end before the limit.
func matchWord(words []string, says *regexp.Regexp) (found, open bool) {
	plain := 0
	for i, w := range words[:min(len(words), maxPaths)] {
		if says.MatchString(w) {
			return true, false
		}
		if letters().MatchString(w) {
			plain++
		}
		if plain == maxBetween || i == maxPaths-1 {
			return false, false
		}
	}
	return false, true
}
