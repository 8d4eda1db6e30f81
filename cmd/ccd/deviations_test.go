package main

import (
	"math"
	"regexp"
	"strings"
	"unicode/utf8"
)

// deviation is an intended difference between the public engines and ccd.
type deviation struct {
	is     string // a case or a kind of difference
	theirs string // their action, and reason up to its colon or with one hard reason
	ours   string // our action, and the start of our reason
	why    string
	holds  func(*difference) bool // the condition for it to count; nil for cases
}

// name identifies a deviation in the log.
func (d *deviation) name() string { return d.is }

// difference is one message for which the decisions differ.
type difference struct {
	g            *goldenCase
	at           goldenDecision
	text         string
	theirs, ours decided
	importance   float64
	ask          *ask
}

// none makes a condition: the text matches none of the patterns.
func none(patterns ...string) func(*difference) bool {
	return func(d *difference) bool { return !anyMatch(d.text, patterns) }
}

// some makes a condition: the text matches at least one of the patterns.
func some(patterns ...string) func(*difference) bool {
	return func(d *difference) bool { return anyMatch(d.text, patterns) }
}

func anyMatch(text string, patterns []string) bool {
	for _, p := range patterns {
		if regexp.MustCompile(p).MatchString(text) {
			return true
		}
	}
	return false
}

// deviations are all intended differences. One with theirs and ours excuses every message that differs in that way and
// meets its condition; the others name a case.
var deviations = []deviation{
	{
		"a word of SQL", "preserved hard_t0:sql_content", "compressed", "one word such as boolean or returning is not a statement; ccd also keeps statements",
		none(`(?s)\bSELECT\b.*\bFROM\b`, `\bINSERT INTO\b`, `\bCREATE (TABLE|INDEX|VIEW)\b`, `\bDELETE FROM\b`, `\bUPDATE \w+ SET\b`, `\b(ALTER|DROP) TABLE\b`),
	},
	{
		"prices", "preserved hard_t0:latex_math", "compressed", "two dollar signs are prices or shell variables; a formula needs a command, or an operator between them",
		none(`\\[a-z]{2,}\{`, `\$\$`, `\$[^$\n\d ][^$\n]*[\\^_=][^$\n]*\$`, `\\begin`),
	},
	{
		"hashes and paths", "preserved hard_t0:base64_content", "compressed", "hexadecimal digits and paths are not encoded bytes",
		func(d *difference) bool {
			for _, run := range regexp.MustCompile(`[A-Za-z0-9+/=_-]{32,}`).FindAllString(d.text, -1) {
				path := strings.Count(run, "/") >= 2
				if !path && !anyMatch(run, []string{`^[0-9a-fA-F]+$`}) && anyMatch(run, []string{`[A-Z]`}) && anyMatch(run, []string{`[a-z]`}) && anyMatch(run, []string{`[0-9]`}) {
					return false
				}
			}
			return true
		},
	},
	{
		"two lines of key and value", "preserved hard_t0:yaml_structure", "compressed", "people write two such lines; three with lower-case keys are YAML",
		none(`(?m)^\s*(- )?[a-z_][\w.-]*:( .*)?\n\s*(- )?[a-z_][\w.-]*:( .*)?\n\s*(- )?[a-z_][\w.-]*:( |$)`),
	},
	{
		"ragged lines", "preserved hard_t0:high_line_length_variance", "compressed", "replies have headings, bullets and paragraphs; only many ragged lines that are not prose count",
		func(d *difference) bool { return strings.Count(d.text, "\n") < 40 },
	},
	{
		"report lines are not verse", "preserved hard_t0:verse_pattern", "compressed", "lines with a status in capitals, a colon, digits, code or the end of a sentence are not verse",
		none(`(?m)^[A-Z][a-z']*( [a-z'-]+){2,},?\n[A-Z][a-z']*( [a-z'-]+){2,},?\n[A-Z][a-z']*( [a-z'-]+){2,},?$`),
	},
	{
		"an arrow", "preserved hard_t0:reasoning_chain", "compressed", "one arrow or connective is not a formal chain; three connectives, or steps with a conclusion, are",
		func(d *difference) bool {
			links := regexp.MustCompile(`(?i)\b(therefore|thus|hence|consequently|as a result)\b`).FindAllString(d.text, -1)
			return len(links) < 3 && !anyMatch(d.text, []string{`(?ms)^1[.)] .*^2[.)] .*^3[.)] .*\b(To summari[sz]e|In conclusion|In summary|Therefore|Thus|Hence)\b`})
		},
	},
	{
		"a wrapped list", "preserved hard_t0:indented_code", "compressed", "continuation lines of a bullet are not code, nor is a single line within prose",
		func(d *difference) bool {
			lone := !anyMatch(d.text, []string{`(?m)^(    |\t)\s*[^\s*+-].*\n(    |\t)\s*[^\s*+-]`, `(?m)(^\n|:\n)(    |\t)\s*[^\s*+-]`})
			return lone || anyMatch(d.text, []string{`(?m)^ {0,3}([-*+]|\d+[.)]) .*\n(    |\t)`})
		},
	},
	{
		"a bracket", "preserved hard_t0:json_structure", "compressed", "a text that begins with a bracket is JSON only if an object or an array follows",
		none(`^\s*\{\s*("|\})`, `^\s*\[\s*[\[{"]`, `^\s*\[\s*-?\d+\s*,`),
	},
	{
		"a word of failure", "preserved hard_t0:failure_signature", "compressed", "replies use failed, error or killed alone, and a summary prefers such sentences; the text of a failure keeps the message",
		none(`(?i)permission denied|segmentation fault|out of memory|no such file|command not found|connection refused|exit (code|status) [1-9]|\bE[A-Z]{4,}\b|core dumped`),
	},
	{
		"a number of HTTP", "preserved hard_t0:http_error", "compressed", "a number from 400 to 599 is an error only beside status or HTTP",
		none(`(?i)HTTP(/\d(\.\d)?)? [45]\d\d`, `(?i)\bstatus( code)?:? [45]\d\d`, `(?i)\b[45]\d\d (not found|forbidden|unauthorized|bad request|internal server error|bad gateway|service unavailable)`),
	},
	{
		"few symbols", "preserved hard_t0:high_special_char_ratio", "compressed", "Markdown and punctuation are not symbols",
		func(d *difference) bool { return symbolsIn(d.text)*8 < len(d.text) },
	},
	{
		"code without a fence", "compressed", "preserved hard: code", "their sentences cut source code without a fence at its dots; ccd keeps it whole at any indentation",
		some(`(?m)([;{}]|\):)\s*$(?s:.*)(?m)([;{}]|\):|\breturn\b.*)\s*$`, `(?m)^\s*(def|for|if|import|const|let|var) .*\n\s+\S`),
	},
	{"a table", "compressed", "preserved hard: table", "a summary of rows without the header misleads", some(`(?m)\|.*\|\s*\n.*\|.*\|`, `(?m)\S(  +|\t)\S+(  +|\t)\S.*\n.*\S(  +|\t)\S`)},
	{
		"a key", "compressed", "preserved hard: secret", "ccd knows keys of more issuers, and values after password or token",
		some(`(?i)(password|passwd|secret|token|api_?key)["']?\s*[:=]`, `\b(sk|ghp|gho|xox[abps]|glpat|npm|hf|AKIA|ASIA|AIza|eyJ)`, `-----BEGIN`),
	},
	{"a secret beside a fence", "split", "preserved hard: secret", "their code rule comes first and loses a secret in the prose", some(`(?i)(password|passwd|secret|token|api_?key)["']?\s*[:=]`, `\b(sk|ghp|gho|xox[abps]|glpat|npm|hf|AKIA|ASIA|AIza|eyJ)`)},
	{"a failure", "compressed", "preserved hard: failure", "for ccd an exception or an exit status above 0 is a failure", some(`\w(Error|Exception):`, `(?i)exit(ed)? (with )?(code|status)`, `(?i)denied|refused|fault|not found|fatal|assertion|error`)},
	{"a chain by other words", "compressed", "preserved hard: reasoning", "ccd has its own list of connectives", some(`(?i)\b(therefore|thus|hence|consequently|as a result|it follows|implies|conclude|given that|for this reason)\b`)},
	{
		"a kind that ccd does not have", "preserved hard_t0:", "compressed", "the design does not name this reason; for ccd the text is prose",
		func(d *difference) bool {
			for _, known := range []string{"sql", "latex", "base64", "yaml", "variance", "verse", "reasoning", "indented", "json", "failure", "http", "special", "key", "secret", "fence", "code", "trace", "table"} {
				if strings.Contains(d.at.Reason, known) {
					return false
				}
			}
			return symbolsIn(d.text)*12 < len(d.text) && !strings.Contains(d.text, "\n    ")
		},
	},
	{"a stack", "compressed", "preserved hard: traceback", "stack frames are a trace even without its heading", some(`(?m)^\s*at .*\n\s*at `, `(?i)exception|panicked|stack ?trace`, `(?m)^\s*File ".*", line`)},
	{"tildes", "compressed", "split", "tildes are a fence too", some(`(?m)^\s*~~~`)},
	{
		"a fence that stays open", "split", "preserved code", "an open fence extends to the end: the text after it is code, and the prose before it is too short",
		func(d *difference) bool {
			return len(regexp.MustCompile("(?m)^\\s*(```|~~~)").FindAllString(d.text, -1))%2 == 1
		},
	},
	{
		"the marker's length", "compressed", "preserved reverted", "ccd's marker has an ID of 12 characters; a text that would save less than 40 characters, or than a tenth, is kept",
		func(d *difference) bool { return d.at.In-d.at.Out < 60 || d.at.In < summaryRoom },
	},
	{
		"the marker's length, with code", "split", "preserved reverted", "as before",
		func(d *difference) bool { return d.at.In-d.at.Out < 60 },
	},
	{
		"a closer choice", "preserved single_reverted", "compressed", "ccd chooses other, shorter sentences",
		func(d *difference) bool { return d.at.In < summaryRoom },
	},
	{
		"reverted for another reason", "preserved hard_t0:", "preserved reverted", "not a hard reason for ccd, but a summary would not be shorter",
		func(d *difference) bool { return d.at.In < summaryRoom },
	},
	{
		"chars, not UTF-16 units", "preserved single_reverted", "preserved short", "ccd counts Unicode characters",
		func(d *difference) bool { return utf8.RuneCountInString(d.text) < 120 && d.at.In >= 120 },
	},
	{
		"chars, not UTF-16 units, compressed", "compressed", "preserved short", "as before",
		func(d *difference) bool { return utf8.RuneCountInString(d.text) < 120 && d.at.In >= 120 },
	},
	{"importance, by other words", "preserved importance", "compressed", "ccd has its own lists of words of decision, correction and constraint: one kind more or less changes a score by 0.25 at most", nearThreshold},
	{"importance, by other words (2)", "compressed", "preserved importance", "as before", nearThreshold},
	{
		"a correction stays", "compressed", "preserved correction", "a message that supersedes another is not merged",
		func(d *difference) bool { return d.ask.corrects },
	},
	{
		"what is superseded stays apart", "compressed merged_compressed", "contradicted", "a superseded message is marked even between merged messages",
		func(d *difference) bool { return d.ask.corrects },
	},
	{"the forced fit", "truncated", "", "ccd cuts to 512 chars, and then drops the oldest, after all rules and with --max-tokens; these cases run with the window of their budget", func(*difference) bool { return true }},
	{"error: compress()", "an error", "the list is taken", "IDs are optional in plain lists: ccd names a message by its position", nil},
}

// summaryRoom is the length in chars below which the shortest summary with its marker may not be shorter than the text.
const summaryRoom = 260

// nearThreshold reports whether different words for one fact could move a score across its threshold.
func nearThreshold(d *difference) bool { return math.Abs(d.importance-d.ask.importance) <= 0.255 }

// symbolsIn counts characters that are rare in prose.
func symbolsIn(s string) int {
	return strings.Count(strings.Map(func(r rune) rune {
		if strings.ContainsRune("{}[]<>=+\\|^~@$%&;", r) {
			return 0
		}
		return 'x'
	}, s), "\x00")
}

// deviationOf returns the deviation of a case, or nil.
func deviationOf(name string) *deviation {
	for i := range deviations {
		if deviations[i].is == name && deviations[i].holds == nil {
			return &deviations[i]
		}
	}
	return nil
}

// excuse returns the deviations that excuse a difference. If their decision has several hard reasons, each must be
// excused.
func excuse(d *difference) (names []string, ok bool) {
	for _, theirs := range allReasons(d.theirs) {
		found := ""
		for i := range deviations {
			v := &deviations[i]
			if v.holds != nil && strings.HasPrefix(theirs, v.theirs) && strings.HasPrefix(d.ours.action+" "+d.ours.reason, v.ours) && v.holds(d) {
				found = v.name()
				break
			}
		}
		if found == "" {
			return names, false
		}
		names = append(names, found)
	}
	return names, true
}

// allReasons returns a decision once for each of its hard reasons.
func allReasons(d decided) []string {
	hard, ok := strings.CutPrefix(d.reason, "hard_t0:")
	if !ok {
		return []string{d.action + " " + d.reason}
	}
	var all []string
	for _, r := range strings.Split(hard, ",") {
		all = append(all, d.action+" hard_t0:"+r)
	}
	return all
}

// outOfScope says why ccd cannot run a case with an option that it does not have.
func outOfScope(key string) string {
	for _, o := range foreign {
		if o.key == key {
			return key + ": " + o.why
		}
	}
	return key + ": an option that we do not have"
}

// foreign are the options of the pipeline engine that ccd does not have.
var foreign = []struct{ key, why string }{
	{"classifier", "no model is asked about a message"},
	{"agentToolPrepass", "lossy, before the rules"},
	{"compressionDepth", "--level sets how hard"},
	{"compressionThreshold", "ccd filters a list on request; with --max-tokens a list that fits is unchanged"},
	{"budgetStrategy", "the budget has its own order: the window, then the longest texts, then the oldest messages"},
	{"fuzzyThreshold", "a constant, as are the others of the rules"},
	{"contradictionTopicThreshold", "a constant, as are the others of the rules"},
	{"adapters", "formats are packages in internal/agent"},
	{"relevanceThreshold", "ccd keeps messages with a word of --focus instead"},
	{"conversationFlow", "not among the rules that ccd took over"},
	{"coreference", "not among the rules that ccd took over"},
	{"semanticClustering", "not among the rules that ccd took over"},
	{"clusterThreshold", "goes with semanticClustering"},
	{"discourseAware", "not among the rules that ccd took over"},
	{"entropyScorer", "asks a model"},
	{"entropyScorerMode", "goes with entropyScorer"},
	{"mlTokenClassifier", "asks a model"},
	{"observationThreshold", "in a session each kind of tool result has a strategy; in a list the rules decide"},
	{"tokenCounter", "one estimator everywhere: chars*4/3"},
}
