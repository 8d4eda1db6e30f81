package scorecard

import (
	"path"
	"slices"
	"strings"

	"ccd/internal/mark"
)

// Restore gives back what an ID stands for: the parts as `ccd restore` prints them (of a range: its lines). It fails
// where the original cannot be had.
type Restore func(mark.ID) ([][]byte, error)

// Grade counts what became of the facts in a text. Restore is asked once for each ID of the text; nil: nothing can be
// restored.
func (f *Facts) Grade(text string, restore Restore) Grade {
	p := newPage(text)
	g := Grade{Chars: p.chars, Tokens: p.chars * 4 / 3, Classes: map[Class]Count{}}
	kept := restored(p.ids, restore)
	must := 0
	for class, facts := range f.all() {
		var n Count
		for _, one := range facts {
			n.add(judge(&p, class, one, kept))
			if class == Asked || class == Edited || class == OpenErrors {
				must += len(one.text) + len(one.tail)
			}
		}
		if n.Facts > 0 {
			g.Classes[class] = n
		}
	}
	g.Must = must*2 <= g.Chars
	g.means()
	return g
}

func judge(p *page, class Class, one *fact, kept map[uint64]bool) Count {
	n := Count{Facts: 1}
	visible := p.shows(class, one)
	switch {
	case visible:
		n.Visible = 1
	case slices.ContainsFunc(one.sources, func(s source) bool { return kept[s.item] || kept[s.seen] || kept[s.line] }):
		n.Recoverable = 1
	default:
		n.Lost = 1
	}
	if one.strong {
		n.Strong, n.StrongSeen = 1, n.Visible
	}
	return n
}

// restored returns the hashes of all parts that the IDs give back. A fact is held by the bytes that it was taken from,
// so equal bytes hold it.
func restored(ids []mark.ID, restore Restore) map[uint64]bool {
	kept := map[uint64]bool{}
	if restore == nil {
		return kept
	}
	for _, id := range ids {
		parts, err := restore(id)
		if err != nil {
			continue
		}
		for _, b := range parts {
			kept[mark.Sum(b).Key()] = true
		}
	}
	return kept
}

// shows reports whether a fact is visible.
func (p *page) shows(class Class, one *fact) bool {
	switch class {
	case Edited, Read, Deleted:
		return slices.ContainsFunc(one.forms, p.path)
	case Numbers, Identifiers, URLs, Hashes:
		return p.word(one.text)
	case Plan:
		return p.beside(one.text, tellsState(one.status))
	}
	if one.status != "" {
		return p.beside(one.text, tellsStatus(one.status))
	}
	return p.holds(one.text) && (one.tail == "" || p.holds(one.tail)) && (one.id == "" || slices.Contains(p.ids, one.id))
}

// all is every fact by class.
func (f *Facts) all() map[Class][]*fact {
	all := map[Class][]*fact{}
	for class, l := range f.classes {
		all[class] = l.all
	}
	for name, p := range f.paths {
		all[p.class] = append(all[p.class], &fact{text: f.forms(name)[0], forms: f.forms(name), strong: true, sources: p.sources})
	}
	for _, one := range f.open {
		all[OpenErrors] = append(all[OpenErrors], one)
	}
	for _, p := range f.plan {
		if p.Status != "deleted" {
			all[Plan] = append(all[Plan], &fact{text: head(normal(p.Text), cmdChars), status: p.Status, strong: true, sources: []source{p.at}})
		}
	}
	all[Answer] = f.lastWords()
	return all
}

// lastWords are the beginning and the end of the last answer: whole where it is short.
func (f *Facts) lastWords() []*fact {
	if f.answer == nil {
		return nil
	}
	whole := f.answer.text
	if !long(whole, headChars+tailChars) {
		return []*fact{{text: whole, strong: true, sources: f.answer.sources}}
	}
	return []*fact{
		{text: head(whole, headChars), strong: true, sources: f.answer.sources},
		{text: tail(whole, tailChars), strong: true, sources: f.answer.sources},
	}
}

// forms are the ways in which a path may stand: below a working directory, absolute, or, of one elsewhere, its last
// directory and name.
func (f *Facts) forms(name string) (all []string) {
	for _, d := range f.dirs {
		if rel, ok := strings.CutPrefix(name, strings.TrimSuffix(d, "/")+"/"); ok && rel != "" {
			all = append(all, rel)
		}
	}
	slices.SortFunc(all, func(a, b string) int { return len(a) - len(b) })
	name = strings.TrimPrefix(name, "./")
	if len(all) == 0 && path.IsAbs(name) {
		all = append(all, path.Join(path.Base(path.Dir(name)), path.Base(name)))
	}
	return append(all, name)
}
