package prose

import (
	"strings"

	"ccd/compactor/lexicon"
)

// codeStarts are the words that begin a line of source code in the usual languages, with what must stand in the rest of
// the line for it to be no prose.
var codeStarts = map[string]string{
	"import": `"'.{;_/`, "from": " import ", "package": ";.", "#include": "<\"", "#define": "", "using": ";", "use": ";:",
	"func": "(", "function": "(", "def": "(", "class": "({:", "struct": "{", "enum": "{", "interface": "{", "type": "={",
	"const": "=", "let": "=", "var": "=", "val": "=", "return": ";(={[", "public": "({;=", "private": "({;=",
	"protected": "({;=", "static": "({;=", "export": "={;(", "async": "(", "await": "(", "fn": "(", "impl": "{", "pub": "({;",
	"if": "{)", "for": "{)", "while": "{)", "switch": "{", "case": ":", "else": "{:", "elif": ":", "try": "{:", "catch": "{",
	"except": ":", "throw": ";(", "raise": "(", "defer": "(", "go": "(", "namespace": "{;", "template": "<", "typedef": ";",
	"module": "{.", "local": "=", "echo": "$\"'", "diff": "--git", "@@": "@@", "//": "", "/*": "", "*/": "", "#!": "",
	"<!--": "", "<?": "",
}

// isCode reports whether a trimmed line looks like one of source code.
func isCode(t string) bool {
	if len(t) > lexicon.LongestName {
		t = t[:lexicon.LongestName]
	}
	if strings.Trim(t, "{}[]();,") == "" {
		return true
	}
	if lexicon.BulletLen(t) > 0 {
		return false
	}
	return endsAsCode(t) || startsAsCode(t) || isAssignment(t)
}

// endsAsCode looks at a line's last byte, and for what it needs before it.
func endsAsCode(t string) bool {
	switch last := t[len(t)-1]; last {
	case '{', '}':
		return true
	case ';':
		return strings.ContainsAny(t, "=(){}[]<>:\"'") || strings.IndexByte(t, ' ') < 0
	case ')':
		i := strings.IndexByte(t, '(')
		return i > 0 && isName(t[:i])
	case ',':
		return t[0] == '"' && strings.Contains(t, `":`)
	case '>':
		return t[0] == '<' && len(t) > 2 && lexicon.ClassOf(t[1])&(lexicon.Letters|lexicon.Slash) != 0
	case '"', '\'', 'e', 'l', ']':
		return t[0] == '"' && strings.Contains(t, `":`)
	case ':':
		return strings.HasSuffix(t, "):") && strings.IndexByte(t, '(') > 0 && !strings.HasPrefix(t, "(")
	}
	return false
}

// startsAsCode looks at a line's first word, and for what it needs behind it.
func startsAsCode(t string) bool {
	first := firstWord(t)
	if len(first) > 10 {
		return t[0] == '@' && isName(t[1:])
	}
	needs, ok := codeStarts[strings.TrimRight(first, "(:{")]
	if !ok || first == t && needs != "" && !strings.ContainsAny(first, "(:{") {
		return false
	}
	switch {
	case needs == "":
		return true
	case len(needs) > 3 && (needs[0] == ' ' || needs[0] == '-'):
		return strings.Contains(t, needs)
	case strings.Trim(needs, ":)") == "", needs == "{:", needs == "({:":
		return strings.ContainsAny(t[len(t)-1:], needs)
	}
	return strings.ContainsAny(t[len(first)-1:], needs)
}

func firstWord(s string) string {
	first, _, _ := strings.Cut(s, " ")
	return first
}

// isAssignment reports whether a line gives a name a value: `x = 1`, `a.b := f()`, `PORT=80`.
func isAssignment(t string) bool {
	i := strings.IndexByte(t, '=')
	if i < 1 || i+1 == len(t) || t[i+1] == '=' && strings.HasSuffix(t, ".") {
		return false
	}
	name := strings.TrimRight(strings.TrimRight(t[:i], ":+-*/|&"), " ")
	if !isName(name) {
		two := strings.IndexByte(name, ' ')
		return two > 0 && isName(name[:two]) && isName(name[two+1:]) && t[i+1] == ' '
	}
	return true
}

// isName reports whether a text is one name of a program, with dots, arrows and indices in it.
func isName(s string) bool {
	if s == "" || lexicon.ClassOf(s[0])&(lexicon.Letters|lexicon.Under) == 0 && s[0] != '$' {
		return false
	}
	for i := range len(s) {
		if lexicon.ClassOf(s[i])&(lexicon.Letters|lexicon.Digit|lexicon.Under|lexicon.Dot|lexicon.Paired) == 0 && s[i] != '$' && s[i] != '-' && s[i] != ':' {
			return false
		}
	}
	return true
}
