package compactor

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"ccd/compactor/lexicon"
	"ccd/internal/session"
)

// A standing instruction is a sentence of the human that speaks of every time: it says so in its own words, or the human has said it
// more than once. The words are those for always, never and from now on in the languages with most speakers.
var everyTime = regexp.MustCompile(`(?i)(?:^|[\s(,;:.—-])(?:always|never|from now on|every time|each time|going forward|` +
	`siempre|nunca|jam[aá]s|a partir de ahora|cada vez|toujours|jamais|d[ée]sormais|chaque fois|immer|niemals|nie|ab jetzt|jedes mal|` +
	`sempre|mai|d'ora in poi|ogni volta|de agora em diante|toda vez|altijd|nooit|vanaf nu|всегда|никогда|каждый раз|завжди|ніколи|zawsze|nigdy|` +
	`her zaman|asla|bundan sonra|हमेशा|कभी नहीं|دائما|أبدا|selalu|jangan pernah)(?:$|[\s).,;:!?—-])|总是|永远|从现在开始|每次|每次都|一律|總是|永遠|いつも|必ず|常に|絶対に|今後|항상|절대|앞으로|매번`)

// The length of a standing instruction, in the width of an alphabet; a longer text was pasted.
const (
	leastStanding = 8
	mostStanding  = 260
)

// standing quotes the human's standing instructions, the newest first.
func (h *handover) standing() {
	heard := map[string]int{} // in how many messages a sentence stands
	var found []string
	most := 2
	if h.big {
		most = 5
	}
	for _, e := range slices.Backward(h.events) {
		if e.kind != human && e.kind != refusal || e.Back || slices.Contains(h.chain, e) || len(found) == most {
			continue
		}
		for _, s := range h.spoken(e) {
			key := lexicon.Plain(s)
			heard[key]++
			if heard[key] == 1 && everyTime.MatchString(s) || heard[key] == 2 && strings.Contains(s, " ") && !everyTime.MatchString(s) && lexicon.Width(s) >= 3*leastStanding {
				found = append(found, fmt.Sprintf("%s (#%d)", asText(h.proves(e.Ref, strings.Join(strings.Fields(s), " ")), 0), e.n))
			}
		}
	}
	if len(found) > 0 {
		h.line("The human's standing words: %s", strings.Join(found[:min(len(found), most)], "; "))
	}
}

// mostSpoken is how long a message may be of which each sentence is taken for the human's own, in chars: longer ones are pasted.
const mostSpoken = 1500

// spoken returns the sentences of a message that the human may have typed. Questions are left out.
func (h *handover) spoken(e *event) (all []string) {
	if e.Kind == session.Summed || e.Chars > mostSpoken {
		return nil
	}
	for _, s := range sentences(shownText(h.src.Text(e.Ref))) {
		if w := lexicon.Width(s.text); w >= leastStanding && w <= mostStanding && !strings.ContainsAny(s.text[len(s.text)-1:], "?") && !strings.HasSuffix(s.text, "？") {
			all = append(all, s.text)
		}
	}
	return all
}
