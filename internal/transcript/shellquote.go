package transcript

import "strings"

// word reads one word.
func (p *shellParser) word() word {
	w := word{literal: true}
	var b strings.Builder
	start := p.i
	for !p.bad && p.i < len(p.s) {
		switch c := p.s[p.i]; c {
		case ' ', '\t', '\r', '\n', ';', '|', '&', '<', '>', '(', ')':
			if c == '(' {
				p.bad = true // a function, or what only some shells know
			}
			w.text = b.String()
			return w
		case '\'':
			p.single(&w, &b)
		case '"':
			p.double(&w, &b)
		case '\\':
			w.quoted = true
			p.i++
			if p.i < len(p.s) && separates(b.String(), p.s[p.i]) {
				b.WriteByte('\\')
			}
			if p.i < len(p.s) && p.s[p.i] != '\n' {
				b.WriteByte(p.s[p.i])
			}
			p.i = min(p.i+1, len(p.s))
		case '$', '`':
			w.literal = false
			p.expansion(&b)
		default:
			if strings.IndexByte("*?[{", c) >= 0 || (c == '~' && (p.i == start || p.s[p.i-1] == '=' || p.s[p.i-1] == ':')) {
				w.literal = false
			}
			b.WriteByte(c)
			p.i++
		}
	}
	w.text = b.String()
	return w
}

// separates reports whether a backslash before c divides the elements of a path, as in the shells of Windows. Bash drops
// it there, but then there is no such file, and the exit status says so.
func separates(before string, c byte) bool {
	switch {
	case before == "":
		return false // \rm
	case isLetter(c), c >= '0' && c <= '9', c == '_':
		return true
	case c != '.' && c != '-':
		return false
	}
	return strings.ContainsAny(before, `\:`) || strings.Trim(before, ".") == ""
}

// single reads what stands between single quotes.
func (p *shellParser) single(w *word, b *strings.Builder) {
	inside, _, ok := strings.Cut(p.s[p.i+1:], "'")
	p.bad = p.bad || !ok
	p.i += len(inside) + 2
	b.WriteString(inside)
	w.quoted = true
}

// double reads what stands between double quotes.
func (p *shellParser) double(w *word, b *strings.Builder) {
	w.quoted = true
	for p.i++; !p.bad && p.i < len(p.s); {
		switch c := p.s[p.i]; c {
		case '"':
			p.i++
			return
		case '$', '`':
			w.literal = false
			p.expansion(b)
		case '\\':
			if p.i++; p.i < len(p.s) && strings.IndexByte("$`\"\\\n", p.s[p.i]) < 0 {
				b.WriteByte('\\')
			}
			if p.i < len(p.s) && p.s[p.i] != '\n' {
				b.WriteByte(p.s[p.i])
			}
			p.i++
		default:
			b.WriteByte(c)
			p.i++
		}
	}
	p.bad = true
}

// expansion passes over what the shell would put something else for.
func (p *shellParser) expansion(b *strings.Builder) {
	rest := p.s[p.i:]
	switch {
	case p.loose && (rest[0] == '`' || strings.HasPrefix(rest, "$(")):
		p.bad = true
	case rest[0] == '`':
		for p.i++; p.i < len(p.s) && p.s[p.i] != '`'; p.i++ {
			if p.s[p.i] == '\\' {
				p.i++
			}
		}
		p.bad = p.bad || p.i >= len(p.s)
		p.i++
	case strings.HasPrefix(rest, "$(("):
		p.past("))")
	case strings.HasPrefix(rest, "$("):
		p.substitution()
	case strings.HasPrefix(rest, "${"):
		p.past("}")
	case strings.HasPrefix(rest, "$'"), strings.HasPrefix(rest, `$"`):
		p.bad = true
	default:
		p.i++
	}
	if p.loose {
		b.WriteString(p.s[len(p.s)-len(rest) : min(p.i, len(p.s))])
	}
}

// past goes behind the next end, which nothing that nests or quotes may stand before.
func (p *shellParser) past(end string) {
	inside, _, ok := strings.Cut(p.s[p.i+2:], end)
	p.bad = p.bad || !ok || strings.ContainsAny(inside, "$`'\"\\\n{")
	p.i += 2 + len(inside) + len(end)
}

// substitution passes over a command whose output stands for it.
func (p *shellParser) substitution() {
	if p.depth == maxNested || len(p.docs) > 0 {
		p.bad = true
		return
	}
	p.i += 2
	p.depth++
	p.list()
	p.depth--
	p.bad = p.bad || len(p.docs) > 0 || p.i >= len(p.s)
	p.i++
}
