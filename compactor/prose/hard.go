package prose

import (
	"strings"

	"ccd/compactor/lexicon"
)

// isSymbol tells the bytes that prose does without; marks of Markdown are not among them.
var isSymbol = func() (t [256]bool) {
	for _, c := range []byte(`{}[]<>=+\|^~@$%&;`) {
		t[c] = true
	}
	return t
}()

func symbolsIn(s string) int {
	n := 0
	for i := range len(s) {
		if isSymbol[s[i]] {
			n++
		}
	}
	return n
}

// looksJSON reports whether a text is JSON by its look: it begins as an object or an array of JSON does.
func looksJSON(text string) bool {
	t := strings.TrimLeft(text[:min(len(text), 4096)], " \t\r\n")
	if len(t) < 2 || t[0] != '{' && t[0] != '[' {
		return false
	}
	rest := strings.TrimLeft(t[1:], " \t\r\n")
	if rest == "" {
		return false
	}
	if t[0] == '[' {
		switch c := rest[0]; {
		case c == '{', c == '"', c == '[':
			return true
		case c == '-', c-'0' < 10:
			return strings.HasPrefix(strings.TrimLeft(rest, "-0123456789.eE \n\t"), ",")
		}
		return strings.HasPrefix(rest, "true,") || strings.HasPrefix(rest, "false,") || strings.HasPrefix(rest, "null,")
	}
	if rest[0] == '}' {
		return true
	}
	key := strings.IndexByte(rest[1:], '"')
	return rest[0] == '"' && key >= 0 && strings.HasPrefix(strings.TrimLeft(rest[key+2:], " \t\r\n"), ":")
}

// isLaTeX reports whether a line holds a command with its argument, a display, or a formula between dollars.
func isLaTeX(line string) bool {
	for i := strings.IndexByte(line, '\\'); i >= 0; {
		j := i + 1
		for j < len(line) && lexicon.ClassOf(line[j])&lexicon.Letters != 0 {
			j++
		}
		lone := i == 0 || lexicon.ClassOf(line[i-1])&(lexicon.Letters|lexicon.Digit|lexicon.Colon|lexicon.Dot) == 0
		if lone && j < len(line) && (j > i+2 && (line[j] == '{' || line[j] == '_' || line[j] == '^')) {
			return true
		}
		next := strings.IndexByte(line[j:], '\\')
		if next < 0 {
			break
		}
		i = j + next
	}
	return isFormula(line)
}

// isFormula reports whether something mathematical stands between two dollars.
func isFormula(line string) bool {
	i := strings.IndexByte(line, '$')
	for i >= 0 && i+2 < len(line) {
		j := strings.IndexByte(line[i+1:], '$')
		if j < 0 {
			return false
		}
		j += i + 1
		if j == i+1 {
			return strings.Contains(line[j+1:], "$$") || strings.TrimSpace(line) == "$$"
		}
		in := line[i+1 : j]
		tight := lexicon.ClassOf(in[0])&(lexicon.Gap|lexicon.Digit|lexicon.Paired) == 0 && in[len(in)-1] != ' '
		ends := j+1 == len(line) || lexicon.ClassOf(line[j+1])&(lexicon.Letters|lexicon.Digit|lexicon.Under|lexicon.Paired|lexicon.Slash) == 0
		if tight && ends && len(in) < 200 && (len(in) < 3 || strings.ContainsAny(in, `\^_=+<>`)) && !strings.Contains(in, `"`) {
			return true
		}
		i = j
	}
	return false
}

// maxStatement is how many bytes of a statement of SQL are looked at.
const maxStatement = 600

// isSQL reports whether a text begins with a statement: its verb and what must follow it. Words written small count
// only where the statement could be nothing else.
func isSQL(text string, first bool) bool {
	big := len(text) > 1 && text[0]-'A' < 26 && text[1]-'A' < 26
	low := strings.ToLower(strings.ReplaceAll(text[:min(len(text), maxStatement)], "\n", " "))
	switch firstWord(low) {
	case "select":
		what, _, ok := strings.Cut(low, " from ")
		where := strings.Contains(low, " where ") && strings.ContainsAny(low, "=<>")
		return ok && (big || where || first && strings.ContainsAny(what, "*(,") && (clause(low) || strings.Contains(what, "*")))
	case "update":
		_, set, ok := strings.Cut(low, " set ")
		set, _, _ = strings.Cut(set, ",")
		return ok && (big && strings.Contains(set, "=") || first && isAssignment(set))
	case "insert", "merge":
		return big || strings.Contains(low, " values") && strings.Contains(low, "(")
	case "delete":
		return big || first && clause(low) && strings.ContainsAny(low, "=<>'")
	case "create":
		return created(low) && (big || strings.ContainsAny(low, "(;"))
	case "with":
		return big && strings.Contains(low, " as (") && strings.Contains(low, "select ")
	case "alter", "drop", "truncate":
		return big || first && strings.Contains(low, ";")
	}
	return false
}

// clause reports whether a statement goes on as one does.
func clause(low string) bool {
	for _, w := range []string{" where ", " join ", " group by ", " order by ", " limit ", ";"} {
		if strings.Contains(low, w) {
			return true
		}
	}
	return false
}

// created reports whether a statement creates something of a database.
func created(low string) bool {
	rest := strings.TrimPrefix(strings.TrimPrefix(low[len("create"):], " or replace"), " temporary")
	rest = strings.TrimPrefix(strings.TrimPrefix(rest, " unique"), " temp")
	for _, what := range []string{" table ", " index ", " view ", " trigger ", " schema ", " database ", " materialized view "} {
		if strings.HasPrefix(rest, what) {
			return true
		}
	}
	return false
}

// secretStarts begin the keys of well-known issuers.
var secretStarts = byFirst([]string{
	"AKIA", "ASIA", "AIza", "sk-", "sk_live_", "sk_test_", "rk_live_", "pk_live_", "ghp_", "gho_", "ghu_", "ghs_", "ghr_",
	"github_pat_", "glpat-", "xoxb-", "xoxa-", "xoxp-", "xoxr-", "xoxs-", "npm_", "pypi-", "hf_", "SG.", "ya29.", "eyJ",
	"dop_v1_", "shpat_", "whsec_", "AGE-SECRET-KEY-", "Bearer-",
})

// isSecret reports whether a long word is a key or a token by its beginning: letters and digits follow it, or letters
// that are no words of a name.
func isSecret(s string) bool {
	if i := strings.LastIndexAny(s, `="':`); i >= 0 && i+secretRun < len(s) && !strings.Contains(s, "://") {
		s = s[i+1:]
	}
	for _, p := range secretStarts[s[0]] {
		if strings.HasPrefix(s, p) {
			rest := s[len(p):]
			plain := len(rest) >= secretRun+4 && !strings.ContainsAny(rest, "_-.")
			return len(rest) >= secretRun-4 && isTokenText(rest) && (plain || strings.ContainsAny(rest, "0123456789") || allUpper(rest))
		}
	}
	return false
}

func isTokenText(s string) bool {
	for i := range len(s) {
		if lexicon.ClassOf(s[i])&(lexicon.Letters|lexicon.Digit|lexicon.Under|lexicon.Hyphen|lexicon.Dot|lexicon.Slash|lexicon.Equals) == 0 && s[i] != '+' {
			return false
		}
	}
	return true
}

func allUpper(s string) bool {
	for i := range len(s) {
		if s[i]-'A' >= 26 {
			return false
		}
	}
	return true
}

// secretNames are what secrets are called where they are given: password=..., token: ...
var secretNames = []string{
	"password", "passwd", "secret", "token", "apikey", "api_key", "api-key", "access_key", "auth_token", "client_secret",
	"private_key", "secret_key",
}

// isAssigned reports whether a word is the value of a secret: letters and digits of eight bytes or more, behind its name.
func isAssigned(lx *lexicon.Lexer) bool {
	w := &lx.Word
	core := lx.Core()
	if len(core) < 8 || len(core) > lexicon.LongestName || w.Has&lexicon.Digit == 0 || w.Has&lexicon.Letters == 0 {
		return false
	}
	name, value := "", core
	if i := strings.IndexAny(core, "=:"); i > 0 {
		name, value = core[:i], strings.Trim(core[i+1:], `"'`)
	} else {
		if strings.HasSuffix(strings.ToLower(lx.Text[max(0, w.Head-7):w.Head]), "bearer ") {
			return len(core) >= secretRun
		}
		if w.Head < 2 || !assigns(lx.Text[w.Head-1]) && !assigns(lx.Text[w.Head-2]) {
			return false
		}
		before := strings.TrimRight(lx.Text[max(0, w.Head-40):w.Head], ` "'`)
		if before == "" || before[len(before)-1] != ':' && before[len(before)-1] != '=' {
			return false
		}
		name = strings.TrimRight(before, ":= ")
	}
	if len(value) < 8 || strings.ContainsAny(value, "()$<>{}[]/.,") {
		return false
	}
	name = strings.Trim(strings.ToLower(name), `"'`)
	for _, n := range secretNames {
		if strings.HasSuffix(name, n) {
			return true
		}
	}
	return false
}

// assigns reports whether a byte may stand between a name and its value, or before a quoted value.
func assigns(c byte) bool { return c == ':' || c == '=' || c == '"' || c == '\'' }

// isBase64 reports whether a long word is encoded bytes: capitals, small letters and digits in no order. Hexadecimal
// digits, paths and names are not.
func isBase64(s string) bool {
	changes, slashes := 0, 0
	var last, has lexicon.Class
	for i := range len(s) {
		k := lexicon.ClassOf(s[i])
		if k&(lexicon.Letters|lexicon.Digit|lexicon.Slash|lexicon.Hyphen|lexicon.Under|lexicon.Equals) == 0 && s[i] != '+' {
			return false
		}
		if k == lexicon.Slash || k == lexicon.Hyphen || k == lexicon.Under {
			slashes++
		}
		if k != last {
			changes++
		}
		last = k
		has |= k
	}
	return has&lexicon.Upper != 0 && has&lexicon.Small != 0 && has&lexicon.Digit != 0 && changes*3 >= len(s) && slashes*16 <= len(s)
}

// statusTexts follow the number of an HTTP error.
var statusTexts = []string{
	"not found", "bad request", "unauthorized", "forbidden", "method not allowed", "request timeout", "conflict", "gone",
	"payload too large", "unprocessable", "too many requests", "internal server error", "not implemented", "bad gateway",
	"service unavailable", "gateway timeout",
}

// isHTTPError reports whether a number is the status of a failed request: 400 to 599, named as one before or behind.
func isHTTPError(lx *lexicon.Lexer) bool {
	core := lx.Core()
	if len(core) != 3 || core[0] != '4' && core[0] != '5' || !lexicon.IsNumber(core) || strings.Contains(core, ".") {
		return false
	}
	before := strings.ToLower(strings.TrimRight(lx.Text[max(0, lx.Word.Head-24):lx.Word.Head], " :=("))
	word := before[strings.LastIndexByte(before, ' ')+1:]
	switch {
	case strings.HasPrefix(word, "http"), word == "status", word == "statuscode", word == "status_code", word == "code", word == "error":
		return true
	}
	after := lx.Text[lx.Word.Tail:min(len(lx.Text), lx.Word.Tail+40)]
	n := lexicon.SkipGap(after)
	for _, p := range statusTexts {
		if lexicon.StartsWithPhrase(after[n:], p) {
			return true
		}
	}
	return false
}

// isPhone reports whether a number may be one to call: seven digits or more with hyphens or dots, or a plus.
func isPhone(s string) bool {
	digits := 0
	for i := range len(s) {
		if s[i]-'0' < 10 {
			digits++
		}
	}
	return digits >= 7 && digits < len(s) && strings.ContainsAny(s, "-+")
}
