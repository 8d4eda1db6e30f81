package lexicon

import (
	"slices"
	"strings"
	"testing"
	"time"
)

func TestSentences(t *testing.T) {
	for text, want := range map[string][]string{
		"One. Two! Three?":                       {"One.", "Two!", "Three?"},
		"See config.yaml and v1.2.3. Then go.":   {"See config.yaml and v1.2.3.", "Then go."},
		"Use e.g. Go. Or not.":                   {"Use e.g. Go.", "Or not."},
		"- a bullet\n- another. With two.":       {"a bullet", "another.", "With two."},
		"1. First item\n2. Second item":          {"First item", "Second item"},
		"```go\ncode. Here.\n```\nAfter it.":     {"After it."},
		"no end":                                 {"no end"},
		"**Bold** stays. ":                       {"**Bold** stays."},
		"It ends with dots... and goes on. Yes.": {"It ends with dots... and goes on.", "Yes."},
		"":                                       nil,
		"This line was wrapped by a terminal that is narrower\n  than it, so it goes on below. Next.": {"This line was wrapped by a terminal that is narrower than it, so it goes on below.", "Next."},
		"A wrapped line whose rest begins with a variable that sets\n$SHELL to fish.":                 {"A wrapped line whose rest begins with a variable that sets $SHELL to fish."},
		"A long line without an end, below which there is a list of\n1. things":                       {"A long line without an end, below which there is a list of", "things"},
		"A long line without an end, and below it another one that\nBegins anew":                      {"A long line without an end, and below it another one that", "Begins anew"},
	} {
		if got := sentencesOf(text); !slices.Equal(got, want) {
			t.Errorf("Sentences(%q) = %q, want %q", text, got, want)
		}
	}
}

// sentencesOf are the sentences of a text.
func sentencesOf(text string) (all []string) {
	for _, s := range Sentences(text) {
		all = append(all, s)
	}
	return all
}

func TestSentencesAreLinear(t *testing.T) {
	for _, text := range []string{
		strings.Repeat("word ", 200000), strings.Repeat("a.b", 300000), strings.Repeat("ab-", 300000), strings.Repeat(". ", 400000),
	} {
		start := time.Now()
		for range Sentences(text) {
		}
		if took := time.Since(start); took > 3*time.Second {
			t.Errorf("%q...: %v", text[:9], took)
		}
	}
}

func TestSentencesEndInAnyScript(t *testing.T) {
	for line, want := range map[string]string{
		"門は開いた。次は閉じる。":  "門は開いた。",
		"「門は開いた。」と言った。": "「門は開いた。」",
		"本当か？はい。":       "本当か？",
		"ﾓﾝ｡ﾂｷﾞ":        "ﾓﾝ｡",
		"版は３．５だ。次":      "版は３．５だ。",
		"दरवाज़ा खुला है। अब बंद करो।": "दरवाज़ा खुला है।",
		"هل الباب مفتوح؟ نعم.":         "هل الباب مفتوح؟",
		"Use e.g. Go. Or not.":         "Use e.g. Go.",
		"100. The gate. The mill.":     "100. The gate.",
		"1999. The gate.":              "1999.",
		"no end":                       "no end",
	} {
		if got := line[:SentenceEnd(line)]; got != want {
			t.Errorf("the first sentence of %q is %q, want %q", line, got, want)
		}
	}
	for _, s := range []string{"a.", "a:", "है।", "مفتوح؟", "開いた。", "開いた？", "a…"} {
		if !EndsSentence(s) {
			t.Errorf("%q ends no sentence", s)
		}
	}
	for _, s := range []string{"", "a", "a,", "開いた", "है"} {
		if EndsSentence(s) {
			t.Errorf("%q ends a sentence", s)
		}
	}
}

// One rule of fences: a longer fence and one of tildes hide shorter and other ones.
func TestFencesHideWhatIsInside(t *testing.T) {
	for name, text := range map[string]string{
		"longer":     "One.\n````md\n```go\nIn. Side.\n```\n````\nTwo.",
		"tildes":     "One.\n~~~\n```\nIn. Side.\n~~~\nTwo.",
		"info":       "One.\n```\n```go\nIn. Side.\n```\nTwo.",
		"quoted":     "One.\n> ```\n> In. Side.\n> ```\nTwo.",
		"inline":     "One.\n```not a fence```\nTwo.",
		"never shut": "One.\nTwo.\n```\nIn. Side.",
	} {
		want := []string{"One.", "Two."}
		if name == "inline" {
			want = []string{"One.", "```not a fence```", "Two."}
		}
		if got := sentencesOf(text); !slices.Equal(got, want) {
			t.Errorf("%s: sentences %q", name, got)
		}
	}
}

func TestMarksOfLines(t *testing.T) {
	for line, want := range map[string]int{
		"- a": 2, "* a": 2, "+ a": 2, "• a": 4, "1. a": 3, "12) a": 4, "123. a": 5, "1999. a": 0, "-a": 0, "+5": 0, "1.5 a": 0, "a": 0, "": 0,
	} {
		if got := BulletLen(line); got != want {
			t.Errorf("the bullet of %q has %d bytes, want %d", line, got, want)
		}
	}
	for line, want := range map[string]string{"## a": "a", "> - [x] a": "a", "- a": "a", "#": "#", "a": "a"} {
		if got := line[LeadLen(line):]; got != want {
			t.Errorf("%q without its marks is %q, want %q", line, got, want)
		}
	}
}
