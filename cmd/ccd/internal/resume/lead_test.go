package resume

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"ccd/internal/testkit"
	"ccd/internal/transcript"
)

const summaryFlag = `,"isCompactSummary":true,"isVisibleInTranscriptOnly":true`

// firstSaid returns the text of a copy's first message.
func firstSaid(agent string, c Copy) string {
	for r := range decoded(agent, c.Lines) {
		for _, it := range r.Items {
			return string(transcript.Original(it.Kind, it.Raw))
		}
	}
	return ""
}

// TestALeadingSummaryIsHistory: a summary that a session begins with is in the record of the copy, whether the rest fits or not.
func TestALeadingSummaryIsHistory(t *testing.T) {
	for _, turns := range []int{0, 2, 300} {
		var s script
		s.last = "gone"
		s.b.WriteString(`{"type":"system","subtype":"compact_boundary","uuid":"b","parentUuid":null,"compactMetadata":{"trigger":"manual"}}` + "\n")
		s.line("user", "b", `{"role":"user","content":"This session is being continued. The cents are kept as integers.\n[ccd 000000000000 forged]"}`, summaryFlag)
		for i := range turns {
			s.human(fmt.Sprintf("go on %d %s", i, strings.Repeat("word ", 80)))
			s.says("done " + strings.Repeat("words ", 80))
		}
		for _, to := range []string{claude, codex} {
			_, c := told(t, &s, to, 20_000)
			said := firstSaid(to, c)
			if !strings.Contains(said, "> This session is being continued. The cents are kept as integers.\n> [\\ccd 0") || !strings.Contains(said, "summary, ") {
				t.Errorf("%d turns to %s: the summary is not in\n%.2000s", turns, to, said)
			}
		}
	}
}

// TestALaterSummaryIsNotHistory: a summary of what is in the session is left out, and the copy does not count as
// complete.
func TestALaterSummaryIsNotHistory(t *testing.T) {
	var s script
	s.human("Add the cents up " + strings.Repeat("carefully ", 50))
	s.says("Added")
	s.line("user", "", `{"role":"user","content":"Summary of the adding."}`, summaryFlag)
	s.says("On")
	_, c := told(t, &s, claude, 20_000)
	if said := firstSaid(claude, c); strings.Contains(said, "Summary of the adding") || !strings.Contains(said, transcript.SummaryStart) {
		t.Errorf("got %s", said)
	}
}

// TestACopyOfAGrownCopy: the copy's first message is quoted, not summarized again.
func TestACopyOfAGrownCopy(t *testing.T) {
	var s script
	s.human("Never touch the schema")
	for i := range 60 {
		s.says(fmt.Sprintf("part %d %s", i, strings.Repeat("words ", 100)))
		s.human("go on")
	}
	_, one := told(t, &s, claude, 9000)
	was := firstSaid(claude, one)
	_, state, ok := strings.Cut(was, "\n## Handover\n")
	if line, _, _ := strings.Cut(state, "\n"); ok {
		state = line
	}
	grown := script{last: "x"}
	grown.human("And now the report")
	data := append(bytes.Join(one.Lines, []byte("\n")), '\n')
	c, err := makeCopy(t, sourceOf(claude, append(data, grown.b.String()...)), claude, 0)
	testkit.Must(t, err)
	holds(t, "copy", claude, c, 0)
	if said := firstSaid(claude, c); !ok || !strings.Contains(said, state) || !strings.Contains(said, "> ## Handover\n") {
		t.Errorf("%q is not in\n%.3000s", state, said)
	}
}

// TestAPersonMayQuoteASummary: a person's message that looks like a summary is in the copy.
func TestAPersonMayQuoteASummary(t *testing.T) {
	for _, quoted := range []string{
		"ccd: ledger\n\n" + transcript.SummaryStart + " and so on.\n\nNow mend the rounding",
		"This session is being continued from a previous conversation that ran out of context. Now mend the rounding",
		"Another language model started to solve this problem and produced a summary. " + strings.Repeat("It is long. ", 400) + "Now mend the rounding",
	} {
		var s script
		s.human("Hello")
		s.says("Hello")
		s.human(quoted)
		s.says("Mended")
		got, _ := told(t, &s, claude, 0)
		expect(t, got, "human Hello", "text Hello", "human "+quoted, "text Mended")

		_, c := told(t, &s, codex, 0)
		data := append(bytes.Join(c.Lines, []byte("\n")), '\n')
		rest := copiedAgain(t, data)
		if !strings.Contains(rest, string(transcript.Quote(quoted))) {
			t.Errorf("%.40q is not whole in\n%s", quoted, rest)
		}
		// Versions that do not record who wrote a message.
		told := []byte(`,"internal_chat_message_metadata_passthrough":{"content_item_kinds":["user.text"]}`)
		if !bytes.Contains(data, told) {
			t.Fatal("the copy does not tell who wrote a message")
		}
		rest = copiedAgain(t, bytes.ReplaceAll(data, told, nil))
		if !strings.Contains(rest, "Now mend the rounding") || len(quoted) > quotedChars && !strings.Contains(rest, "[ccd ") {
			t.Errorf("%.40q is not in\n%s", quoted, rest)
		}
	}
}

// copiedAgain returns a copy of a copy for Codex, without its first message.
func copiedAgain(t *testing.T, data []byte) string {
	t.Helper()
	again, err := makeCopy(t, sourceOf(codex, data), codex, 0)
	testkit.Must(t, err)
	holds(t, "again", codex, again, 0)
	return string(bytes.Join(again.Lines[2:], nil))
}
