package prose

import (
	"strings"

	"ccd/compactor/lexicon"
)

// entity is a name that a text tells of.
type entity struct {
	text  string
	at    int
	count int
	rank  int // of its kind
}

// ranks of the kinds of entities: what is hard to guess again counts most.
var ranks = [...]int{
	lexicon.PlainWord: 0, lexicon.CapitalWord: 2, lexicon.AcronymWord: 3, lexicon.IdentWord: 6, lexicon.NumberWord: 5,
	lexicon.VersionWord: 5, lexicon.NetWord: 5, lexicon.DigestWord: 5, lexicon.MailWord: 4, lexicon.WebWord: 6, lexicon.PathWord: 6,
	lexicon.PlaceWord: 7,
}

// Entities names at most so many (0: by the text's length) of the names, identifiers, numbers, paths and versions
// that a text tells of, in their order. Those of the kinds hardest to guess and those told of most come first where not
// all fit. Linear.
func Entities(text string, most int) []string {
	if most <= 0 {
		most = max(fewestNames, min((lexicon.Chars(text)+charsPerName/2)/charsPerName, mostEntities))
	}
	return top(collectEntities(text), most)
}

func (e *entity) worth() int { return e.rank + min(e.count, mostCount) }

// longestAcronym is the length, in letters, beyond which capitals are emphasis.
const longestAcronym = 6

// mostCount is how often an entity is told of at the most that counts.
const mostCount = 4

// top gives the texts of so many entities: those worth most, the first of equals, in their order.
func top(all []entity, most int) []string {
	var by [32]int
	for i := range all {
		by[all[i].worth()]++
	}
	least, more := len(by)-1, 0 // the lowest worth that is taken; how many are worth more
	for least > 0 && more+by[least] < most {
		more += by[least]
		least--
	}
	equals := most - more
	var names []string
	for i := range all {
		w := all[i].worth()
		if w > least || w == least && equals > 0 {
			names = append(names, all[i].text)
		}
		if w == least {
			equals--
		}
	}
	return names
}

// entityFinder collects the distinct entities of a text.
type entityFinder struct {
	lexicon.Lexer
	all  []entity
	seen map[uint32]int
}

func collectEntities(text string) []entity {
	f := entityFinder{Lexer: lexicon.Lex(text), seen: map[uint32]int{}}
	number := -1 // where the number before begins
	for f.Next() {
		w := &f.Word
		if w.Head == w.Tail || w.Has&^(lexicon.Small|lexicon.High|lexicon.Quote) == 0 && w.Tail-w.Head > 6 && number < 0 {
			number = -1
			continue
		}
		number = f.take(number)
	}
	return f.all
}

// take looks at one word; it returns where it begins if it is a number that a unit may follow, else -1.
func (f *entityFinder) take(number int) int {
	w := &f.Word
	core, k := f.Name()
	switch {
	case number >= 0 && w.Has&^(lexicon.Small|lexicon.Upper) == 0:
		if s, _ := manner.at(&f.Lexer); s&unitWord != 0 && w.Tail-number < 40 {
			f.add(strings.Join(strings.Fields(f.Text[number:w.Tail]), " "), number, lexicon.NumberWord)
			return -1
		}
	case k == lexicon.NumberWord && w.Has&lexicon.Letters == 0 && !strings.HasSuffix(core, "%"):
		if w.To > w.Tail && f.Text[w.Tail] == '%' {
			f.add(core+"%", w.Head, k)
		}
		return w.Head
	}
	switch {
	case k == lexicon.PlainWord, len(core) > lexicon.LongestName, len(core) < 3 && k != lexicon.AcronymWord:
		return -1
	case k == lexicon.CapitalWord && (w.Opens || stops.has(lexicon.WordHash(core))):
		return -1
	case k == lexicon.AcronymWord && (w.Tail-w.Head > longestAcronym || stops.has(lexicon.WordHash(core))):
		return -1
	}
	f.add(core, w.Head, k)
	return -1
}

// add counts an entity. Names of several words in a row are one.
func (f *entityFinder) add(text string, at int, k lexicon.Kind) {
	if n := len(f.all); k == lexicon.CapitalWord && n > 0 {
		if last := &f.all[n-1]; last.rank == ranks[lexicon.CapitalWord] && last.count == 1 && last.at+len(last.text)+1 == at && f.Text[at-1] == ' ' &&
			strings.Count(last.text, " ") < 2 {
			last.text = f.Text[last.at : at+len(text)]
			return
		}
	}
	h := lexicon.TermHash(text)
	if i, ok := f.seen[h]; ok {
		f.all[i].count++
		return
	}
	if len(f.all) < namesRanked {
		f.seen[h] = len(f.all)
		f.all = append(f.all, entity{text, at, 1, ranks[k]})
	}
}
