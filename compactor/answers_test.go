package compactor

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"ccd/compactor/lexicon"
	"ccd/internal/mark"
)

// talked is a session of so many turns, each with an answer of so many sentences in the middle of it.
func talked(turns, sentences int) *script {
	s := newScript()
	for n := range turns {
		s.human(fmt.Sprintf("Look at gate %d and tell me what is wrong with it.", n))
		s.bash(fmt.Sprintf("make gate%d", n), strings.Repeat("building a unit of it\n", 40))
		var b strings.Builder
		fmt.Fprintf(&b, "Gate %d hangs because its upper hinge has rusted through.\n\n", n)
		for i := range sentences {
			fmt.Fprintf(&b, "The keeper of gate %d wrote that there was weather on day %d of the month. ", n, i)
		}
		fmt.Fprintf(&b, "\n\nThe valve is `turnWheel%d` and it wants 3%d bar.\n\nNext I would oil hinge %d, or do you want a new one?", n, n, n)
		s.say(b.String())
	}
	return s
}

// What the agent told the human at the end of a turn stands below what was asked: whole where it is short, else its best
// sentences with its ID; and nowhere else.
func TestAnswersStandBelowWhatWasAsked(t *testing.T) {
	for _, c := range []struct {
		name      string
		sentences int
		tokens    int
		whole     bool
	}{
		{"short", 2, 72000, true}, {"long", 60, 72000, false}, {"long, small", 60, 16000, false},
	} {
		s := talked(6, c.sentences)
		s.human("Go on with all of them.")
		s.padded()
		f := fold(t, s.buf.Bytes(), tokensOf(c.tokens))
		out := f.compact(t)
		f.check(t, out)
		asked := out.part("Asked")
		for n := range 6 {
			_, turn, _ := strings.Cut(asked, fmt.Sprintf("> Look at gate %d and", n))
			turn, _, _ = strings.Cut(turn, "> Look at")
			wants(t, turn, "[ccd ", " answer", fmt.Sprintf("Gate %d hangs because its upper hinge has rusted through.", n))
			if c.tokens > 40000 {
				wants(t, turn, fmt.Sprintf("`turnWheel%d`", n), "or do you want a new one?")
			}
			if got := strings.Count(turn, "on day "); c.whole != (got == c.sentences) {
				t.Errorf("%s: turn %d has %d sentences of %d:\n%s", c.name, n, got, c.sentences, turn)
			}
			if got := strings.Count(out.all(), fmt.Sprintf("Gate %d hangs because", n)); got != 1 {
				t.Errorf("%s: the answer of turn %d begins %d times", c.name, n, got)
			}
		}
	}
}

// An answer that Recent shows whole stands in State in one sentence.
func TestAnAnswerIsNotToldTwice(t *testing.T) {
	s := talked(70, 18)
	s.human("And now?")
	s.bash("make all", "fine")
	f := fold(t, s.buf.Bytes(), Defaults())
	out := f.compact(t)
	f.check(t, out)
	whole := 0
	for n := range 70 {
		whole += strings.Count(out.section("Recent"), fmt.Sprintf("> Gate %d hangs because", n))
		for _, said := range []string{"The keeper of gate %d wrote that there was weather on day 7 of the month", "The valve is `turnWheel%d`"} {
			if got := strings.Count(out.all(), fmt.Sprintf(said, n)); got > 1 {
				t.Errorf("turn %d: %q stands %d times", n, said, got)
			}
		}
	}
	if whole == 0 {
		t.Error("Recent has no answer")
	}
}

// An answer that calls follow did not end its turn, and says so.
func TestAnAnswerThatCallsFollow(t *testing.T) {
	s := newScript()
	s.human("Build it.")
	s.say("First I look at what there is.")
	s.bash("ls", "a b c")
	s.human("Stop.")
	wants(t, stateOf(t, s.padded()), "   #2 answer, calls follow:\n   > First I look at what there is.\n")
}

// Sentences are chosen by where they stand and what they name, in any language.
func TestAnswersInAnyLanguage(t *testing.T) {
	for language, text := range map[string][3]string{
		"Chinese":  {"出口四舍五入了两次，所以少了一分钱。", "今天河边的天气很好没有什么要说的。", "要我现在推送到分支 fix/cents 吗？"},
		"Japanese": {"夜間の出力が二度丸めているので一円ずれます。", "川の天気については何も言うことがありません。", "このまま fix/cents に push しますか？"},
		"German":   {"Der Export rundet zweimal, daher fehlt ein Cent.", "Über das Wetter am Fluss gibt es nichts zu sagen.", "Soll ich den Zweig fix/cents jetzt hochladen?"},
		"Russian":  {"Экспорт округляет дважды, поэтому не хватает копейки.", "О погоде у реки сказать больше нечего совсем.", "Отправить ветку fix/cents сейчас?"},
	} {
		long := text[0] + "\n\n" + strings.Repeat(text[1]+" ", 60) + "\n\n" + text[2]
		got := Excerpt(long, 200)
		wants(t, got, text[0], text[2])
		if n := lexicon.Chars(got); n > 200 {
			t.Errorf("%s: %d chars", language, n)
		}
	}
}

// A list is one piece with the line that leads to it; where it does not fit, that line stands for it.
func TestListsAreNotCut(t *testing.T) {
	list := "1. integers everywhere\n2. `Decimal`, which is slower\n\n3. floats as they are"
	text := "It rounds twice.\n\nThere are three ways out of it:\n\n" + list + "\n\nI would take the first.\n\n| way | ms |\n|---|---|\n| 1 | 41 |\n\nDone."
	all := lexicon.Pieces(text)
	var texts []string
	for _, p := range all {
		texts = append(texts, p.Text)
	}
	want := []string{"It rounds twice.", "There are three ways out of it:\n" + list, "I would take the first.", "Done."}
	if !slices.Equal(texts, want) {
		t.Errorf("pieces are %q, want %q", texts, want)
	}
	if got := mark.Inline(Excerpt(text, 85), 0); strings.Contains(got, "integers") || !strings.Contains(got, "three ways out of it:") {
		t.Errorf("a list that does not fit: %q", got)
	}
}
