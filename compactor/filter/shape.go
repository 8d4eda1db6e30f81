package filter

import (
	"cmp"
	"regexp"
	"strings"

	"ccd/compactor/lexicon"
	"ccd/internal/mark"
)

// reasons is a set of properties of a text.
type reasons uint32

// The reasons. All but the first and the last one are hard: they keep a text whole.
const (
	hasFence reasons = 1 << iota
	hasIndentedCode
	hasCode
	hasJSON
	hasYAML
	hasSQL
	hasLaTeX
	hasSecret
	hasBase64
	hasTrace
	hasHTTPError
	hasFailure
	hasReasoning
	hasVerse
	hasTable
	hasSymbols
	hasRagged
	isMarker // begins with a marker

	local = hasSQL | hasLaTeX | hasBase64 | hasHTTPError | hasFailure | hasReasoning // of one place each
)

var reasonNames = [...]string{
	"code fence", "indented code", "code", "json", "yaml", "sql", "latex", "secret", "base64", "traceback", "http error",
	"failure", "reasoning", "verse", "table", "symbols", "ragged lines",
}

// hard returns the names of the reasons for which a text is kept, separated by commas. A fence has its own rules.
func (r reasons) hard() string {
	var names []string
	for i, n := range reasonNames {
		if (r&^hasFence)>>i&1 != 0 {
			names = append(names, n)
		}
	}
	return strings.Join(names, ",")
}

// The thresholds of the rules.
const (
	codeLines     = 3    // lines of source code that make a text code
	indentedLines = 2    // lines in a row indented as code that make a text code
	keyLines      = 3    // `key: value` lines in a row that are YAML
	tableRows     = 2    // rows in a row that are a table
	columnRows    = 3    // rows in a row that are a table by their columns alone
	verseLines    = 3    // lines in a row that are verse
	chainWords    = 3    // connectives of a formal chain of reasoning
	chainSteps    = 3    // numbered steps before a conclusion that are one
	base64Run     = 40   // bytes from which a word may be base64
	symbolShare   = 0.12 // share of symbols in a text's bytes from which it is symbol-heavy
	raggedLines   = 8    // lines that are not prose from which a text may be ragged
	raggedSpread  = 0.9  // standard deviation over mean of their length from which it is
	charsPerHit   = 1500 // chars of prose; a text is kept whole if it has SQL, a failure or the like once per so many
)

// shape is the classification of a text, computed line by line in one pass.
type shape struct {
	why   reasons
	prose int // chars outside of fences
	terms []string
	how   string // it corrects an earlier text, "" if it does not

	all    sense
	fences lexicon.Fences
	blank  bool // the line before is blank, or there is none
	listed bool // within a list
	lead   bool // the line before ends in a colon

	bytes, symbols          int
	hits, links, looks      int // local reasons; connectives; looks for SQL
	keys, rows, wide, verse int // lines in a row
	inset, steps, code      int
	ragged, lines           int
	cut                     int   // short lines that are no sentences
	sum, squares            int64 // of the ragged lines' lengths
}

// shapeOf classifies a text. Linear.
func shapeOf(text string) *shape {
	s := &shape{blank: true, terms: termsOf(text)}
	if startsWithMarker(text) {
		s.why = isMarker
		return s
	}
	for line := range strings.Lines(text) {
		switch fence, code := s.fences.Line(line); {
		case fence:
			s.why |= hasFence
		case !code:
			s.line(line)
		}
	}
	if s.hits*charsPerHit < s.prose {
		s.why &^= local
	}
	if s.links >= chainWords && s.links*charsPerHit >= s.prose*chainWords {
		s.why |= hasReasoning
	}
	if s.prose >= shortText && float64(s.symbols) > symbolShare*float64(s.bytes) {
		s.why |= hasSymbols
	}
	if n := int64(s.ragged); s.ragged >= raggedLines && s.ragged*5 > s.lines*3 &&
		float64(n*s.squares-s.sum*s.sum) > raggedSpread*raggedSpread*float64(s.sum)*float64(s.sum) {
		s.why |= hasRagged
	}
	if redacted.MatchString(text) {
		s.why |= hasSecret
	}
	if looksJSON().MatchString(text[:min(len(text), 4096)]) {
		s.why |= hasJSON
	}
	return s
}

// line classifies one line outside of fences.
func (s *shape) line(line string) {
	t := strings.TrimSpace(line)
	if t == "" {
		s.keys, s.wide, s.verse, s.blank = 0, 0, 0, true
		return
	}
	s.prose += lexicon.Chars(t)
	if s.lines > 0 {
		s.prose++ // the white space between lines
	}
	s.bytes += len(line)
	s.lines++
	s.block(t, indentOf(line))
	s.inline(line)
	s.blank, s.lead = false, t[len(t)-1] == ':'
}

// block detects what takes several lines.
func (s *shape) block(t string, indent int) {
	bullet := lexicon.BulletLen(t)
	s.run(&s.inset, indent >= 4 && bullet == 0 && !s.listed, indentedLines, hasIndentedCode)
	if s.inset > 0 && (s.lead || s.blank && s.lines > 1) { // after a blank line or a colon, one line is enough
		s.why |= hasIndentedCode
	}
	s.run(&s.code, isCode(t) || s.code > 0 && indent >= 2, codeLines, hasCode)
	s.run(&s.keys, keyLine().MatchString(t), keyLines, hasYAML)
	s.run(&s.rows, isRow(t), tableRows, hasTable)
	s.run(&s.wide, bullet == 0 && hasColumns(t), columnRows, hasTable)
	s.run(&s.verse, isVerse(t), verseLines, hasVerse)
	if IsFrame(t) {
		s.why |= hasTrace
	}
	if lexicon.NumberLen(t) > 0 {
		s.steps++
	}
	if bullet > 0 {
		s.listed = true
	} else if indent == 0 {
		s.listed = false
	}
	if bullet == 0 && t[0] != '#' && t[0] != '>' && !lexicon.EndsSentence(t) {
		s.ragged++
		n := int64(len(t))
		if n < printedLine {
			s.cut++
		}
		s.sum, s.squares = s.sum+n, s.squares+n*n
	}
}

// run counts consecutive lines of a kind and adds the reason once there are enough.
func (s *shape) run(n *int, is bool, enough int, r reasons) {
	if *n++; !is {
		*n = 0
	}
	if *n >= enough {
		s.why |= r
	}
}

// inline classifies the words of a line.
func (s *shape) inline(line string) {
	s.symbols += symbolsIn(line)
	lx := Lex(line)
	for first := true; lx.Next(); first = false {
		is, corrects := sensesAt(lx)
		s.all |= is
		s.how = cmp.Or(s.how, corrects)
		core := lx.Core()
		switch {
		case is&failure != 0, isException(core, line[lx.Word.Tail:]):
			s.hit(hasFailure)
		case is&conclusion != 0 && s.steps >= chainSteps:
			s.hit(hasReasoning)
		case is&statement != 0 && s.looks*maxStatement <= 64*maxStatement+4*s.bytes:
			s.looks++
			if isSQL(line[lx.Word.Head:], first) {
				s.hit(hasSQL)
			}
		case len(core) >= base64Run && (isBase64(core) || strings.Contains(lx.Run()[:min(len(lx.Run()), LongestName)], ";base64,")):
			s.hit(hasBase64)
		case len(core) == 3 && (core[0] == '4' || core[0] == '5') && httpError().MatchString(line[max(0, lx.Word.Head-24):min(len(line), lx.Word.Tail+40)]):
			s.hit(hasHTTPError)
		}
		if is&traceHead != 0 {
			s.why |= hasTrace
		}
		if is&connective != 0 {
			s.links++
		}
	}
	if strings.ContainsAny(line, `\$`) && latex().MatchString(line) {
		s.hit(hasLaTeX)
	}
}

// hit counts an occurrence of a local reason: one keeps a short text whole, a long text needs more.
func (s *shape) hit(r reasons) {
	s.why |= r
	s.hits++
}

// redacted matches what stands for a secret: the texts of a list come without secrets.
var redacted = regexp.MustCompile(`\[redacted [a-z0-9-]+ \d+\]`)

// foreignMarkers begin what other engines have put in place of a text. Shortening it again would lose what they kept.
var foreignMarkers = [...]string{"[summary:", "[summary#", "[truncated", "[cce:", "[Conversation compressed]"}

// wrapped begins the short form of JSON.
const wrapped = `{"shortened":`

// startsWithMarker reports whether a text begins with a marker, ours or another engine's, or is the compressed part of a list.
func startsWithMarker(text string) bool {
	text = strings.TrimPrefix(text, wrapped+`"`)
	for _, m := range foreignMarkers {
		if strings.HasPrefix(text, m) {
			return true
		}
	}
	return afterID(text) != ""
}

// afterID returns what follows the ID of the marker at the beginning of a text, "" if there is no marker.
func afterID(text string) string {
	const open = "[ccd "
	n := len(open) + mark.IDLen
	if len(text) > n && strings.HasPrefix(text, open) && mark.IsID(text[len(open):n]) && (text[n] == ' ' || text[n] == ']') {
		return text[n:]
	}
	return ""
}
