package prose

import "strings"

// entity is a name that a text tells of.
type entity struct {
	text  string
	at    int
	count int
	rank  int // of its kind
}

// ranks of the kinds of entities: what is hard to guess again counts most.
var ranks = [...]int{
	plainWord: 0, capitalWord: 2, acronymWord: 3, identWord: 6, numberWord: 5, versionWord: 5, netWord: 5, digestWord: 5,
	mailWord: 4, webWord: 6, pathWord: 6, placeWord: 7,
}

// Entities names at most so many (0: by the text's length) of the names, identifiers, numbers, paths and versions
// that a text tells of, in their order. Those of the kinds hardest to guess and those told of most come first where not
// all fit. Linear.
func Entities(text string, most int) []string {
	if most <= 0 {
		most = max(fewestNames, min((Chars(text)+charsPerName/2)/charsPerName, mostEntities))
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
	lexer
	all  []entity
	seen map[uint32]int
}

func collectEntities(text string) []entity {
	f := entityFinder{lexer: lex(text), seen: map[uint32]int{}}
	number := -1 // where the number before begins
	for f.next() {
		w := &f.word
		if w.head == w.tail || w.has&^(smallByte|highByte|quoteByte) == 0 && w.tail-w.head > 6 && number < 0 {
			number = -1
			continue
		}
		number = f.take(number)
	}
	return f.all
}

// take looks at one word; it returns where it begins if it is a number that a unit may follow, else -1.
func (f *entityFinder) take(number int) int {
	w := &f.word
	core := calledName(f.core(), w.has)
	k := wordKindOf(core, classesOf(core, w.has))
	switch {
	case number >= 0 && w.has&^(smallByte|upperByte) == 0:
		if s, _ := manner.at(&f.lexer); s&unitWord != 0 && w.tail-number < 40 {
			f.add(strings.Join(strings.Fields(f.text[number:w.tail]), " "), number, numberWord)
			return -1
		}
	case k == numberWord && w.has&letterBytes == 0 && !strings.HasSuffix(core, "%"):
		if w.to > w.tail && f.text[w.tail] == '%' {
			f.add(core+"%", w.head, k)
		}
		return w.head
	}
	switch {
	case k == plainWord, len(core) > longestName, len(core) < 3 && k != acronymWord:
		return -1
	case k == capitalWord && (w.opens || stops.has(wordHash(core))):
		return -1
	case k == acronymWord && (w.tail-w.head > longestAcronym || stops.has(wordHash(core))):
		return -1
	}
	f.add(core, w.head, k)
	return -1
}

// calledName is a name without what it is called with, listBoats(harbour -> listBoats, and of a link where it leads.
func calledName(s string, has class) string {
	if has&(pairedByte|equalsByte) == 0 {
		return s
	}
	if i := strings.Index(s, "]("); i >= 0 { // a link of Markdown
		return s[i+2:]
	}
	if has&slashByte != 0 {
		return s
	}
	if i := strings.IndexAny(s, "([{<="); i > 1 {
		return s[:i]
	}
	return s
}

// classesOf tells the classes of a word's bytes anew where it was cut.
func classesOf(s string, has class) class {
	if has&(pairedByte|equalsByte) == 0 {
		return has
	}
	has = 0
	for i := range len(s) {
		has |= classOf[s[i]]
	}
	return has
}

// add counts an entity. Names of several words in a row are one.
func (f *entityFinder) add(text string, at int, k wordKind) {
	if n := len(f.all); k == capitalWord && n > 0 {
		if last := &f.all[n-1]; last.rank == ranks[capitalWord] && last.count == 1 && last.at+len(last.text)+1 == at && f.text[at-1] == ' ' &&
			strings.Count(last.text, " ") < 2 {
			last.text = f.text[last.at : at+len(text)]
			return
		}
	}
	h := termHash(text)
	if i, ok := f.seen[h]; ok {
		f.all[i].count++
		return
	}
	if len(f.all) < namesRanked {
		f.seen[h] = len(f.all)
		f.all = append(f.all, entity{text, at, 1, ranks[k]})
	}
}
