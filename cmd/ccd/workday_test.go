package main

import (
	"bytes"
	"cmp"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strings"
	"time"
)

// workday builds an invented session of Claude Code with every kind of fact.
type workday struct {
	buf                  bytes.Buffer
	at                   time.Time
	n                    int
	session, dir, branch string        // "" for the usual ones
	step                 time.Duration // between records, 0 for the usual one
	context              int           // tokens that the next reply reports, 0 for none
}

const ledgerDir = "/home/me/harbour"

func (w *workday) line(kind string, message any, extra map[string]any) {
	w.n++
	w.at = w.at.Add(cmp.Or(w.step, 41*time.Second))
	m := map[string]any{
		"type": kind, "uuid": fmt.Sprintf("u-%d", w.n), "timestamp": w.at.Format("2006-01-02T15:04:05.000Z"),
		"sessionId": cmp.Or(w.session, "7c1f0b52-3d64-4e8f-9a17-5b2e6d8c4f10"), "cwd": cmp.Or(w.dir, ledgerDir), "gitBranch": cmp.Or(w.branch, "berths"), "version": "2.1.0",
	}
	if message != nil {
		m["message"] = message
	}
	for k, v := range extra {
		m[k] = v
	}
	b, err := json.Marshal(m)
	if err != nil {
		panic(err)
	}
	w.buf.Write(append(b, '\n'))
}

func (w *workday) human(text string) {
	w.line("user", map[string]any{"role": "user", "content": text}, nil)
}

// pasted is a message of the human with a picture.
func (w *workday) pasted(text string, picture []byte) {
	source := map[string]any{"type": "base64", "media_type": "image/png", "data": base64.StdEncoding.EncodeToString(picture)}
	w.line("user", map[string]any{"role": "user", "content": []any{
		map[string]any{"type": "text", "text": text}, map[string]any{"type": "image", "source": source},
	}}, nil)
}

func (w *workday) reply(block map[string]any) {
	message := map[string]any{"role": "assistant", "id": fmt.Sprintf("msg-%d", w.n), "model": "some-model", "content": []any{block}}
	if w.context > 0 {
		w.context += 1250
		message["model"], message["usage"] = "claude-opus-4-5", map[string]any{"input_tokens": 8, "cache_read_input_tokens": w.context, "output_tokens": 120}
	}
	w.line("assistant", message, nil)
}

func (w *workday) say(text string) { w.reply(map[string]any{"type": "text", "text": text}) }

func (w *workday) do(tool string, input map[string]any, result string, failed bool) {
	id := fmt.Sprintf("toolu_%d", w.n)
	w.reply(map[string]any{"type": "tool_use", "id": id, "name": tool, "input": input})
	block := map[string]any{"type": "tool_result", "tool_use_id": id, "content": result}
	if failed {
		block["is_error"] = true
	}
	w.line("user", map[string]any{"role": "user", "content": []any{block}}, nil)
}

func (w *workday) bash(command, out string) {
	w.do("Bash", map[string]any{"command": command}, out, false)
}

func (w *workday) fails(command, out string, status int) {
	w.do("Bash", map[string]any{"command": command}, fmt.Sprintf("Exit code %d\n%s", status, out), true)
}

func (w *workday) read(name, content string) {
	var b strings.Builder
	n := 0
	for l := range strings.Lines(content) {
		n++
		fmt.Fprintf(&b, "%6d\t%s", n, l)
	}
	w.do("Read", map[string]any{"file_path": ledgerDir + "/" + name}, b.String(), false)
}

func (w *workday) edit(name, before, after string) {
	p := cmp.Or(w.dir, ledgerDir) + "/" + name
	w.do("Edit", map[string]any{"file_path": p, "old_string": before, "new_string": after}, "The file "+p+" has been updated.", false)
}

func (w *workday) todo(state ...string) {
	var todos []any
	for i, s := range state {
		todos = append(todos, map[string]any{
			"content": fmt.Sprintf("Move the %s berth plan to whole metres", wharf(i)), "status": s, "activeForm": "Moving",
		})
	}
	w.do("TodoWrite", map[string]any{"todos": todos}, "Todos have been modified successfully.", false)
}

func (w *workday) summary(text string) {
	w.line("system", nil, map[string]any{
		"subtype": "compact_boundary", "content": "Conversation compacted", "compactMetadata": map[string]any{"trigger": "auto", "preTokens": 1000},
	})
	w.line("user", map[string]any{"role": "user", "content": text}, map[string]any{"isCompactSummary": true})
}

var wharves = []string{"Alder", "Birch", "Cedar", "Damson", "Elder", "Fir", "Gorse", "Hazel", "Ivy", "Juniper", "Larch", "Maple"}

func wharf(i int) string {
	name := wharves[i%len(wharves)]
	if i >= len(wharves) {
		return fmt.Sprintf("%s%d", name, i/len(wharves)+1)
	}
	return name
}

// source is an invented file. No two lines and no two files are equal.
func (w *workday) source(i, lines int) string {
	var b strings.Builder
	for n := range lines {
		fmt.Fprintf(&b, "\tberth%d := plan%s.Slot(%d, tide+%d) // quay %d\n", n, wharf(i), n*7+i, n%5, (n*31+i*17)%97)
	}
	return b.String()
}

// output is the output of a test run, mostly noise.
func output(i, lines int, last string) string {
	var b strings.Builder
	for n := range lines {
		fmt.Fprintf(&b, "=== step %d-%d: moored vessel %d at quay %d\n", i, n, (n*13+i)%101, (n*7+i*3)%89)
	}
	return b.String() + last
}

func hits(i, n int) string {
	var b strings.Builder
	for k := range n {
		fmt.Fprintf(&b, "plan/%s/slot%d.go:%d: return draught * %d // checked by crew %d\n", strings.ToLower(wharf(i)), k, 20+k*3, k+i, (k*11+i)%37)
	}
	return b.String()
}

// rich is the whole session. With kind "summary" its agent has compacted it.
func rich(kind string) []byte {
	w := &workday{at: time.Date(2026, 4, 1, 8, 0, 0, 0, time.UTC)}
	w.human("The berth planner rounds 11.6 m down to 11 m, see https://berths.example/issues/411. Move it to whole centimetres. Don't touch the tide tables.")
	w.human(officeLetter())
	w.todo("in_progress", "pending", "pending")
	w.pasted("This is the quay that overlaps.", []byte("\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR\x00\x00\x02\x80\x00\x00\x01\xe0 invented"))
	for i := range 7 {
		w.module(i)
	}
	w.do("Task", map[string]any{"description": "survey the callers", "prompt": "Which callers pass metres?"}, survey(), false)
	w.do("WebFetch", map[string]any{"url": "https://berths.example/rules", "prompt": "draught limits"},
		"Rules of the harbour: https://berths.example/rules/draught\n"+strings.Repeat("A vessel keeps clear of the quay by a tenth of its beam. ", 30), false)
	w.bash("rm plan/old_rounding.go", "")
	if kind == "summary" {
		w.summary(ownSummary())
	}
	w.at = w.at.Add(3 * time.Hour)
	w.fails("make publish", "publishing\nerror: registry refused the image: quota of 40 GB is used up", 2)
	w.todo("completed", "completed", "in_progress")
	w.human("Good. What is left?")
	w.bash("git log --oneline -1", "9f31c07 Berths in whole centimetres")
	w.say("I looked at what the last commit holds before answering.")
	w.say("Two of the three plans are in whole centimetres as of 9f31c07; the tests of both pass. What is left is the Cedar plan, and `make publish`, which the registry refuses until somebody frees space. " +
		"I would free the images that are older than 90 days first, then publish, then move Cedar.")
	return w.buf.Bytes()
}

// officeLetter is a message of over 2,000 chars with its rule in the middle.
func officeLetter() string {
	log := strings.Repeat("08:14 quay 12 reports a vessel of 186 m, draught 11.6 m, booked as 11 m. ", 20)
	return "This is what the harbour office wrote.\n" + log + "\nThe audit table must never be truncated by a migration run.\n" + log + "\nThat is all they said."
}

func survey() string {
	return "I found four callers of SlotFor. planAlder and planBirch pass metres as float64; ferryTimetable and towBooking pass centimetres already. " +
		"Only the first two need a change. " + strings.Repeat("The rest of the calls stand in tests and follow their plan. ", 12)
}

// ownSummary is an agent's incomplete summary of the session.
func ownSummary() string {
	return "This session is being continued. The berth planner is moved to whole centimetres; planAlderDepth and planBirchDepth are done. " +
		strings.Repeat("The tide tables stay as they are, and so do the pilots' notes. ", 40)
}

// module is one round of work: look, decide, change, fail, fix, pass.
func (w *workday) module(i int) {
	name := wharf(i)
	file := fmt.Sprintf("plan/%s_berths.go", strings.ToLower(name))
	w.read(file, w.source(i, 70))
	w.do("Grep", map[string]any{"pattern": "Slot" + name}, hits(i, 28), false)
	w.say(fmt.Sprintf("The plan of %s keeps its depth in `depth%sMetres`, a float64 that slot_%s_width divides by 3. "+
		"I decided to keep whole centimetres in plan%sDepth instead of metres, because 11.6 m is not a binary fraction. "+
		"That takes %d ms more for each of the %d KB tables, which nobody will notice. See https://berths.example/design/%d.",
		name, name, strings.ToLower(name), name, 12+i, 300+i*7, 40+i))
	w.edit(file, fmt.Sprintf("berth%d := plan%s.Slot", i, name), fmt.Sprintf("berth%dCm := plan%s.SlotCm", i, name))
	test := fmt.Sprintf("go test ./plan/%s", strings.ToLower(name))
	w.fails(test, output(i, 45, fmt.Sprintf("--- FAIL: Test%sDepth (0.01s)\n    depth_test.go:%d: error: got %d cm, want %d cm\nFAIL\tharbour/plan 0.%ds\n", name, 30+i, 1100+i, 1160+i, 10+i)), 1)
	w.say(fmt.Sprintf("The test of %s still expects metres; I mend the test, not the plan.", name))
	w.edit(fmt.Sprintf("plan/%s/depth_test.go", strings.ToLower(name)), "11", "1160")
	w.bash(test, output(i+50, 40, fmt.Sprintf("ok\tharbour/plan/%s 0.%ds, %d tests passed", strings.ToLower(name), 20+i, 14+i)))
}
