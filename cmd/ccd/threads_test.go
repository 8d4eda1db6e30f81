package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// rollout is a file of a conversation of Codex whose history is paginated.
type rollout struct {
	id, thread, base string
	end, turn        int // ordinal where it goes on in base; its first turn
	forked           string
}

const threadID, forkID = "01a20000-0000-7000-8000-000000000001", "01a20000-0000-7000-8000-000000000009"

func rolloutNo(n int) string { return fmt.Sprintf("01a20000-0000-7000-8000-0000000000a%d", n) }

// write writes the file with two turns of four records each, behind a header.
func (r rollout) write(t *testing.T, home string, minute int) {
	t.Helper()
	name, n := r.thread, r.end
	if r.id != r.thread {
		name += "_" + r.id
	}
	var b strings.Builder
	line := func(kind, payload string) {
		fmt.Fprintf(&b, `{"timestamp":"2026-09-14T08:%02d:%02d.000Z","type":%q,"payload":{%s},"ordinal":%d}`+"\n", minute, n%60, kind, payload, n)
		n++
	}
	meta := fmt.Sprintf(`"id":%q,"timestamp":"2026-09-14T08:00:00.000Z","cwd":"/home/me/shop","originator":"codex_cli_rs","cli_version":"0.153.4","source":"cli","history_mode":"paginated"`, r.thread)
	if r.base != "" {
		meta += fmt.Sprintf(`,"history_base":{"thread_id":%q,"end_ordinal_exclusive":%d}`, r.base, r.end)
	}
	if r.forked != "" {
		meta += fmt.Sprintf(`,"forked_from_id":%q`, r.forked)
	}
	line("session_meta", meta)
	for turn := r.turn; turn < r.turn+2; turn++ {
		line("response_item", fmt.Sprintf(`"type":"message","role":"user","content":[{"type":"input_text","text":"Ask TURN%d."}]`, turn))
		line("response_item", fmt.Sprintf(`"type":"function_call","name":"exec_command","arguments":"{\\"cmd\\": \\"make %d\\"}","call_id":"call_%[1]d"`, turn))
		line("response_item", fmt.Sprintf(`"type":"function_call_output","call_id":"call_%d","output":"Chunk ID: a\\nWall time: 0.1 seconds\\nProcess exited with code 0\\nOutput:\\nmade %[1]d"`, turn))
		line("response_item", fmt.Sprintf(`"type":"message","role":"assistant","content":[{"type":"output_text","text":"Said %d."}]`, turn))
	}
	put(t, filepath.Join(home, ".codex/sessions/2026/09/14", fmt.Sprintf("rollout-2026-09-14T08-%02d-00-%s.jsonl", minute, name)), b.String())
}

// TestConversationOfSeveralFiles: the files that an agent begins when its user goes back are one session, of which what was taken
// back is marked in each view, a fork begins with what it was made from, and each number restores the record that it names.
func TestConversationOfSeveralFiles(t *testing.T) {
	home := t.TempDir()
	all := []rollout{
		{id: threadID, thread: threadID, turn: 1},
		{id: rolloutNo(1), thread: threadID, base: threadID, end: 5, turn: 3},                                                                                    // after turn 1
		{id: rolloutNo(2), thread: threadID, base: rolloutNo(1), end: 10, turn: 5},                                                                               // after turn 3
		{id: forkID, thread: forkID, base: rolloutNo(2), end: 15, turn: 7, forked: threadID},                                                                     // after turn 5
		{id: rolloutNo(4), thread: threadID, base: threadID, end: 5, turn: 9},                                                                                    // after turn 1 again
		{id: rolloutNo(5), thread: rolloutNo(5), base: "01a20000-0000-7000-8000-0000000000ff", end: 3, turn: 11, forked: "01a20000-0000-7000-8000-0000000000ff"}, // of one that is not there yet
	}
	states := func(session string) string {
		var b strings.Builder
		for line := range strings.Lines(done(t, home, "timeline", session)) {
			if _, turn, ok := strings.Cut(line, "Ask TURN"); ok {
				number, _, _ := strings.Cut(line, " ")
				back := ""
				if strings.Contains(line, "taken back") {
					back = "-"
				}
				b.WriteString(number + "=" + back + turn[:strings.IndexByte(turn, '.')] + " ")
			}
		}
		return b.String()
	}
	want := map[int]string{
		0: "#2=1 #6=2 ", 1: "#2=1 #6=-2 #11=3 #15=4 ", 2: "#2=1 #6=-2 #11=3 #15=-4 #20=5 #24=6 ",
		4: "#2=1 #6=-2 #11=-3 #15=-4 #20=-5 #24=-6 #29=9 #33=10 ",
	}
	for i, r := range all {
		r.write(t, home, i)
		once(t, home)
		if w := want[i]; w != "" && states(threadID) != w {
			t.Errorf("file %d: %s, want %s", i, states(threadID), w)
		}
	}
	if got := states(forkID); got != "#2=1 #6=-2 #11=3 #15=-4 #20=5 #25=7 #29=8 " {
		t.Errorf("the fork: %s", got)
	}
	if got := states(rolloutNo(5)); got != "#2=11 #6=12 " {
		t.Errorf("a fork of nothing: %s", got)
	}
	gone := "01a20000-0000-7000-8000-0000000000ff"
	rollout{id: gone, thread: gone, turn: 13}.write(t, home, 9)
	once(t, home)
	once(t, home)
	if got := states(rolloutNo(5)); got != "#2=13 #5=11 #9=12 " {
		t.Errorf("a fork whose origin came later: %s", got)
	}
	wants(t, done(t, home, "search", "TURN11."), rolloutNo(5)+"#5 ")
	listed := done(t, home, "ls")
	wants(t, listed, threadID+"\tAsk TURN1.", forkID+"\t[fork] Ask TURN7.", "!TURN3", "!TURN9", "!"+rolloutNo(4))
	for turn, n := range map[int]int{1: 2, 3: 11, 4: 15, 6: 24, 9: 29} {
		for _, session := range []string{threadID, rolloutNo(2), rolloutNo(4)} {
			if got := done(t, home, "restore", fmt.Sprintf("%s#%d", session, n)); got != fmt.Sprintf("Ask TURN%d.", turn) {
				t.Errorf("restore %s#%d: %s", session, n, got)
			}
		}
		place := fmt.Sprintf("%s#%d", threadID, n)
		wants(t, done(t, home, "search", fmt.Sprintf("TURN%d.", turn)), place)
		if back := strings.Contains(done(t, home, "search", fmt.Sprintf("TURN%d.", turn)), "taken back"); back != (turn != 1 && turn != 9) {
			t.Errorf("search of turn %d: taken back: %t", turn, back)
		}
	}
	event := fmt.Sprintf(`{"session_id":%q,"transcript_path":%q,"cwd":"/home/me/shop","hook_event_name":"SessionStart","source":"compact"}`,
		threadID, filepath.Join(home, ".codex/sessions/2026/09/14/rollout-2026-09-14T08-04-00-"+threadID+"_"+rolloutNo(4)+".jsonl"))
	_, told, _ := ccdIn(home, event, "hook", "--agent", "codex", "SessionStart")
	for _, view := range []string{done(t, home, "show", threadID), done(t, home, "export", threadID), told} {
		wants(t, view, "TURN1.", "TURN9.", "TURN3.", "taken back")
	}
	if id := done(t, home, "compact", threadID, "--stdout", "-q"); id != done(t, home, "show", threadID) {
		t.Error("the companion depends on how the session was read")
	}
	done(t, home, "resume", threadID, "--dry-run")
	whole := done(t, home, "timeline", threadID) + done(t, home, "timeline", forkID)
	for i, r := range all {
		paths, err := filepath.Glob(filepath.Join(home, ".codex/sessions/2026/09/14", fmt.Sprintf("rollout-2026-09-14T08-%02d-*.jsonl", i)))
		must(t, err)
		data := read(t, paths[0])
		if got := done(t, home, "restore", "--session", paths[0]); got != string(data) {
			t.Errorf("restore --session of %s differs", r.id)
		}
	}
	must(t, os.RemoveAll(filepath.Join(home, ".codex/sessions/2026")))
	if got := done(t, home, "timeline", threadID) + done(t, home, "timeline", forkID); got != whole {
		t.Error("without its transcripts it tells something else")
	}
	done(t, home, "archive", "verify")
	done(t, home, "archive", "forget", "--yes", threadID+"#11")
	wants(t, done(t, home, "show", threadID)+done(t, home, "show", forkID)+done(t, home, "search", "--all", "Ask"), "TURN1.", "!TURN3.")
}

// TestNoStartOffersWhatWasTakenBack: the companion of an earlier file of a conversation quotes turns that were taken back since, so no
// other session is offered it, though the file that took its place has none.
func TestNoStartOffersWhatWasTakenBack(t *testing.T) {
	home := t.TempDir()
	rollout{id: threadID, thread: threadID, turn: 1}.write(t, home, 0)
	once(t, home)
	done(t, home, "compact", threadID)
	start := fmt.Sprintf(`{"session_id":%q,"transcript_path":%q,"cwd":"/home/me/shop","hook_event_name":"SessionStart","source":"startup"}`,
		forkID, filepath.Join(home, ".codex/sessions/2026/09/14/rollout-2026-09-14T09-00-00-"+forkID+".jsonl"))
	offered := func() bool {
		_, told, _ := ccdIn(home, start, "hook", "--agent", "codex", "SessionStart")
		return strings.Contains(told, threadID)
	}
	if !offered() {
		t.Error("the only session with a companion is not offered")
	}
	rollout{id: rolloutNo(1), thread: threadID, base: threadID, end: 5, turn: 3}.write(t, home, 1)
	once(t, home)
	if offered() {
		t.Error("a file whose turns were taken back is offered")
	}
}

// TestForksOfClaudeCode: what a fork copies is one hit, in the session that it is from; the fork has its own title, and says that it is one.
func TestForksOfClaudeCode(t *testing.T) {
	home := t.TempDir()
	line := func(n int, kind, text, more string) string {
		parent := "null"
		if n > 1 {
			parent = fmt.Sprintf(`"u%d"`, n-1)
		}
		return fmt.Sprintf(`{"type":%q,"uuid":"u%d","parentUuid":%s,"timestamp":"2026-09-14T08:%02d:00.000Z","cwd":"/home/me/shop"%s,"message":{"id":"m%[2]d","role":%[1]q,"content":[{"type":"text","text":%[6]q}]}}`+"\n",
			kind, n, parent, n, more, text)
	}
	said := func(more string) string {
		return line(1, "user", "Build the export FORKASK", more) + line(2, "assistant", "Built it FORKANSWER", more)
	}
	put(t, transcriptPath(home, 1), said("")+line(3, "user", "Build the export FORKASK", ""))
	from := strings.TrimSuffix(filepath.Base(transcriptPath(home, 1)), ".jsonl")
	for n := 2; n < 4; n++ {
		put(t, transcriptPath(home, n), said(`,"forkedFrom":{"sessionId":"`+from+`","messageUuid":"u"}`)+line(10*n, "user", fmt.Sprintf("Own work FORKOWN%d", n), ""))
	}
	once(t, home)
	_, out, _ := ccdIn(home, "", "ls")
	wants(t, out, "[fork] Own work FORKOWN2", "[fork] Own work FORKOWN3", from+"\tBuild the export")
	_, out, _ = ccdIn(home, "", "search", "FORKANSWER")
	wants(t, out, from+"#2", "· 3 copies", "!equal")
	_, out, _ = ccdIn(home, "", "search", "FORKASK")
	wants(t, out, from+"#1", "· 3 copies · and 1 equal")
	_, out, _ = ccdIn(home, "", "ls", "--json")
	wants(t, out, `"forked_from": "`+from+`"`)
}
