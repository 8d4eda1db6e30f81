// Package limits holds the settings of a companion and what is derived from them alone: budgets, the
// estimator, the length of a summary.
//
// It knows nothing of sessions, files and texts.
package limits

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Rules is the version of everything in the compactor that determines a companion's contents. It changes whenever equal
// records and options would give a different companion.
const Rules = 26

// Level is how full the context of a session is, and how long the summaries in a list of messages are. The zero Level is none.
type Level uint8

// The levels, by the highest pressure of a session so far.
const (
	Gentle     Level = 1 + iota // below 0.60
	Standard                    // below 0.75
	Aggressive                  // below 0.90
	Maximum
)

var levelNames = [...]string{"", "gentle", "standard", "aggressive", "maximum"}

// String returns the level's name as companions, flags and --json show it.
func (l Level) String() string { return levelNames[min(l, Maximum)] }

// ParseLevel returns the level with a name. It fails if there is none.
func ParseLevel(name string) (Level, error) {
	if i := slices.Index(levelNames[:], name); i > 0 {
		return Level(i), nil
	}
	return 0, fmt.Errorf("unknown level %q, must be one of %s", name, strings.Join(levelNames[Gentle:], ", "))
}

// MarshalText returns the name for JSON. It never fails.
func (l Level) MarshalText() ([]byte, error) { return []byte(l.String()), nil }

// UnmarshalText reads what MarshalText wrote. It fails as ParseLevel does.
func (l *Level) UnmarshalText(name []byte) (err error) {
	*l, err = ParseLevel(string(name))
	return err
}

// Percent returns how much of a text its summary keeps, in percent.
func (l Level) Percent() int {
	switch l {
	case Standard:
		return 20
	case Aggressive:
		return 10
	case Maximum:
		return 5
	}
	return 30
}

// Options is everything besides the records that determines a companion. Tokens are estimated ones (chars*4/3) unless noted
// otherwise. Start from Defaults, because a zero limit means zero.
type Options struct {
	MaxTokens      int              `json:"max_tokens"`           // of the text after the front matter
	MaxPart        float64          `json:"max_part,omitempty"`   // the same as a part of the session's items, 0: MaxTokens counts
	Host           string           `json:"host"`                 // named in the companion's lead
	Windows        map[string]int64 `json:"windows"`              // context window in real tokens by prefix of the model's name; the longest prefix wins
	Window         int64            `json:"window"`               // assumed if nothing says what it is, real tokens
	LargeWindow    int64            `json:"large_window"`         // proven by reports above the smaller one, real tokens
	MaxOutput      int64            `json:"max_output"`           // tokens of one reply
	Threshold      int64            `json:"threshold"`            // estimated context that triggers; 0: derived from window and MaxOutput
	Pressure       float64          `json:"pressure"`             // pressure that triggers, 0..1
	MinSavings     int64            `json:"min_savings"`          // below it neither threshold nor pressure triggers
	RecentMessages int              `json:"recent_messages"`      // newest messages that MinSavings does not count
	SummaryChars   int              `json:"summary_chars"`        // maximum length of a summary, chars
	LongCap        string           `json:"long_cap"`             // "log": that limit grows with texts beyond 5000 chars; "off"
	Focus          []string         `json:"focus,omitempty"`      // words that make messages with them important, lower case
	FileAge        time.Duration    `json:"file_age"`             // after which the content of a file is half as important, 0: never
	TalkAge        time.Duration    `json:"talk_age"`             // the same of what was said
	KeepImportance float64          `json:"keep_importance"`      // 0..1 of the importance, times age, from which on an event comes first, 0: none does
	Classes        [3]int           `json:"classes"`              // percent of an event that counts in full, by the thirds of their scores, the lowest first
	Summarizer     string           `json:"summarizer,omitempty"` // identifies the command whose summaries are used, "" for none
	Redact         string           `json:"redact,omitempty"`     // identifies the rules by which secrets are left out, "" for none
	LeadChars      int              `json:"lead_chars"`           // reserved for the lead that the companion package writes, besides host and session
	Manual         Manual           `json:"manual,omitzero"`      // the options set by hand, for the front matter; see With
}

// Defaults returns the limits as shipped.
func Defaults() Options {
	return Options{
		MaxTokens:      72000,
		Windows:        map[string]int64{},
		Window:         200000,
		LargeWindow:    1000000,
		MaxOutput:      16384,
		Pressure:       0.60,
		MinSavings:     20000,
		RecentMessages: 5,
		SummaryChars:   600,
		LongCap:        "off",
		LeadChars:      320,
		FileAge:        time.Hour,
		Classes:        [3]int{50, 30, 10},
	}
}

// Hash returns 8 hexadecimal digits that identify the options together with Rules.
func (o Options) Hash() string {
	// Marshal cannot fail: no field is a channel, a function or a NaN, which validation rejects. If it did, the text of the
	// error would still hash to something that no valid options have.
	data, err := json.Marshal(o)
	if err != nil {
		data = []byte(err.Error())
	}
	sum := sha256.Sum256(append(data, "/rules "+strconv.Itoa(Rules)...))
	return hex.EncodeToString(sum[:4])
}

// leastTokens is the size of the smallest companion, in estimated tokens.
const leastTokens = 2000

// Part returns the options for a session of so many chars: a part of them becomes a number.
func (o Options) Part(chars int64) Options {
	if o.MaxPart > 0 {
		o.MaxTokens = max(leastTokens, int(o.MaxPart*float64(Tokens(chars))))
	}
	return o
}

// LargeHead is how much of the beginning of a very large output stays, in chars.
const LargeHead = 2000

// Chars returns the chars of so many estimated tokens, which are chars*4/3.
func Chars(tokens int) int { return tokens * 3 / 4 }

// The longest names in a lead, in bytes: longer ones are cut or replaced.
const (
	LongestHost = 100
	LongestName = 40
)

// Budget returns how many chars the text after the front matter may have, without the lead, which names the host and the session.
func (o Options) Budget(session string) int {
	return max(0, Chars(o.MaxTokens)-o.LeadChars-min(len(o.Host), LongestHost)-min(len(session), LongestName))
}

// Tokens estimates tokens as chars * 4 / 3. It overestimates on purpose, so that compaction comes early.
func Tokens[N int | int64](chars N) N { return chars * 4 / 3 }

const (
	minSummary = 200  // chars; the shortest limit of a summary
	longText   = 5000 // chars of a text from which the limit may grow
)

// SummaryChars returns how many chars the summary of a text may have: three tenths of the text, at most most. For texts beyond
// 5000 chars most grows if longCap is "log".
func SummaryChars(chars, most int, longCap string) int {
	step := most / 2
	most = max(minSummary, most)
	if longCap == "log" {
		for n := chars; n >= 2*longText; n /= 2 {
			most += step
		}
	}
	return max(minSummary, min((3*chars+5)/10, most))
}
