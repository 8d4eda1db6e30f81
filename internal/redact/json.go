package redact

import "bytes"

// stretch is bytes [from, to) of a text, which in JSON are a string.
type stretch struct {
	from, to int
	key      bool
}

// json finds the secrets of a JSON text, also of one that is cut. It returns false if the text only begins like JSON.
func (s *scan) json(v *view) bool {
	first := len(s.strings)
	ok := s.split(v.text)
	strings := s.strings[first:]
	defer func() { s.strings = s.strings[:first] }()
	if !ok {
		return false
	}
	var key, pair meaning // the last one, and the name in {"name": "password", "value": "..."}
	var plain, decoded view
	list, flags := 0, false // where the strings with nothing but commas between them begin, and whether they have a flag
	for i, p := range strings {
		if len(s.rules.own) > 0 {
			s.configured(v.part(p.from, p.to))
		}
		if p.key {
			if key = s.name(v.text[p.from:p.to]); p.to-p.from >= minEncoded {
				s.search(v.part(p.from, p.to))
			}
			continue
		}
		if p.to-p.from >= 4 {
			part := &plain
			if bytes.IndexByte(v.text[p.from:p.to], '\\') >= 0 {
				part = v.unescaped(&decoded, p.from, p.to)
			} else {
				plain = *v.part(p.from, p.to)
			}
			s.search(part)
			switch {
			case key.list == "kind" && string(part.text) == "Secret":
				v.manifest = true
			case key.list == "pair":
				pair.kind, pair.is = says(part.text)
			case key.kind != "":
				s.value(part, lit{0, len(part.text), '"', 0}, key.place(), key.kind)
			case key.list == "pair-value" && pair.kind != "":
				s.value(part, lit{0, len(part.text), '"', 0}, pair.place(), pair.kind)
			}
		}
		flags = flags || p.from < p.to && v.text[p.from] == '-'
		between := v.text[p.to:min(len(v.text), p.to+1)]
		if i+1 < len(strings) {
			between = v.text[p.to:strings[i+1].from]
		}
		if bytes.IndexByte(between, '}') >= 0 {
			pair = meaning{}
		}
		if c := visible(between[min(1, len(between)):]); c != ',' && c != 0 || i == len(strings)-1 {
			if flags && bytes.IndexByte(v.text[strings[list].from:p.to], '\\') < 0 {
				s.arguments(v, strings[list].from, p.to)
			}
			list, flags = i+1, false
		}
	}
	if v.manifest {
		s.manifest(v)
	}
	return true
}

// split appends the strings of a JSON text to those that are open. What is between them must be the rest of JSON.
func (s *scan) split(text []byte) bool {
	none := len(s.strings)
	for i := 0; ; {
		q := nextByte(text, i, '"')
		for _, c := range text[i:q] {
			if !jsonChars[c] {
				return false
			}
		}
		if n := len(s.strings); n > none {
			s.strings[n-1].key = visible(text[i:q]) == ':'
		}
		if q == len(text) {
			return len(s.strings) > none
		}
		from := q + 1
		for i = nextByte(text, from, '"'); i < len(text) && escaped(text[from:i]); {
			i = nextByte(text, i+1, '"')
		}
		if bytes.IndexByte(text[from:i], '\n') >= 0 { // a string that is not closed in its line
			return false
		}
		s.strings = append(s.strings, stretch{from: from, to: i})
		i = min(i+1, len(text))
	}
}

// escaped reports whether what follows text is escaped.
func escaped(text []byte) bool {
	return (len(text)-len(bytes.TrimRight(text, `\`)))%2 == 1
}

// jsonChars are the bytes between the strings of JSON.
var jsonChars = func() (t [256]bool) {
	for _, c := range []byte("{}[]:, \t\r\n0123456789+-.eEtrufalsn") {
		t[c] = true
	}
	return t
}()
