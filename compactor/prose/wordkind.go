package prose

import "strings"

// wordKind is what a word names.
type wordKind uint8

const (
	plainWord   wordKind = iota
	capitalWord          // begins with a capital letter
	acronymWord          // capitals only, or consonants only
	identWord            // camelCase, PascalCase, snake_case, a dotted name, a call
	numberWord           // digits, perhaps with a unit glued to them
	versionWord          // 1.2, v3.0.1-rc2
	netWord              // of the network: 10.0.0.1
	digestWord           // hexadecimal digits of a commit or a sum
	mailWord             // somebody@example.org
	webWord              // https://...
	pathWord             // of a file
	placeWord            // of a line in a file: a.go:12
)

// wordKindOf tells what a word names by its look. has is the class of its bytes.
func wordKindOf(s string, has class) wordKind {
	switch {
	case len(s) > longestName && has&colonByte == 0:
		return plainWord
	case has&^(smallByte|highByte) == 0:
		if has == smallByte && isVowelless(s) {
			return acronymWord
		}
		return plainWord
	case has&^(letterBytes|highByte) == 0:
		return caseKind(s)
	case has&digitByte != 0 && has&(letterBytes|underByte|slashByte|atByte) == 0:
		return numberKind(s)
	case has&slashByte != 0:
		return slashKind(s)
	case has&atByte != 0:
		return mailKind(s)
	case has&underByte != 0:
		return underKind(s)
	case has&digitByte != 0 && has&^(letterBytes|digitByte|highByte) == 0:
		return mixedKind(s)
	}
	return dottedKind(s, has)
}

var isVowel = byteSet("aeiouy")

// isVowelless reports whether a word of small letters is an abbreviation: two to six consonants.
func isVowelless(s string) bool {
	if len(s) < 2 || len(s) > 6 {
		return false
	}
	for i := range len(s) {
		if isVowel[s[i]] {
			return false
		}
	}
	return s != "vs" && s != "mr" && s != "dr" && s != "st" && s != "th" && s != "nd" && s != "rd"
}

// caseKind looks at where the capitals of a word of letters stand.
func caseKind(s string) wordKind {
	ups, inner := 0, false
	for i := range len(s) {
		if s[i]-'A' < 26 {
			ups++
			inner = inner || i > 0 && s[i-1]-'a' < 26
		}
	}
	switch {
	case inner:
		return identWord
	case ups == len(s) && ups > 1:
		return acronymWord
	case s[0]-'A' < 26 && ups == 1:
		return capitalWord
	case ups > 1 && s[0]-'A' < 26: // HTTPServer
		return identWord
	}
	return plainWord
}

func numberKind(s string) wordKind {
	parts, digits, only := 1, 0, true
	for i := range len(s) {
		switch c := s[i]; {
		case c-'0' < 10:
			digits++
		case c == '.' && i > 0 && i+1 < len(s):
			parts++
		default:
			only = false
		}
	}
	switch {
	case digits == 0:
		return plainWord
	case only && parts == 4:
		return netWord
	case only && parts == 3:
		return versionWord
	}
	return numberWord
}

func slashKind(s string) wordKind {
	if strings.Contains(s, "://") {
		return webWord
	}
	slashes := strings.Count(s, "/")
	rooted := strings.HasPrefix(s, "/") || strings.HasPrefix(s, "./") || strings.HasPrefix(s, "../") || strings.HasPrefix(s, "~/")
	if strings.Trim(s, "/.-") == "" || !hasLetter(s) {
		return plainWord
	}
	if !rooted && slashes < 2 && !strings.ContainsAny(s, "._-@") {
		return plainWord // and/or
	}
	if afterColon(s) {
		return placeWord
	}
	return pathWord
}

func hasLetter(s string) bool {
	for i := range len(s) {
		if classOf[s[i]]&(letterBytes|highByte) != 0 {
			return true
		}
	}
	return false
}

// afterColon reports whether a name ends in the number of a line, perhaps with a column: a.go:12:3.
func afterColon(s string) bool {
	i := strings.LastIndexByte(s, ':')
	return i > 0 && i+1 < len(s) && s[i+1]-'0' < 10 && IsNumber(s[i+1:])
}

func mailKind(s string) wordKind {
	i := strings.IndexByte(s, '@')
	if i > 0 && strings.IndexByte(s[i:], '.') > 1 {
		return mailWord
	}
	return plainWord
}

// underKind is an identifier, where letters stand at both sides of an underscore or a name begins with one.
func underKind(s string) wordKind {
	if !hasLetter(s) {
		return plainWord
	}
	return identWord
}

// mixedKind is a word of letters and digits only.
func mixedKind(s string) wordKind {
	hex, digits := true, 0
	for i := range len(s) {
		c := s[i]
		if c-'0' < 10 {
			digits++
		} else if c-'a' >= 6 {
			hex = false
		}
	}
	switch {
	case hex && len(s) >= 7 && digits*10 >= len(s):
		return digestWord
	case s[0]-'0' < 10:
		return numberWord // 12ms
	case s[0] == 'v' && digits == len(s)-1:
		return versionWord
	}
	return identWord // sha256, Http2
}

// dottedKind is a word with dots, colons, hyphens or other marks in it.
func dottedKind(s string, has class) wordKind {
	i := strings.IndexByte(s, '.')
	if i < 0 && has&colonByte != 0 && afterColon(s) {
		return plainWord // at:12
	}
	if i < 0 || i+1 == len(s) {
		return hyphenKind(s, has)
	}
	before := s[i-min(i, 1) : i]
	switch {
	case afterColon(s):
		return placeWord
	case s[0]-'0' < 10 || s[0] == 'v' && i > 1 && s[1]-'0' < 10:
		return dottedNumber(s)
	case before != "" && classOf[before[0]]&(letterBytes|digitByte|underByte|highByte) == 0:
		return plainWord
	case hasExtension(s, has):
		return pathWord
	case strings.ContainsAny(s, ",;!?"), i == 0 && len(s) < 4:
		return plainWord
	case isAbbreviated(s):
		return plainWord
	}
	return identWord
}

// dottedNumber is 1.2-beta, v3.1, or 1.5x.
func dottedNumber(s string) wordKind {
	if s[0] == 'v' || strings.Count(s, ".") > 1 || strings.Contains(s, "-") {
		return versionWord
	}
	return numberWord
}

// hasExtension reports whether a word is a name with an extension of up to five letters or digits.
func hasExtension(s string, has class) bool {
	i := strings.LastIndexByte(s, '.')
	ext := s[i+1:]
	if i == 0 {
		return len(ext) > 2 // .gitignore
	}
	if len(ext) == 0 || len(ext) > 5 || has&(pairedByte|equalsByte|otherByte) != 0 {
		return false
	}
	for j := range len(ext) {
		if classOf[ext[j]]&(smallByte|digitByte) == 0 {
			return false
		}
	}
	return len(ext) > 1 || i > 1
}

// isAbbreviated reports whether a word is letters with dots between them: e.g, U.S.
func isAbbreviated(s string) bool {
	for i := range len(s) {
		if (s[i] == '.') != (i%2 == 1) {
			return false
		}
	}
	return true
}

// hyphenKind is a word without a dot inside: flags and other marks.
func hyphenKind(s string, has class) wordKind {
	switch {
	case has&(equalsByte|pairedByte|otherByte) != 0 && has&letterBytes != 0 && strings.ContainsAny(s, "=(<$\\"):
		return identWord
	case len(s) > 3 && s[0] == '-' && classOf[s[len(s)-1]]&(letterBytes|digitByte) != 0:
		return identWord // a flag
	case has&colonByte != 0 && strings.Contains(s, "::"):
		return identWord
	case has&digitByte != 0 && s[0]-'0' < 10:
		return numberWord
	}
	return plainWord
}
