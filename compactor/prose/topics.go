package prose

import "ccd/compactor/lexicon"

// stops are the words too common to tell what a text is about.
var stops = newStops("a", "about", "above", "after", "again", "all", "also", "am", "an", "and", "any", "are", "as", "at", "be",
	"because", "been", "before", "being", "below", "between", "both", "but", "by", "can", "cannot", "could", "did", "do", "does",
	"doing", "dont", "down", "during", "each", "even", "every", "few", "first", "for", "from", "further", "get", "go", "going",
	"got", "had", "has", "have", "having", "he", "her", "here", "him", "his", "how", "i", "if", "ill", "im", "in", "into", "is",
	"it", "its", "ive", "just", "last", "let", "lets", "like", "made", "make", "many", "may", "me", "might", "more", "most",
	"much", "must", "my", "need", "needs", "new", "next", "no", "nor", "not", "now", "of", "off", "on", "once", "one", "only",
	"or", "other", "our", "out", "over", "own", "please", "same", "see", "she", "should", "so", "some", "still", "such", "sure",
	"than", "that", "thats", "the", "their", "them", "then", "there", "these", "they", "this", "those", "through", "to", "too",
	"two", "under", "until", "up", "use", "used", "using", "very", "want", "was", "way", "we", "well", "were", "what", "when",
	"where", "which", "while", "who", "why", "will", "with", "without", "would", "yes", "yet", "you", "your", "actually",
	"instead", "wait", "sorry", "correction", "meant", "mean", "rather", "okay", "ok", "thanks", "was", "has", "into")

func newStops(words ...string) *hashSet {
	s := new(hashSet)
	for _, w := range words {
		s.add(lexicon.WordHash(w))
	}
	return s
}

// hashSet is a small set of hashes: up to half of its places may be taken.
type hashSet [1024]uint32

// add reports whether the hash was not yet there.
func (s *hashSet) add(h uint32) bool {
	i := s.place(h)
	if s[i] == h|1 {
		return false
	}
	s[i] = h | 1
	return true
}

func (s *hashSet) has(h uint32) bool { return s[s.place(h)] == h|1 }

// place is where a hash stands or would stand. The lowest bit does not count: 0 is a free place.
func (s *hashSet) place(h uint32) uint32 {
	i := h * 0x9e3779b1 >> 22
	for s[i] != 0 && s[i] != h|1 {
		i = (i + 1) % uint32(len(s))
	}
	return i
}

// topic is what a text is about, as its hash, and what it weighs.
type topic struct {
	hash   uint32
	weight uint8
}

// maxTopicText bounds how much of a text is looked at for terms, in bytes.
const maxTopicText = 64 << 10

// topicsOf gives the distinct terms of a text, at most so many, in their order: words that are not common, by their
// letters, and names, numbers and paths.
func topicsOf(text string, most int) []topic {
	most = min(most, len(hashSet{})/2)
	var all []topic
	var seen hashSet
	lx := lexicon.Lex(text[:min(len(text), maxTopicText)])
	for len(all) < most && lx.Next() {
		t, ok := topicOf(&lx)
		if ok && seen.add(t.hash) {
			all = append(all, t)
		}
	}
	return all
}

func topicOf(lx *lexicon.Lexer) (topic, bool) {
	w := &lx.Word
	if w.Tail-w.Head < 2 {
		return topic{}, false
	}
	core := lx.Core()
	if w.Has&^(lexicon.Small|lexicon.High|lexicon.Quote|lexicon.Hyphen) != 0 {
		if k := lexicon.KindOf(core, w.Has); k != lexicon.PlainWord && k != lexicon.CapitalWord {
			return topic{lexicon.TermHash(core), nameWeight}, true
		}
	}
	if stops.has(w.Hash) || w.Has&(lexicon.Letters|lexicon.High) == 0 {
		return topic{}, false
	}
	h := w.Hash
	if short := stem(core); len(short) < len(core) {
		h = lexicon.WordHash(short)
	}
	if w.Has&lexicon.High != 0 {
		h = lexicon.TermHash(core)
	}
	return topic{h, 1}, true
}

// stem takes the plural off a word of letters.
func stem(s string) string {
	if len(s) > 3 && s[len(s)-1]|0x20 == 's' && s[len(s)-2]|0x20 != 's' {
		return s[:len(s)-1]
	}
	return s
}
