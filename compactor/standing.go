package compactor

import (
	"fmt"
	"slices"
	"strings"
	"unicode"

	"ccd/compactor/lexicon"
	"ccd/internal/session"
)

// A standing instruction is a sentence of the human that speaks of every time by its own words: those for always, never and from now
// on in the languages with most speakers.
var everyTime = func() map[string]bool {
	m := map[string]bool{}
	for w := range strings.FieldsSeq("siempre nunca jamás jamas toujours jamais désormais desormais immer niemals nie sempre mai altijd nooit " +
		"всегда никогда завжди ніколи zawsze nigdy asla हमेशा دائما أبدا selalu") {
		m[w] = true
	}
	return m
}()

// everyTimePhrases say the same in several words, or in scripts without spaces.
var everyTimePhrases = []string{
	"after each", "after every", "before each", "before every", "as each", "whenever you", "a partir de ahora", "cada vez", "chaque fois", "à partir de maintenant", "ab jetzt",
	"jedes mal", "d'ora in poi", "ogni volta", "de agora em diante", "toda vez", "vanaf nu", "каждый раз", "кожного разу", "za każdym razem",
	"her zaman", "bundan sonra", "कभी नहीं", "jangan pernah", "总是", "永远", "从现在开始", "每次", "一律", "總是", "永遠", "いつも", "必ず", "常に", "絶対に", "今後",
	"항상", "절대", "앞으로", "매번",
}

// forbidding are the words with which a clause begins that forbids something, in languages where they begin nothing else.
var forbidding = []string{
	"don't ", "do not ", "dont ", "don’t ", "keine ", "keinen ", "kein ", "nicht ", "ne ", "n'", "não ", "nie ", "niet ", "geen ", "не ",
}

// forbiddingPhrases forbid in scripts without spaces, or at the end of a clause.
var forbiddingPhrases = []string{"不要", "请勿", "請勿", "禁止", "ないで", "しないこと", "하지 마", "지 마세요"}

// forbids reports whether a clause of a sentence forbids something.
func forbids(sentence string) bool {
	low := lexicon.Lower(sentence)
	for _, and := range []string{" und ", " aber ", " et ", " e ", " en ", " и ", " а ", " i "} {
		low = strings.ReplaceAll(low, and, ", ")
	}
	for i, clause := range strings.FieldsFunc(low, func(r rune) bool { return strings.ContainsRune(",;:—", r) }) {
		clause = strings.TrimPrefix(strings.TrimPrefix(strings.TrimSpace(clause), "please "), "bitte ")
		if i > 0 && strings.HasPrefix(clause, "do") { // ..., don't know why
			continue
		}
		if len(strings.Fields(clause)) > 2 && slices.ContainsFunc(forbidding, func(w string) bool { return strings.HasPrefix(clause, w) }) {
			return true
		}
	}
	first, _, _ := strings.Cut(strings.NewReplacer("，", ",", "、", ",").Replace(low), ",") // what follows is said of a request
	return slices.ContainsFunc(forbiddingPhrases, func(p string) bool { return strings.Contains(first, p) })
}

// english are those of English, which also tell what happened: they count where a clause begins.
var english = []string{"always ", "never ", "from now on", "every time ", "each time ", "going forward"}

// ofEveryTime reports whether a sentence speaks of every time.
func ofEveryTime(sentence string) bool {
	low := lexicon.Lower(sentence)
	for clause := range strings.FieldsFuncSeq(strings.ReplaceAll(low, " and ", ", "), func(r rune) bool { return strings.ContainsRune(",;:.", r) }) {
		clause = strings.TrimPrefix(strings.TrimSpace(clause), "please ")
		if slices.ContainsFunc(english, func(w string) bool { return strings.HasPrefix(clause, w) }) {
			return true
		}
	}
	for w := range strings.FieldsFuncSeq(low, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsMark(r) }) {
		if everyTime[w] {
			return true
		}
	}
	return slices.ContainsFunc(everyTimePhrases, func(p string) bool { return strings.Contains(low, p) })
}

// The length of a standing instruction, in the width of an alphabet; a longer text was pasted.
const (
	leastStanding = 8
	mostStanding  = 260
)

// rule is a sentence of the human, with what it speaks of.
type rule struct {
	tokens
	n     int // of its record
	stand bool
}

// standing quotes the human's standing instructions, the newest first. Of two that speak of one thing the newer one counts; a later
// sentence of another kind that does is named.
func (h *handover) standing() {
	var heard []rule
	var found []string
	for _, e := range slices.Backward(h.events) {
		if e.kind != human && e.kind != refusal || e.Back {
			continue
		}
		for _, s := range h.spoken(e) {
			one := rule{h.words.of(s), e.n, stands(s)}
			if one.stand && !slices.Contains(h.chain, e) && len(found) < h.most.standing {
				if also, holds := one.since(heard); holds {
					found = append(found, fmt.Sprintf("%s (#%d%s)", asText(h.proves(e.Ref, joined(s)), 0), e.n, also))
				}
			}
			if len(heard) < mostHeard {
				heard = append(heard, one)
			}
		}
	}
	if len(found) > 0 {
		h.line("The human's standing words: %s", strings.Join(found, "; "))
	}
}

// mostHeard is how many sentences are compared with older ones.
const mostHeard = 500

// since looks for a newer sentence about the same thing. If that one stands too, this one does not hold; else the text names it.
func (r rule) since(heard []rule) (also string, holds bool) {
	for _, newer := range heard {
		if newer.n == r.n {
			continue
		}
		same, values := inBoth(r.words, newer.words), inBoth(r.values, newer.values)
		about := same > 0 && 3*same >= len(r.words)
		if newer.stand && (values > 0 || about && same >= leastShared) {
			return "", false
		}
		if also == "" && (values > 0 || about) {
			also = fmt.Sprintf(", see also #%d", newer.n)
		}
	}
	return also, true
}

// leastShared is in how many words the newer of two rules speaks of the same thing, and takes the place of the older one.
const leastShared = 3

// mostSpoken is how long a message may be of which each sentence is taken for the human's own, in chars: longer ones are pasted.
const mostSpoken = 1500

// spoken returns the sentences of a message that the human may have typed.
func (h *handover) spoken(e *event) (all []string) {
	if e.Kind == session.Summed || e.Chars > mostSpoken {
		return nil
	}
	for _, s := range sentences(shownText(h.src.Text(e.Ref))) {
		all = append(all, s.text)
	}
	return all
}

// stands reports whether a sentence is an instruction for more than once. A question is none.
func stands(sentence string) bool {
	w := lexicon.Width(sentence)
	return w >= leastStanding && w <= mostStanding && !asks(sentence) && (ofEveryTime(sentence) || forbids(sentence))
}
