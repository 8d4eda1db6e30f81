package redact

import (
	"bytes"
	"regexp"
	"slices"

	"ccd/internal/lazy"
)

// Places of secrets that are no assignment: headers, addresses, sentences, arguments, tables, manifests.

// scheme is the scheme of an authorization header.
var scheme = lazy.Regexp(`^(?i:bearer|basic|token|digest|apikey|api-key|key|negotiate|bot|oauth|pat|genie[Kk]ey) +`)

// header marks the value of an authorization header.
func (s *scan) header(f *found) {
	in := inCode
	if at := scheme().Find(f.text[f.lit.from:min(len(f.text), f.lit.from+maxName)]); at != nil {
		if f.lit = s.literal(f.text, f.lit.from+len(at)); f.lit.to-f.lit.from >= 8 {
			in = inConfig
		}
	}
	s.value(f.view, f.lit, in, headerKind)
}

// cookie is a cookie of a header.
var cookie = lazy.Regexp(`([\w.-]+)=([^;,\s"'\\]{8,})`)

// cookies marks the values of the cookies in a header.
func (s *scan) cookies(v *view, i int) {
	to := nextByte(v.text[:min(len(v.text), i+s.most())], i, '\n')
	s.spent += 2 * (to - i)
	for _, at := range cookie().FindAllSubmatchIndex(v.text[i:to], -1) {
		s.value(v, lit{i + at[4], i + at[5], '"', 0}, inCode, cookieKind)
	}
}

const (
	server = "(?:^|^[\\s\"'])(?:[\\w*-]+\\.)*[\\w*-]+"
	login  = ":(?:\\*|[A-Za-z_][\\w-]*):(?:\\*|[A-Za-z_][\\w.@-]*):([^\\s\"'`]+)(?:[\\s\"']|$)"
	part   = "[^\\s/:@\"'`<>]"
)

// form is what an address, or a line of a .pgpass, is from the byte before its name on.
type form struct {
	re   func() *regexp.Regexp // its group is the secret
	in   place
	kind string
}

var addresses = []form{
	{lazy.Regexp("^\\W?https?://" + part + "*:([^\\s/@\"'`<>]{3,}(?:@[^\\s/@.:\"'`]+)*)@[\\w\\[$-]"), inConfig, passwordKind},
	{lazy.Regexp("^\\W?(?:[a-gi-z]|h[a-su-z])\\w*://" + part + "*:([^\\s@\"'`<>]{3,}(?:@[^\\s/@.:\"'`]+)*)@[\\w\\[$-]"), inConfig, passwordKind},
	{lazy.Regexp("^\\W?\\w+://(" + part + "{16,})(?::[^\\s/@]+)?@[\\w-]+\\."), inCode, apiKind},
}

var servers = []form{
	{lazy.Regexp(server + `:(?:5432|\*)` + login), inConfig, passwordKind},
	{lazy.Regexp(server + `:\d{4,5}` + login), inText, passwordKind},
}

// formed marks the secret of an address, or of a line of a .pgpass, whose first colon is byte i.
func (s *scan) formed(v *view, i int) {
	end := i
	for end < min(len(v.text), i+maxBefore) && v.text[end] > ' ' && !isQuote(v.text[end]) {
		end++
	}
	forms, rest := addresses, v.text[i:end]
	if !bytes.HasPrefix(rest, []byte("://")) {
		forms = servers
	}
	if bytes.IndexByte(rest, '@') < 0 && bytes.Count(rest, []byte(":")) < 4 || s.most() < maxValue {
		return
	}
	s.spent += 2 * len(rest)
	from := max(0, nameBefore(v.text, i)-1)
	for _, f := range forms {
		if at := f.re().FindSubmatchIndex(v.text[from:min(len(v.text), end+1)]); at != nil {
			s.value(v, lit{from + at[2], from + at[3], '"', 0}, f.in, f.kind)
		}
	}
}

// table marks a column whose header ends at the sign: of psql, Markdown, CSV and TSV. It returns false if there is no table.
func (s *scan) table(f *found) bool {
	text := f.text
	least := max(0, f.from-maxValue)
	from, to := bytes.LastIndexByte(text[least:f.from], '\n')+1+least, nextByte(text[:min(len(text), f.at+maxValue)], f.at, '\n')
	if s.spent += 4 * (to - from); s.most() < maxValue {
		return false
	}
	header, delimiter := text[from:to], byte(',')
	for _, d := range []byte("\t|") {
		if bytes.IndexByte(header, d) >= 0 {
			delimiter = d
		}
	}
	cells := fields(header, delimiter)
	column := slices.IndexFunc(cells, func(c stretch) bool { return from+c.from == f.from && from+c.to == f.end })
	bad := func(c stretch) bool { return delimiter != '|' && !plainCell().Match(header[c.from:c.to]) }
	above := text[max(0, from-maxBefore):max(0, from-1)]
	above = above[bytes.LastIndexByte(above, '\n')+1:]
	alone := len(above) == 0 || bytes.HasPrefix(above, []byte("$ "))
	if delimiter != '|' && !alone || f.from < f.rows || column < 0 || len(cells) < 2 || slices.ContainsFunc(cells, bad) || to == len(text) {
		return false
	}
	in := inConfig
	if delimiter == '|' {
		next := text[to+1 : nextByte(text, to+1, '\n')]
		if !ruler().Match(next) {
			return false
		}
		if to += 1 + len(next); header[0] == '|' && bytes.IndexByte(next, '+') < 0 {
			in = inText
		}
	}
	rows := f.rows
	for to < len(text) {
		row := text[to+1 : nextByte(text, to+1, '\n')]
		all := fields(row, delimiter)
		if len(all) != len(cells) {
			break
		}
		if c := all[column]; bytes.IndexByte(row[c.from:c.to], ' ') < 0 {
			s.value(f.view, lit{from: to + 1 + c.from, to: to + 1 + c.to}, in, f.kind)
		}
		to += 1 + len(row)
		f.rows = to
	}
	return f.rows > rows
}

var (
	ruler     = lazy.Regexp(`^[ |:+-]*-[ :]*[|+][ |:+-]*\r?$`)
	plainCell = lazy.Regexp(`^[\w.-]+(?: [\w.-]+)*$`)
)

// fields returns the cells of a table's row without what is around them.
func fields(row []byte, delimiter byte) (all []stretch) {
	for from := 0; from <= len(row); {
		to := nextByte(row, from, delimiter)
		cell := bytes.Trim(row[from:to], " \"`*\r")
		off := from + max(0, bytes.Index(row[from:to], cell))
		all = append(all, stretch{from: off, to: off + len(cell)})
		from = to + 1
	}
	return all
}

var (
	secretKind = lazy.Regexp(`(?m)(?:^|[{,\s])"?kind"?:\s*"?Secret"?\s*(?:[,}\n]|$)`)
	secretData = lazy.Regexp(`(?m)^( *)(?:data|stringData):[ \t]*\n|"(?:data|stringData)":\s*\{([^{}]*)\}`)
	dataPair   = lazy.Regexp(`(?m)(?:^|[{,])\s*["']?[\w.-]+["']?:[ \t]*(?:[|>][+-]?\n((?: +[^\n]*\n?)+)|"([^"]+)"|'([^']+)'|([^\s"'#]+))`)
)

// manifest marks the values of the Kubernetes secrets in a text.
func (s *scan) manifest(v *view) {
	off := 0
	for doc := range bytes.SplitSeq(v.text, []byte("\n---")) {
		if secretKind().Match(doc) {
			for _, at := range secretData().FindAllSubmatchIndex(doc, -1) {
				from, to := at[4], at[5]
				if from < 0 { // lines that are further in
					from, to = at[1], at[1]
					for line := bytes.TrimLeft(doc[to:], " "); len(doc[to:])-len(line) > at[3]-at[2] && !bytes.HasPrefix(line, []byte("-")); line = bytes.TrimLeft(doc[to:], " ") {
						to = min(len(doc), nextByte(doc, to, '\n')+1)
					}
				}
				s.data(v, off+from, off+to)
			}
		}
		off += len(doc) + len("\n---")
	}
}

// data marks the values in the data of a Kubernetes secret.
func (s *scan) data(v *view, from, to int) {
	for _, at := range dataPair().FindAllSubmatchIndex(v.text[from:to], -1) {
		for n := 2; n < len(at); n += 2 {
			if at[n+1]-at[n] >= 3 && !reference().Match(v.text[from+at[n]:from+at[n+1]]) {
				s.mark(v, from+at[n], from+at[n+1], apiKind)
			}
		}
	}
}

// Private keys are lines of base64 between a line with BEGIN and one with END, either of which may be missing.

const (
	keyLead  = `[^\nA-Za-z0-9+/]{0,16}(?:\d{1,6}[^\nA-Za-z0-9+/]{1,4})?` // of a line: an indentation, a number
	keyTail  = `=*[^\nA-Za-z0-9+/]{0,6}\n?`
	keyLines = `(?:` + keyLead + `[A-Za-z0-9+/]{16,}` + keyTail + `)+(?:` + keyLead + `[A-Za-z0-9+/]{1,64}(?:=+` + keyTail + `|` + keyTail + keyLead + `-----))?`
)

var (
	keyAfter  = lazy.Regexp(`^[^-\n]{0,20}-----(?:[^\n]{0,76}\n){0,4}?(` + keyLines + `)`)
	keyBefore = lazy.Regexp(keyLines + `$`)
)

const maxKey = 16 << 10

// key marks the private key of a line with "PRIVATE KEY" at byte i.
func (s *scan) key(v *view, i int) {
	off, head := max(0, i-40), v.text[max(0, i-40):i]
	from, to := 0, 0
	switch begin, end := bytes.LastIndex(head, []byte("BEGIN")), bytes.LastIndex(head, []byte("-----END")); {
	case begin > end:
		i += len("PRIVATE KEY")
		if at := keyAfter().FindSubmatchIndex(v.text[i:min(len(v.text), i+maxKey)]); at != nil {
			from, to = i+at[2], i+at[3]
		}
	case end >= 0 && off+end >= v.keys: // else it is in the key before it
		off += end
		start := max(v.keys, off-maxKey)
		if at := keyBefore().FindIndex(v.text[start:off]); at != nil {
			from, to = start+at[0], start+at[1]
		}
	}
	v.keys = i // what was looked at for one END is not looked at for the next
	key := bytes.TrimRight(v.text[from:to], "- \n\r\"'\\,+|>")
	if to = from + len(key); len(key) >= 32 {
		s.mark(v, to-len(bytes.TrimLeft(key, " \n\"'+|>")), to, privateKind)
		v.keys = to
	}
}
