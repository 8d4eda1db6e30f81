// Package limits holds what a person may set of a companion, and what is derived from the settings alone: budgets, the
// estimator, the switches of the strategies.
//
// It knows nothing of sessions, files and texts.
package limits

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"math"
	"slices"
	"strconv"
	"time"

	"ccd/compactor/prose"
)

// Rules is the version of everything in the compactor that decides what a companion says. It changes whenever equal
// records and equal options would give another companion.
const Rules = 5

// Level is how hard the compression zone is compacted.
type Level uint8

// The levels. ByPressure lets the highest pressure so far decide.
const (
	ByPressure Level = iota
	Gentle           // below 0.60: 70 % off the compression zone
	Standard         // below 0.75: 80 %
	Aggressive       // below 0.90: 90 %
	Maximum          // 95 %
)

var levelNames = [...]string{"by-pressure", "gentle", "standard", "aggressive", "maximum"}

// String returns the level's name as companions, flags and --json show it.
func (l Level) String() string {
	if int(l) < len(levelNames) {
		return levelNames[l]
	}
	return "level-" + strconv.Itoa(int(l))
}

// Percent is what the level leaves of a text.
func (l Level) Percent() int { return int(math.Round(100 * (1 - l.Off()))) }

// Off is the part of the compression zone that the level takes away, 0..1.
func (l Level) Off() float64 {
	switch l {
	case Standard:
		return 0.80
	case Aggressive:
		return 0.90
	case Maximum:
		return 0.95
	}
	return 0.70
}

// Options is everything that changes a companion but for the records themselves. Tokens are estimated ones (chars*4/3)
// unless said otherwise. Start from Defaults: a zero limit is a limit of zero.
type Options struct {
	MaxTokens      int              `json:"max_tokens"`           // of the text after the front matter
	Level          Level            `json:"level"`                // ByPressure, or given by hand
	Host           string           `json:"host"`                 // named in the companion's lead
	Windows        map[string]int64 `json:"windows"`              // context window in real tokens by prefix of the model's name; the longest prefix wins
	Window         int64            `json:"window"`               // assumed where nothing tells it, real tokens
	LargeWindow    int64            `json:"large_window"`         // proven by reports above the smaller one, real tokens
	MaxOutput      int64            `json:"max_output"`           // tokens of one reply
	Threshold      int64            `json:"threshold"`            // estimate of the context that triggers; 0: from window and MaxOutput
	Pressure       float64          `json:"pressure"`             // that triggers, 0..1
	MinSavings     int64            `json:"min_savings"`          // below it neither threshold nor pressure triggers
	RecentShare    float64          `json:"recent_share"`         // newest part of the context that stays verbatim, 0..1
	RecentMessages int              `json:"recent_messages"`      // that stay verbatim at the least
	RecentResults  time.Duration    `json:"recent_results"`       // tool results younger than this stay verbatim
	FileAge        time.Duration    `json:"file_age"`             // file content older than this is replaced
	TalkAge        time.Duration    `json:"talk_age"`             // assistant text older than this stands in fewer words
	OutputChars    int              `json:"output_chars"`         // command output from this length on is replaced, chars
	MicroKeep      int              `json:"microcompact_keep"`    // newest tool results that microcompact leaves alone
	MicroTokens    int              `json:"microcompact_tokens"`  // results above this are microcompacted
	LargeTokens    int              `json:"large_tokens"`         // one output above this is demoted to its beginning and its error lines
	LargeChars     int              `json:"large_chars"`          // of that beginning, chars
	SummaryChars   int              `json:"summary_chars"`        // of a summary at the most, chars
	LongCap        string           `json:"long_cap"`             // "log": that limit grows with texts beyond 5000 chars; "off"
	Dedup          bool             `json:"dedup"`                // exact duplicates of 200 chars or more become references
	NearDedup      bool             `json:"near_dedup"`           // so do near ones
	Contradictions bool             `json:"contradictions"`       // what a later correction supersedes is tagged
	KeepImportance float64          `json:"keep_importance"`      // messages of this importance or more are kept whole, 0..1; 0: none is for it
	Focus          []string         `json:"focus,omitempty"`      // words that make what holds them important, lower case
	Off            []string         `json:"off,omitempty"`        // strategies that are switched off, of Strategies
	Summarizer     string           `json:"summarizer,omitempty"` // names the command whose summaries are taken, "" for none
	RestoreFiles   int              `json:"restore_files"`        // recently touched files that come back
	RestoreTokens  int              `json:"restore_file_tokens"`  // of each of them
	RestoreTotal   int              `json:"restore_total_tokens"` // of all of them
	LeadChars      int              `json:"lead_chars"`           // kept free for the lead that internal/sidecar writes
	Manual         Manual           `json:"manual,omitzero"`      // what of this was asked for by hand, as With sets it: the front matter says so
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
		RecentShare:    0.30,
		RecentMessages: 5,
		RecentResults:  5 * time.Minute,
		FileAge:        time.Hour,
		TalkAge:        30 * time.Minute,
		OutputChars:    1000,
		MicroKeep:      3,
		MicroTokens:    1000,
		LargeTokens:    40000,
		LargeChars:     2000,
		SummaryChars:   600,
		LongCap:        "off",
		Dedup:          true,
		RestoreFiles:   5,
		RestoreTokens:  5000,
		RestoreTotal:   50000,
		LeadChars:      600,
	}
}

// Hash returns 8 hexadecimal digits that name the options together with Rules.
func (o Options) Hash() string {
	// Marshal cannot fail: no field is a channel, a function or a NaN that validation lets through; should one be, its
	// text still hashes to something that differs from every valid set.
	data, err := json.Marshal(o)
	if err != nil {
		data = []byte(err.Error())
	}
	sum := sha256.Sum256(append(data, "/rules "+strconv.Itoa(Rules)...))
	return hex.EncodeToString(sum[:4])
}

// Prose is what of the options the rules for running text need.
func (o *Options) Prose() prose.Options {
	return prose.Options{
		Dedup: o.Dedup, NearDedup: o.NearDedup, Contradictions: o.Contradictions, KeepImportance: o.KeepImportance,
		SummaryChars: o.SummaryChars, LongCap: o.LongCap,
	}
}

// Budget is the number of chars that the text after the front matter may have, the lead taken off.
func (o Options) Budget() int { return max(0, o.MaxTokens*3/4-o.LeadChars) }

// Tokens is the estimator: chars * 4 / 3. It over-estimates on purpose, so that compaction comes early.
func Tokens[N int | int64](chars N) N { return chars * 4 / 3 }

// Strategies returns the names that `compaction.off` (Options.Off) takes: strategies, and parts of a companion. What a
// strategy that is off would have shortened stands as it is, as far as there is room. A part that is off is left out,
// but for two: without "answer" the last answer stands in its turn, not under Now; without "decisions" words of decision
// add no weight.
func Strategies() []string {
	return []string{
		"file", "talk", "output", "result", "microcompact", "large", "image", "merge", "entities", "code-split", "score",
		"asked", "corrections", "plan", "files", "commands", "errors", "answers", "decisions", "agents", "answer",
	}
}

// On reports whether a strategy is not switched off.
func (o *Options) On(strategy string) bool { return !slices.Contains(o.Off, strategy) }
