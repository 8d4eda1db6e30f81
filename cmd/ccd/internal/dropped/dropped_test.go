package dropped

import (
	"errors"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// workday is a session in which every class has a fact that the summary keeps and one that it drops.
func workday() *log {
	l := &log{agent: "claude-code"}
	l.human("Mill the rye at 40 rpm and never touch the oats.")
	l.say("The rye is milled at 40 rpm.")
	l.human("Now weigh every sack of barley before noon.")
	for _, name := range []string{"src/wheel.go", "src/stone.go"} {
		l.do("Edit", object{"file_path": "/home/me/mill/" + name, "old_string": "a", "new_string": "b"}, "The file has been updated.", false)
	}
	l.run("go vet ./wheel", "", 0)
	l.run("go test ./stone", "ok  \tmill/stone\t0.1s", 0)
	l.run("make wheel", "wheel.go:7: error: the wheel is stuck", 2)
	l.run("make sieve", "fatal: no water in the race", 1)
	l.do("AskUserQuestion", object{"questions": []object{{"question": "Which stone is used for the grain?"}}}, "User has answered your questions: \"Which stone is used for the grain?\"=\"granite\"", false)
	l.run("git commit -m 'Mend the race of the mill'", "[main 9f31c07] Mend the race of the mill\n 1 file changed", 0)
	l.run("git commit -m 'Sharpen the millstones'", "[main 5cd0e11] Sharpen the millstones\n 1 file changed", 0)
	l.run("git commit -m 'Grease the axle'", "[main 77ab12c] Grease the axle\n 1 file changed", 0)
	return l
}

const handed = `Summary: The user wrote: mill the rye at 40 rpm and never touch the oats. The rye is milled at 40 rpm.
- edited src/wheel.go
- ran go vet ./wheel
- make wheel fails: the wheel is stuck
` + "- committed `9f31c07d2`\n- committed: sharpen the millstones"

func TestEachClass(t *testing.T) {
	l := workday()
	l.compact(handed)
	l.say("On with src/stone.go.")
	r := l.report(t, Choice{Told: "ran go test ./stone, git commit -m 'Grease the axle'\n> src/stone.go #10\n## #3 human: \"read #10\"\nexit 1: #15\n"})
	for class, want := range map[Class][]string{
		Decisions: {`"Which stone is used for the grain?": "Which stone is used for the grain?"="granite" = answered`},
		Asked:     {"Now weigh every sack of barley before noon."},
		Files:     {"src/stone.go"},
		Checks:    {"go test ./stone = exit 0"},
		Failures:  {"make sieve = exit 1"},
		Commits:   {"77ab12c Grease the axle"},
	} {
		if diff := cmp.Diff(want, texts(r, class)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", class, diff)
		}
	}
	if r.Facts != r.Kept+r.Dropped || r.Kept != 6 || r.Dropped != 6 || r.InTold != 2 || r.Trigger != "auto" || r.Tokens != 155000 || r.Summary == "" {
		t.Errorf("%d facts, %d kept, %d dropped, %d told, %s, %d tokens, %q", r.Facts, r.Kept, r.Dropped, r.InTold, r.Trigger, r.Tokens, r.Summary)
	}
	lines := map[int]int{}
	for _, c := range r.Classes {
		for _, one := range c.List {
			if one.InTold {
				lines[one.Record] = one.Line
			}
			if one.Record >= r.Record || one.ID == "" {
				t.Errorf("%s %q: #%d %s is no original from before the compaction", c.Class, one.Text, one.Record, one.ID)
			}
		}
	}
	if diff := cmp.Diff(map[int]int{3: 3, 14: 4}, lines); diff != "" {
		t.Errorf("records and the lines that tell them (-want +got):\n%s", diff)
	}
}

// TestQuoted: a summary quotes a message also if the message is short, or if little of it is left out, or what was pasted into it.
func TestQuoted(t *testing.T) {
	const paste = "2026-01-15 09:00:08 |DEBUG| wheel=3 speed=40 state=idle\n2026-01-15 09:00:09 |DEBUG| wheel=3 speed=0 state=stuck\n"
	for message, kept := range map[string]bool{
		"fix it up": true,
		"The wheel stops again after each full turn:\n" + paste + "and this is a second one:\n" + paste: true,
		"The wheel stops again after each full turn. Grease it with tallow, not with butter.":           false,
		"up": false,
		"Weigh every sack of barley before noon, then close the mill (also tell me which stone it was)":             true,
		"look at https://mill.example/wheels/12/the-wheel-stops-after-each-turn first, I wrote it down a while ago": true,
		"oh no we have a gate stuck? branch mill/gate-12-lower-water-wheel-house":                                   false,
	} {
		l := &log{agent: "claude-code"}
		l.human(message)
		l.say("Yes.")
		l.compact("The user wrote:\n- \"fix it up\"\n- \"The wheel stops again after each full turn: [log] and this is a second one: [log]\"\n- \"weigh every sack of barley before noon, then close the mill\"\n- \"look at https://mill.example/wheels/12/... first, I wrote it down a while ago\"\n- pull branch mill/gate-12-lower-water-wheel-house")
		if r := l.report(t, Choice{}); r.Kept != map[bool]int{true: 1}[kept] {
			t.Errorf("%q: %d kept of %d", message, r.Kept, r.Facts)
		}
	}
}

// A summary that says nothing keeps nothing but what is preserved.
func TestPreserved(t *testing.T) {
	l := workday()
	l.compact("The mill is closed.")
	none := l.report(t, Choice{})
	l.lines = l.lines[:len(l.lines)-2]
	l.compact("The mill is closed.", "u-1", "u-3")
	if r := l.report(t, Choice{}); none.Kept != 0 || r.Kept != 2 || r.Preserved != 2 || r.Facts != none.Facts {
		t.Errorf("kept %d, then %d of %d, %d preserved", none.Kept, r.Kept, r.Facts, r.Preserved)
	}
}

func TestSeveral(t *testing.T) {
	l := workday()
	l.compact(handed)
	l.human("Now the barley pot with its wooden cover.")
	l.human("Then put it on the table beside the window.")
	l.compact("Only the oats are left.")
	last, first := l.report(t, Choice{}), l.report(t, Choice{Boundary: 1})
	if last.Boundary != 2 || last.Boundaries != 2 || last.Facts != 2 || last.Dropped != 2 {
		t.Errorf("the last: %d of %d, %d facts, %d dropped", last.Boundary, last.Boundaries, last.Facts, last.Dropped)
	}
	if first.Boundary != 1 || first.Boundaries != 2 || first.Dropped != 6 {
		t.Errorf("the first: %d of %d, %d dropped", first.Boundary, first.Boundaries, first.Dropped)
	}
	if _, err := l.of(Choice{Boundary: 3}); !errors.As(err, new(*NoneError)) {
		t.Errorf("compaction 3 of 2: %v", err)
	}
}

func TestNone(t *testing.T) {
	copied := &log{agent: "claude-code"}
	copied.claude("user", object{"isCompactSummary": true}, "This session is being continued. ccd wrote this.")
	copied.say("On.")
	for name, l := range map[string]*log{"never compacted": workday(), "begins with a summary": copied, "empty": {agent: "claude-code"}} {
		_, err := l.of(Choice{})
		var none *NoneError
		if !errors.As(err, &none) || none.Compactions != 0 || (none.Summary > 0) != (l == copied) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// Codex writes the new context into the boundary: a message in it is kept, an encrypted part is not compared.
func TestCodex(t *testing.T) {
	const says, barley = `{"type":"response_item","payload":{"type":"message","role":"%s","content":[{"type":"%s_text","text":"%s"}]}}`, "Now weigh every sack of barley before noon."
	l := &log{agent: "codex", lines: []string{
		fmt.Sprintf(says, "user", "input", "Mill the rye at 40 rpm and never touch the oats."), fmt.Sprintf(says, "user", "input", barley),
		`{"type":"response_item","payload":{"type":"function_call","name":"exec_command","arguments":"{\"cmd\":\"make sieve\"}","call_id":"c1"}}`,
		`{"type":"response_item","payload":{"type":"function_call_output","call_id":"c1","output":"Chunk ID: a1b2c3\nWall time: 0.1 seconds\nProcess exited with code 1\nOutput:\nfatal: no water in the race"}}`,
		fmt.Sprintf(says, "assistant", "output", "The sieve is broken and needs a new frame of oak."),
		`{"type":"compacted","payload":{"message":"","replacement_history":[{"type":"message","role":"user","content":[{"type":"input_text","text":"` + barley + `"}]},{"type":"compaction","encrypted_content":"abc"}]}}`,
	}}
	r := l.report(t, Choice{})
	if diff := cmp.Diff([]string{"Mill the rye at 40 rpm and never touch the oats."}, texts(r, Asked)); diff != "" {
		t.Errorf("asked (-want +got):\n%s", diff)
	}
	if !r.Sealed || r.Preserved != 1 || len(texts(r, Failures)) != 1 {
		t.Errorf("%+v", r)
	}
}
