package compactor

import (
	"fmt"
	"strings"
	"testing"

	"ccd/compactor/lexicon"
	"ccd/internal/transcript"
)

// told is a session's companion, held against the laws.
func told(t *testing.T, s *script, o Options) *Compaction {
	t.Helper()
	f := folding(t, s.buf.Bytes(), o)
	c := f.compact(t)
	f.check(t, c)
	return c
}

// inOrder fails where texts do not stand in a text one behind the other.
func inOrder(t *testing.T, text string, want ...string) {
	t.Helper()
	rest := text
	for _, w := range want {
		_, after, ok := strings.Cut(rest, w)
		if !ok {
			t.Errorf("missing, or not in order: %q in\n%s", w, text)
			return
		}
		rest = after
	}
}

func TestHumanMessagesStandInOrder(t *testing.T) {
	paste := strings.Repeat("the same paste of a log line\n", 20)
	s := newScript()
	s.human("First, count the cents.\nThen *count* them again.")
	s.say("It is done. Shall I count the euros as well?")
	s.human("yes please")
	s.human(strings.Repeat("A long paste about invoices. ", 200) + "The very end.")
	s.human(paste)
	s.line("user", map[string]any{"role": "user", "content": "<system-reminder>machine text</system-reminder>"}, map[string]any{"isMeta": true})
	s.human(paste)
	s.at = s.at.AddDate(0, 0, 1)
	s.padded()
	s.human("The last of all.")
	c := told(t, s, tokensOf(13333))
	inOrder(t, c.section("Conversation"), "### 1 · #1 2026-03-04T09:00Z\n> First, count the cents.\n> Then *count* them again.\n",
		"### 2 · #3 09:00Z, to #2: \"Shall I count the euros as well?\"\n> yes please\n", "### 3 · #4 09:00Z\n> A long paste about invoices. ",
		" cut, 5813 chars]\n", "The very end.\n", "### 4 · #5 09:00Z\n[ccd ", " dup of #7, 580 chars]\n", "### 5 · #7 09:00Z\n> the same paste", "### 6 · #82 2026-03-05T")
	wants(t, c.section("Now"), "Asked last (#438 2026-03-05T09:51Z):\n> The last of all.\n")
	wantsNot(t, c.all(), "machine text")
	if n := strings.Count(c.all(), "the same paste"); n != 20 {
		t.Errorf("%d lines of the paste stand, want 20", n)
	}
	if n := strings.Count(c.all(), "> The last of all."); n != 1 {
		t.Errorf("the last message stands %d times", n)
	}
}

// What there is no room for is counted, and stands under an ID.
func TestMessagesBeyondTheRoomAreCounted(t *testing.T) {
	s := newScript()
	s.human("The first wish of all.")
	for i := range 600 {
		s.say("Done.")
		s.human(fmt.Sprintf("Wish number %d: %s", i, strings.Repeat("do more of it. ", 30)))
	}
	s.human("The newest wish.")
	c := told(t, s, tokensOf(13333))
	wants(t, c.section("Now"), "> The newest wish.")
	wants(t, c.section("Conversation"), "> The first wish of all.", "[ccd ", " range of ", " messages]\n")
	if k := c.Header.KeyInformation; k.Recoverable < 200 || k.Lost > 0 || c.Header.Verified {
		t.Errorf("key information = %+v, verified: %t", k, c.Header.Verified)
	}
}

// Where there is little room, the conversation gets the most of it.
func TestTheConversationHasTheLargestShare(t *testing.T) {
	s := newScript()
	for i := range 12 {
		s.human(fmt.Sprintf("Message %d: %s", i, strings.Repeat("count the cents of the invoices and keep them whole. ", 12)))
		for j := range 8 {
			s.bash(fmt.Sprintf("make part%d-%d with some words behind it, so that it is long", i, j), "fine")
			s.fails(fmt.Sprintf("pytest -q tests/test_%d_%d.py", i, j), "E   AssertionError: Money(48212) != Money(48213)\n1 failed", 1)
		}
	}
	c := told(t, s.padded(), tokensOf(20000))
	said, all := lexicon.Chars(c.section("Conversation")), lexicon.Chars(c.all())
	if said*4 < all {
		t.Errorf("the conversation has %d of %d chars", said, all)
	}
	for _, sec := range c.Sections {
		if n := lexicon.Chars(sec.Body); sec.Name != "Now" && n > said {
			t.Errorf("%s has %d chars, the conversation %d", sec.Name, n, said)
		}
	}
}

const refusal = "The user doesn't want to proceed with this tool use. The tool use was rejected (eg. if it was a file edit, the new_string was NOT written to the file). To tell you how to proceed, the user said:\n"

// Questions stand with their options and the answer, plans and calls that were refused with the reason, and what was set
// for good under Rules.
func TestQuestionsRefusalsAndRules(t *testing.T) {
	s := newScript()
	s.human("Count the cents. You must never use floats. Thanks for all of it.")
	s.say("I look first. Or would you choose decimals?")
	s.human("No, use the other parser.")
	s.do("AskUserQuestion", map[string]any{"questions": []any{map[string]any{
		"question": "Which way?", "options": []any{map[string]any{"label": "Integers"}, map[string]any{"label": "Decimals"}},
	}}}, `User has answered your questions: "Which way?"="Integers". You can now continue with the user's answers in mind.`)
	s.call("r-1", "Bash", map[string]any{"command": "git push --force"})
	s.result("r-1", refusal+"never force-push this branch", true)
	plan := map[string]any{"plan": "# The plan\n\n- one\n- two"}
	s.call("r-2", "ExitPlanMode", plan)
	s.result("r-2", refusal+"not without tests", true)
	s.do("ExitPlanMode", plan, "User has approved your plan. You can now start coding.")
	c := told(t, s.padded(), Defaults())
	inOrder(t, c.section("Conversation"), "### 2 · #3 09:00Z, to #2: \"Or would you choose decimals?\"\n> No, use the other parser.",
		"### 3 · #5 09:00Z, to #4 (options: Integers · Decimals)\n> \"Which way?\"=\"Integers\"\n",
		"### 4 · #7 09:00Z, refused #6 Bash `git push --force`\n> never force-push this branch\n",
		"### 5 · #9 09:01Z, refused the plan #8 `# The plan` [ccd ", " cut, the plan]\n> not without tests\n",
		"### 6 · #11 09:01Z, approved the plan #10 `# The plan` [ccd ")
	rules := c.section("Rules")
	inOrder(t, rules, "- Refused ExitPlanMode `# The plan` (#8): \"not without tests\"", "- Refused Bash `git push --force` (#6): \"never force-push this branch\"",
		"- \"No, use the other parser.\" (#3)", "- \"You must never use floats.\" (#1)")
	wantsNot(t, rules, "Thanks for all", "approved", "decimals")
	wants(t, c.section("Commands"), "- #6 `git push --force` -> refused by the human (#7)\n")
}

// A rule that is set again stands once, where it was set last.
func TestRulesStandOnce(t *testing.T) {
	s := newScript()
	for range 3 {
		s.human("You must never use floats.")
		s.say("No floats.")
		s.human("Go on with the next one.")
	}
	rules := told(t, s.padded(), Defaults()).section("Rules")
	if n := strings.Count(rules, "never use floats"); n != 1 {
		t.Errorf("the rule stands %d times:\n%s", n, rules)
	}
	wants(t, rules, "- \"You must never use floats.\" (#7)\n")
}

func TestTasksOfSubAgents(t *testing.T) {
	s := newScript()
	s.line("user", map[string]any{"role": "user", "content": "Find every float on a money path."}, map[string]any{"isSidechain": true, "agentId": "a1"})
	s.built()
	f := foldingAs(t, "claude-code", transcript.SubAgent, s.buf.Bytes(), Defaults())
	c := f.compact(t)
	f.check(t, c)
	wants(t, c.section("Now"), "Task given by the parent session (#1 2026-03-04T09:00Z):\n> Find every float on a money path.")
}

// talked is a session of so many turns, each with an answer that has so many sentences in its middle.
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
		sentences, tokens int
		whole             bool
	}{{2, 72000, true}, {200, 72000, false}, {60, 16000, false}} {
		s := talked(6, c.sentences)
		s.human("Go on with all of them.")
		out := told(t, s.padded(), tokensOf(c.tokens))
		for n := range 6 {
			turn := out.part(fmt.Sprintf("%d · #%d ", n+1, 4*n+1))
			inOrder(t, turn, fmt.Sprintf("> Look at gate %d and", n), "[ccd ", " answer", fmt.Sprintf("Gate %d hangs because its upper hinge has rusted through.", n))
			if c.tokens > 40000 {
				wants(t, turn, fmt.Sprintf("`turnWheel%d`", n), "or do you want a new one?")
			}
			if got := strings.Count(turn, "on day "); c.whole != (got == c.sentences) {
				t.Errorf("%d sentences, %d tokens: turn %d has %d:\n%s", c.sentences, c.tokens, n, got, turn)
			}
			if got := strings.Count(out.all(), fmt.Sprintf("Gate %d hangs because", n)); got != 1 {
				t.Errorf("%d sentences, %d tokens: the answer of turn %d begins %d times", c.sentences, c.tokens, n, got)
			}
		}
	}
}

// The last answer stands under Now alone, at any size, and one that calls follow says so.
func TestTheLastAnswerStandsOnce(t *testing.T) {
	s := newScript()
	s.human("Build it.")
	s.say("First I look at what there is.")
	s.bash("ls", "a b c")
	s.human("Count the cents of the invoices.")
	s.built()
	s.say("All of it is counted: 48,213 cents. " + strings.Repeat("Nothing else is known of it. ", 30))
	for _, budget := range []int{72000, 20000, 13333, 8000, 4000} {
		c := told(t, s, tokensOf(budget))
		if n := strings.Count(c.all(), "All of it is counted"); n != 1 {
			t.Errorf("%d tokens: the answer stands %d times:\n%s", budget, n, c.all())
		}
		wants(t, c.section("Now"), "Answered last (#66 2026-03-04T09:07Z) ", "All of it is counted: 48,213 cents.")
		wants(t, c.section("Conversation"), "#2 answer, calls follow: First I look at what there is.\n")
	}
}

// A list is one piece with the line that leads to it: where it does not stand, that line does not either, unless alone.
func TestListsAreNotCut(t *testing.T) {
	list := "1. integers everywhere\n2. `Decimal`, which is slower\n\n3. floats as they are"
	s := newScript()
	s.human("What can we do?")
	s.say("It rounds twice.\n\nThere are three ways out of it:\n\n" + list + "\n\n" + strings.Repeat("There is more to say about the weather of that day. ", 200) + "\n\nI would take the first.")
	s.human("Go on.")
	for _, tokens := range []int{72000, 8000, 4000} {
		turn := told(t, s.padded(), tokensOf(tokens)).part("1 · #1 ")
		if n := strings.Count(turn, "integers everywhere") + strings.Count(turn, "which is slower") + strings.Count(turn, "floats as they are"); n != 0 && n != 3 {
			t.Errorf("%d tokens: %d of 3 items stand:\n%s", tokens, n, turn)
		}
	}
}
