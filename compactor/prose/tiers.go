package prose

import "strings"

// reasons are bits: what a text is or holds.
type reasons uint32

// Hard reasons keep a text whole, soft ones tell only that it is not clean prose.
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

	hasWeb
	hasMail
	hasPhone
	hasVersion
	hasDigest
	hasPath
	hasNet
	hasQuotedKey
	hasLegal
	hasQuote
	hasUnits

	isMarker // begins with a marker of ours
	isJSON   // the whole of it is valid JSON
	isLong   // proseWords words or more
)

const (
	hardReasons = hasWeb - 1
	softReasons = isMarker - hasWeb
)

var reasonNames = [...]string{
	"code fence", "indented code", "code", "json", "yaml", "sql", "latex", "secret", "base64", "traceback", "http error",
	"failure", "reasoning", "verse", "table", "symbols", "ragged lines",
	"url", "mail", "phone", "version", "hash", "path", "ip", "quoted key", "legal", "quote", "units",
}

// String names the reasons, parted by commas.
func (r reasons) String() string {
	var names []string
	for i, n := range reasonNames {
		if r>>i&1 != 0 {
			names = append(names, n)
		}
	}
	return strings.Join(names, ",")
}

// tier names how a text may be shortened: T0 is structure, T2 short clean prose, T3 long prose.
func (s Shape) tier() string {
	switch soft := s.soft(); {
	case soft != 0:
		return "T0 soft: " + soft.String()
	case s.hard() != 0:
		return "T0 hard: " + s.hard().String()
	case s.why&isLong == 0:
		return "T2"
	}
	return "T3"
}

// hard gives the reasons for which a text is kept, a fence left out: that has rules of its own.
func (s Shape) hard() reasons { return s.why & hardReasons &^ hasFence }

// soft gives the reasons that never keep a text.
func (s Shape) soft() reasons { return s.why & softReasons }
