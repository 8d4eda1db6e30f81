package redact

import (
	"bytes"
	"regexp"
	"slices"
	"strings"
)

const (
	leastValue = 4   // bytes
	maxName    = 64  // bytes of a name
	maxGap     = 24  // bytes between a name, a sign and a value
	maxLead    = 48  // bytes of a line that are looked at before a name or after a value
	maxBefore  = 256 // bytes of a text that are looked at before a value
	maxValue   = 4 << 10
)

// place says how sure the place of a value is that it is a secret.
type place int

const (
	nowhere  place = iota
	inCode         // only a value of random characters is one
	inText         // a value that is no word, name or path is one; of other names than passwords as in code
	inConfig       // any value is one that is no sentence
	certain        // any value is one
)

// found is a name that says that its value is a secret.
type found struct {
	*view
	from, end int  // the name
	at, to    int  // the sign between the name and its value
	sign      byte // '=' with blanks around it, 'a' without, and what else places calls look with
	kind      string
	is        names
	lit
}

// names are what rows can ask of a name.
type names int

const (
	weak    names = 1 << iota // it may say something else
	upperIs                   // it has no small letter
	quoted                    // it is in quotes
	quotes                    // its value is
	single                    // in such quotes: '
	paired                    // it is the value of another member
	dotted                    // it has a full stop
	foreign                   // it ends in another script
	private                   // it begins with _
	setting                   // a line with it and another word sets it
	told                      // "is" is behind it
	noName                    // it is none: by, Bearer
	short                     // it is "pass"
	phrase                    // its value may be several words
)

// row is a kind of places. The first one that matches is the value's.
type row struct {
	signs  string
	name   names // it is all of these
	not    names // it is none of these
	before func() *regexp.Regexp
	cut    string // a value in no quotes ends before one of these
	ends   string // it does not end with one of these
	after  string // what is next in the line: one of these bytes
	file   bool   // the lines around are those of a configuration
	is     place
}

const (
	leads = `^[ \t]*(?:[-*+#>$]+ +|\d+[.)] +|[+-])?(?i:(?:export|setx?|setenv|env|arg|-e|--env|local|declare -x|final|static) +|\$env:)*["'\x60*]*$`
	sql   = `(?i)\b(?:user|role|login|server|with|encrypted|set|for)\b[^;\n]*$`
)

const endLine = "\x00#" // or a comment

var first = lazy(leads)

// rows are the places of values, the surest first.
var rows = []row{
	{signs: "=a:", name: paired, cut: ",}", is: inConfig},
	{signs: ">", cut: "<", after: "<", is: inConfig},
	{signs: "=a:", name: quoted | quotes, not: weak, before: lazy(leads + `|[{,\[]\s*["'\x60]$`), is: inConfig},
	{signs: ":", before: lazy(`\$\{$`), cut: "}", is: inConfig},
	{signs: "a", before: lazy(`[?&%]$`), cut: "&#);,<>", is: inConfig},
	{signs: "a", name: weak, is: inText},
	{signs: "a", not: upperIs, before: lazy(`;["']?$`), cut: ";", is: inConfig},
	{signs: "a", name: upperIs, before: lazy(leads + `|[\s;&?"'\x60=]$`), cut: ";", is: certain},
	{signs: "a", name: private, before: lazy(`:$`), is: inConfig},
	{signs: "a", before: lazy(`-$`), is: certain},
	{signs: "a", before: lazy(leads + `|^[^(<]* $`), ends: ",;)>", after: endLine, is: inConfig},
	{signs: "a", before: lazy(`=$`), is: inConfig},
	{signs: "a", before: lazy(`(?:^|[\s"';,])[\w.-]+=[^\s(,;]+(?:[ ;]+|,)$`), cut: ")]}", is: inConfig},
	{signs: "a", name: dotted, before: lazy(`[\s"']$`), cut: ",", is: inConfig},
	{signs: "a", cut: ",;)]}&", is: inText},
	{signs: "=:", name: single, before: lazy(sql), is: inConfig},
	{signs: "=:", name: short, before: first, after: endLine, file: true, is: inConfig},
	{signs: "=:", not: weak, before: first, after: endLine, file: true, is: inConfig},
	{signs: ":", name: foreign, before: first, after: endLine, is: inConfig},
	{signs: "=:", cut: ",;", is: inText},

	{signs: "-", after: "\x00#-|;&>\\]),", is: inConfig},
	{signs: "-", is: inText},

	{signs: " ", name: noName | quotes, is: inConfig},
	{signs: " (", name: single, before: lazy(sql), is: inConfig},
	{signs: " ", before: lazy(`\blogin\s+\S+\s+$`), is: inConfig},
	{signs: " ", before: lazy(`(?i)(?:^|\s)(?:export|setx?(?: -\w+)*|setenv|env|arg)\s+$|\bconfig (?:set|create) .*$`), after: endLine, is: inConfig},
	{signs: " ", name: setting, after: endLine, is: inConfig},
	{signs: " ", name: told, is: inText},
	{signs: " ", name: upperIs, is: inText},
	{signs: " |", is: inCode},
	{signs: "(", name: quotes, is: inText},
	{signs: ",", name: quotes, before: lazy(`(?i)(?:set|with|put|add|define|env|environ|variable|config|property|item|header|param|field|key|update|secret\w*)\(\s*["']$`), is: inText},
}

// plainWords matches words that are no sentence, as a passphrase is.
var plainWords = lazy(`^[a-z]+(?:[ -][a-z]+){2,}$`)

// place says how sure the place of a value is, and cuts the value as the place says.
func (f *found) place() place {
	if f.quote != 0 {
		f.is |= quotes
	}
	if f.quote == '\'' {
		f.is |= single
	}
	before := f.text[max(0, f.from-2*maxLead):f.from]
	line := before[bytes.LastIndexByte(before, '\n')+1:]
	if f.sign != ' ' {
		before = line
	}
	for i := range rows {
		if r := &rows[i]; f.isAt(r, before) {
			sure := f.kind == passwordKind && f.is&(weak|short) != weak || f.sign == '-' || f.is&(upperIs|told) != 0 && f.is&weak == 0
			switch {
			case r.is == inText && !sure:
				return inCode
			case f.is&(phrase|quotes) == phrase|quotes && plainWords().Match(f.text[f.lit.from:f.lit.to]):
				return certain
			}
			return r.is
		}
	}
	return nowhere
}

// isAt reports whether a row is the value's, and cuts the value as it says.
func (f *found) isAt(r *row, before []byte) bool {
	if strings.IndexByte(r.signs, f.sign) < 0 || f.is&r.name != r.name || f.is&r.not != 0 {
		return false
	}
	whole := f.lit
	if n := bytes.IndexAny(f.text[f.lit.from:f.lit.to], r.cut); n >= 0 && f.quote == 0 {
		f.lit.to, f.lit.end = f.lit.from+n, f.lit.from+n
	}
	ended := f.quote == 0 && f.lit.to > f.lit.from && strings.IndexByte(r.ends, f.text[f.lit.to-1]) >= 0
	if !ended && (r.after == "" || strings.IndexByte(r.after, f.next()) >= 0) && (r.before == nil || r.before().Match(before)) && (!r.file || f.inFile()) {
		return true
	}
	f.lit = whole
	return false
}

// next returns the byte that follows the value in its line, 0 for none.
func (f *found) next() byte {
	rest := bytes.TrimLeft(f.text[f.lit.end:min(len(f.text), f.lit.end+maxLead)], " \t\r\"'`")
	if len(rest) == 0 || rest[0] == '\n' {
		return 0
	}
	return rest[0]
}

var (
	camel = lazy(`^(?:[A-Z][a-z]+|[a-z]+)(?:[A-Z][a-z]+)+$`)
	// settingLine matches a line of a configuration, neutral one that may be beside it.
	settingLine = lazy(`^(?:- )?["']?[\w.$/-]+["']?(?:\s*=\s*|:\s+|:$)(?:"[^"]*"|'[^']*'|[^\s(){}\[\],;]*|\[[^\[\]()]*\])\s*(?:#.*)?$`)
	neutral     = lazy("^(?:$|#|---|```|\\$ |\\[)")
)

// inFile reports whether the lines beside the name's are those of a configuration too.
func (f *found) inFile() bool {
	lines := bytes.Split(f.text[max(0, f.from-2*maxBefore):f.from], []byte("\n"))
	slices.Reverse(lines)
	if below := bytes.SplitN(f.text[f.lit.end:min(len(f.text), f.lit.end+maxBefore)], []byte("\n"), 3); len(below) > 1 {
		lines[0] = below[1]
	} else {
		lines[0] = nil
	}
	settings := 0
	for i, line := range lines {
		line = bytes.TrimSpace(line)
		same := bytes.IndexByte(line, f.text[f.at]) > 0 && settingLine().Match(line)
		ok := same || neutral().Match(line)
		switch {
		case !ok && i < 2:
			return false
		case same:
			settings++
		}
		if !ok || i == 1 && f.sign == ':' { // YAML has no sections
			break
		}
	}
	return settings > 0 && (f.quote != 0 || !camel().Match(f.text[f.lit.from:f.lit.to]))
}

// value marks a value if it is a secret in such a place.
func (s *scan) value(v *view, l lit, in place, kind string) {
	value := v.text[l.from:l.to]
	if l.quote == 0 && in < inConfig {
		value = bytes.TrimRight(value, ".,:;!?)]}>")
	}
	if s.rules.isSecret(value, kind, in, l.quote != 0 && l.quote != '`') {
		s.mark(v, l.from, l.from+len(value), kind)
	}
}
