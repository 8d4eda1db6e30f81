package compactor

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"ccd/compactor/lexicon"
)

// tokens are what a text says that another may say too. Values are numbers, IDs, paths, flags, identifiers, addresses, `code` and
// quoted names; words have five letters or more; of Chinese, Japanese and Korean each pair of characters is a word.
type tokens struct{ values, words []int32 }

// vocabulary numbers tokens by their lower-case text. It is linear in the texts.
type vocabulary struct {
	numbers map[uint64]int32
	seen    []int32 // the text in which a token was seen last
	text    int32
	out     tokens
	parts   bool // a path also has its last element, a hash its beginning, and a quote the values in it
}

// inBoth counts the tokens that two lists have.
func inBoth(a, b []int32) (n int) {
	for _, one := range a {
		if slices.Contains(b, one) {
			n++
		}
	}
	return n
}

func newVocabulary() *vocabulary { return &vocabulary{numbers: map[uint64]int32{}} }

// Limits of a token.
const (
	maxCode   = 80 // bytes between backticks
	maxQuoted = 60 // bytes between quotes
	leastWord = 5  // letters
	mostHash  = 7  // chars of the hash of a commit that name it
)

// of returns the tokens of a text, each once.
func (v *vocabulary) of(text string) tokens {
	v.text++
	v.out = tokens{}
	v.scan(text)
	return v.out
}

// scan adds the tokens of a text.
func (v *vocabulary) scan(text string) {
	for i := 0; i < len(text); {
		c := text[i]
		if c == '`' || c == '"' {
			i += v.enclosed(text[i:])
			continue
		}
		if !isToken[c] {
			i++
			continue
		}
		j := i + 1
		for j < len(text) && isToken[text[j]] {
			j++
		}
		v.run(text[i:j])
		i = j
	}
}

// isToken has the bytes that values and words consist of.
var isToken = func() (t [256]bool) {
	for c := range t {
		switch lexicon.ClassOf(byte(c)) {
		case lexicon.Gap, lexicon.Quote, lexicon.Paired, lexicon.Other, lexicon.Equals:
			t[c] = c == '\\' || c == '%'
		default:
			t[c] = true
		}
	}
	return t
}()

// enclosed adds the value between a quote at the start of a text and the next one, if that is near and on the same line, and the
// words in it. It returns how many bytes that takes.
func (v *vocabulary) enclosed(text string) int {
	most := maxCode
	if text[0] == '"' {
		most = maxQuoted
	}
	for j := 1; j < len(text) && j <= most && text[j] != '\n'; j++ {
		if text[j] != text[0] {
			continue
		}
		if j <= 2 {
			return 1
		}
		v.add(text[1:j], &v.out.values)
		if v.parts {
			v.scan(text[1:j])
		} else {
			v.letters(text[1:j])
		}
		return j + 1
	}
	return 1
}

// run adds the tokens of a run of bytes: the run itself if it is a value, and the words in it.
func (v *vocabulary) run(text string) {
	for len(text) > 0 && isEdge(text[len(text)-1]) {
		text = text[:len(text)-1]
	}
	if lexicon.IsValue(text) {
		v.add(text, &v.out.values)
		if v.parts {
			v.add(text[strings.LastIndexAny(text, `/\`)+1:], &v.out.values)
			v.add(text[:min(len(text), mostHash)], &v.out.values)
		}
	}
	v.letters(text)
}

// letters adds the words in a text.
func (v *vocabulary) letters(text string) {
	for len(text) > 0 {
		text = text[v.word(text):]
	}
}

func isEdge(c byte) bool {
	return c == '.' || c == ':' || c == '-' || c == '_' || c == '@' || c == '\\'
}

// word adds the word at the beginning of a text and returns its length in bytes.
func (v *vocabulary) word(text string) int {
	first, n := utf8.DecodeRuneInString(text)
	if !unicode.IsLetter(first) {
		return n
	}
	wide, chars, last := lexicon.IsWide(first), 1, 0 // last: where the last character begins
	for n < len(text) {
		r, size := utf8.DecodeRuneInString(text[n:])
		if !unicode.IsLetter(r) || lexicon.IsWide(r) != wide {
			break
		}
		if wide {
			v.add(text[last:n+size], &v.out.words)
		}
		last, n, chars = n, n+size, chars+1
	}
	if !wide && chars >= leastWord {
		v.add(text[:n], &v.out.words)
	}
	return n
}

// number returns the number of a token.
func (v *vocabulary) number(text string) int32 {
	key := hash(text)
	n, ok := v.numbers[key]
	if !ok {
		n = int32(len(v.seen))
		v.numbers[key], v.seen = n, append(v.seen, 0)
	}
	return n
}

func (v *vocabulary) add(text string, to *[]int32) {
	if n := v.number(text); v.seen[n] != v.text {
		v.seen[n] = v.text
		*to = append(*to, n)
	}
}

// hash returns the hash of a text in lower case (FNV-1a).
func hash(text string) uint64 {
	h := uint64(14695981039346656037)
	for i := 0; i < len(text); i++ {
		c := text[i]
		if c >= utf8.RuneSelf {
			r, n := utf8.DecodeRuneInString(text[i:])
			h = (h ^ uint64(unicode.ToLower(r))) * 1099511628211
			i += n - 1
			continue
		}
		if c-'A' < 26 {
			c += 'a' - 'A'
		}
		h = (h ^ uint64(c)) * 1099511628211
	}
	return h
}

// Reader is a text in which others are looked for, by the tokens that fill calls known.
type Reader struct {
	words *vocabulary
	plain string
	near  []map[int32]bool // the tokens of each few sentences in a row
}

// nearby is how many sentences in a row may say together what one text says.
const nearby = 3

// NewReader returns a text in which others are looked for.
func NewReader(text string) *Reader {
	k := &Reader{words: newVocabulary(), plain: lexicon.Plain(text)}
	k.words.parts = true
	all := sentences(text)
	for i := range all {
		near := map[int32]bool{}
		for _, s := range all[i:min(len(all), i+nearby)] {
			t := k.words.of(s.text)
			for _, n := range append(t.values, t.words...) {
				near[n] = true
			}
		}
		k.near = append(k.near, near)
	}
	k.words.parts = false
	return k
}

// leastQuote is how many bytes quote a text, and leastInRow how many words a part of it; mostMissing is the part of its words that what
// says the same may lack, and mostLeftOut the part of a message.
const (
	leastQuote  = 5
	leastInRow  = 4
	mostMissing = .2
	mostLeftOut = .4
)

// Says reports whether the text says what another one does: word for word, or a few sentences in a row have all its values and most
// of its words. The words in a value, as in a path, are none: where it is, they are.
func (k *Reader) Says(other string) bool {
	if plain := lexicon.Plain(other); len(plain) >= leastQuote && lexicon.ContainsWhole(k.plain, plain) {
		return true
	}
	t := tokens{values: k.words.of(other).values, words: k.words.of(bare(other)).words}
	if len(t.values)+len(t.words) == 0 {
		return false
	}
	return slices.ContainsFunc(k.near, func(near map[int32]bool) bool {
		missing := func(all []int32) (n int) {
			for _, one := range all {
				if !near[one] {
					n++
				}
			}
			return n
		}
		return missing(t.values) == 0 && float64(missing(t.words)) <= mostMissing*float64(len(t.words))
	})
}

// bare leaves out the values in a text.
func bare(text string) string {
	return strings.Join(slices.DeleteFunc(strings.Fields(text), isName), " ")
}

// isName reports whether a field of a text is a value. Between characters of a script without spaces, none is told apart.
func isName(field string) bool {
	return lexicon.IsValue(strings.Trim(field, ".,:;!?()'\"`")) && !strings.ContainsFunc(field, lexicon.IsWide)
}

// SaysMessage reports whether the text says most of a person's message, without values and what was pasted into it: a sentence of it,
// or words of it in a row as they were typed. Of a message of nothing else, the whole is compared.
func (k *Reader) SaysMessage(message string) bool {
	lines := lexicon.Unwrapped(message)
	pasted := codeLines(strings.Split(lines, "\n"))
	all, said := 0., 0.
	for _, s := range prose(lines, longQuoted) {
		if pasted[s.from] || !inWords(s.text) {
			continue
		}
		n := float64(lexicon.Chars(bare(s.text)))
		if all += n; k.Says(s.text) {
			said += n
		} else {
			said += n * k.quoted(s.text)
		}
	}
	return all > 0 && all-said <= mostLeftOut*all || all == 0 && k.Says(message)
}

// quoted returns the part of another text's words that stand in this one with enough of what is beside them.
func (k *Reader) quoted(other string) float64 {
	fields := strings.Fields(lexicon.Plain(other))
	quoted, all, end := 0, 0, 0 // end: where the last fields that are quoted end
	for i, one := range fields {
		if run := i + leastInRow; run <= len(fields) && lexicon.ContainsWhole(k.plain, strings.Join(fields[i:run], " ")) {
			end = run
		}
		if isName(one) {
			continue
		}
		if all++; i < end {
			quoted++
		}
	}
	return float64(quoted) / float64(max(1, all))
}

// inWords reports whether most of a line are words, as in what a person types: a line of a log has times, names and values.
func inWords(line string) bool {
	words, all := 0, 0
	letter := func(r rune) bool { return unicode.IsLetter(r) || unicode.IsMark(r) }
	for field := range strings.FieldsSeq(line) {
		word := strings.TrimFunc(field, func(r rune) bool { return !letter(r) })
		other := strings.ContainsFunc(word, func(r rune) bool { return !letter(r) && !strings.ContainsRune("'’-", r) })
		if all++; word != "" && !other || strings.ContainsFunc(word, lexicon.IsWide) {
			words++
		}
	}
	return 4*words >= 3*all
}
