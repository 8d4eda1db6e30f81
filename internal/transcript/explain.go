package transcript

import (
	"bytes"
	"cmp"
	"regexp"
	"strconv"
	"strings"

	"ccd/internal/lazy"
)

// Explain returns what a tool's result says. Raw is the result's raw span, op what its call did, failed the item's
// Failed. The exit status is only set if the result states it, or if the agent's format implies it: a result of Claude
// Code's Bash that is no error means 0.
func (c *Client) Explain(tool string, op Op, raw []byte, failed bool) Outcome {
	o := Outcome{Failed: failed}
	if !quoted(raw) && !Valid(raw) {
		o.Text = string(raw)
		return o
	}
	n := Node{Raw: raw}
	text, ok := plain(n)
	if !ok {
		text = mixed(n, &o)
	}
	if !explainObject(&o, text) {
		o.Text = string(text)
		switch {
		case explainHead(&o), explainSandbox(&o):
		case op == Command && len(c.Exits) > 0:
			c.explainExit(&o)
			o.Spilled = spilled(o.Text)
		default:
			explainClaude(&o, tool, op)
		}
	}
	c.explainRefused(&o, tool)
	switch op {
	case Plan:
		o.PlanID, o.Plan = created(o.Text), planTold(o.Text)
	case Write, Edit, Delete, Rename:
		explainWrite(&o)
	case Command:
		if o.Running {
			o.Job = cmp.Or(o.Job, job(o.Text))
		}
	case Agent:
		o.AgentID = firstGroup(agentNamed(), o.Text)
	}
	return o
}

// mixed reads a result that is neither a string nor a list of texts: it counts images and joins texts.
func mixed(n Node, o *Outcome) []byte {
	if n.Is('{') {
		return objectText(n, o)
	}
	if !n.Is('[') {
		return n.Raw
	}
	return listText(n, func() { o.Images++ })
}

// objectText reads a result that is one object: a block, or an output's parts by name.
func objectText(n Node, o *Outcome) []byte {
	if isImage(n) {
		o.Images++
		return nil
	}
	if exit := n.Field("exitCode"); exit.Has() {
		o.Exit, o.HasExit = int(exit.Integer()), true
		o.Failed = o.Failed || o.Exit != 0
	}
	for _, name := range []string{"text", "content", "output", "stdout"} {
		if v := n.Field(name); v.Is('"') {
			text := v.Text()
			if stderr := n.Field("stderr").Text(); stderr != "" {
				text += "\n" + stderr
			}
			return []byte(text)
		}
	}
	return n.Raw
}

// explainObject reads the object that Codex put around output until 2025: {"output":..., "metadata":{...}}.
func explainObject(o *Outcome, text []byte) bool {
	if !bytes.HasPrefix(text, []byte(`{"output":"`)) || !Valid(text) {
		return false
	}
	n := Node{Raw: text}
	output, meta := n.Field("output"), n.Field("metadata")
	if !output.Is('"') || !meta.Is('{') {
		return false
	}
	o.Text = output.Text()
	if exit := meta.Field("exit_code"); exit.Has() {
		o.ended(int(exit.Integer()))
	}
	return true
}

// explainHead reads the header lines that Codex puts before output; "Output:" ends them.
func explainHead(o *Outcome) bool {
	if !Begins(o.Text, []string{"Exit code: ", "Chunk ID: ", "Wall time: ", "Process ", "Script "}) {
		return false
	}
	head, body, ok := strings.Cut(o.Text, "\nOutput:\n")
	if !ok {
		if head, ok = strings.CutSuffix(o.Text, "\nOutput:"); !ok {
			return false
		}
	}
	for line := range strings.Lines(head) {
		o.codexHead(strings.TrimSpace(line))
	}
	if o.Text = body; strings.HasPrefix(head, "Script ") {
		o.Text = strings.TrimPrefix(body, "\n")
		o.printed()
	}
	return true
}

// printed reads the results of commands that a script printed as they are: objects with the status and the output.
func (o *Outcome) printed() {
	var b strings.Builder
	for line := range strings.Lines(o.Text) {
		n := Node{Raw: []byte(strings.TrimSpace(line))}
		if strings.HasPrefix(line, "{") && Valid(n.Raw) && n.Field("exit_code").Has() && n.Field("output").Is('"') {
			if exit := int(n.Field("exit_code").Integer()); !o.HasExit || o.Exit == 0 {
				o.ended(exit)
			}
			o.Each = true
			line = n.Field("output").Text() + "\n"
		}
		b.WriteString(line)
	}
	if o.HasExit {
		o.Text = b.String()
	}
}

// explainSandbox reads the line that Codex put around the output of a failed command until 2025, as if its sandbox had failed.
func explainSandbox(o *Outcome) bool {
	head, body, ok := strings.Cut(o.Text, ", stdout: ")
	if !ok || !strings.HasPrefix(head, "failed in sandbox ") {
		return false
	}
	o.Failed = true
	if _, exit, ok := strings.Cut(head, "exit code: "); ok {
		o.endedText(exit)
	}
	if i := strings.LastIndex(body, ", stderr: "); i >= 0 {
		body = body[:i] + body[i+len(", stderr: "):]
	}
	o.Text = strings.TrimSpace(body)
	return true
}

func (o *Outcome) codexHead(line string) {
	if v, ok := strings.CutPrefix(line, "Exit code: "); ok {
		o.endedText(v)
	} else if v, ok := strings.CutPrefix(line, "Process exited with code "); ok {
		o.endedText(v)
	} else if strings.HasPrefix(line, "Process running with session ID") {
		o.Running, o.Job = true, job(line)
	} else if cell, ok := strings.CutPrefix(line, "Script running with cell ID "); ok {
		o.Running, o.Job = true, strings.Clone(cell)
	} else if line == "Script completed" {
		o.Ran = true
	} else if line == "Script failed" || line == "Script terminated" {
		o.Failed = true
	}
}

func (o *Outcome) ended(exit int) {
	o.Exit, o.HasExit = exit, true
	o.Failed = o.Failed || exit != 0
}

func (o *Outcome) endedText(exit string) {
	if n, err := strconv.Atoi(strings.TrimSpace(exit)); err == nil {
		o.ended(n)
	}
}

// explainExit reads the line after a command's output in which the client states its status.
func (c *Client) explainExit(o *Outcome) {
	output, line := "", strings.TrimRight(o.Text, "\n")
	if i := strings.LastIndexByte(line, '\n'); i >= 0 {
		output, line = line[:i], line[i+1:]
	}
	for _, begin := range c.Goes {
		if rest, ok := strings.CutPrefix(line, begin); ok {
			o.Running = true
			o.Job, _, _ = strings.Cut(rest, ",")
			return
		}
	}
	for _, w := range c.Exits {
		if !strings.HasPrefix(line, w.Begin) || !strings.HasSuffix(line, w.End) {
			continue
		}
		status := strings.TrimSuffix(line, w.End)
		if n, err := strconv.Atoi(status[strings.LastIndexByte(status, ' ')+1:]); err == nil {
			o.ended(n)
			o.Text = output
			return
		}
	}
}

func explainClaude(o *Outcome, tool string, op Op) {
	if inner, ok := strings.CutPrefix(o.Text, "<tool_use_error>"); ok {
		o.Failed = true
		o.Text = strings.TrimSuffix(strings.TrimSpace(inner), "</tool_use_error>")
		return
	}
	o.Spilled = spilled(o.Text)
	if op != Command {
		return
	}
	switch strings.ToLower(tool) {
	case "bash":
		explainBash(o)
	case "bashoutput", "taskoutput":
		o.Running = BetweenTexts(o.Text, "<status>", "</status>") == "running"
		o.endedText(BetweenTexts(o.Text, "<exit_code>", "</exit_code>"))
	case "run_shell_command":
		explainFields(o)
	}
}

// explainBash reads the status of Claude Code's Bash: "Exit code N" precedes the output unless N is 0.
func explainBash(o *Outcome) {
	if strings.HasPrefix(o.Text, "Command running in background with ID") || strings.Contains(o.Text, "Command was manually backgrounded") {
		o.Running = true
		return
	}
	first, rest, _ := strings.Cut(o.Text, "\n")
	if code, ok := strings.CutPrefix(first, "Exit code "); ok && o.Failed {
		if n, err := strconv.Atoi(code); err == nil {
			o.ended(n)
			o.Text = rest
		}
		return
	}
	if !o.Failed {
		o.ended(0)
		return
	}
	const behind = "Command exited with code " // written by Pi, whose tool has the same name
	if i := strings.LastIndex(o.Text, behind); i == 0 || i > 0 && o.Text[i-1] == '\n' {
		if n, err := strconv.Atoi(strings.TrimSpace(o.Text[i+len(behind):])); err == nil {
			o.ended(n)
			o.Text = strings.TrimRight(o.Text[:i], "\n")
		}
	}
}

// explainFields reads the fields that Gemini CLI and Qwen Code write around the output: in older versions the command
// and its directory before it, and its status after it. Newer versions omit a status of 0.
func explainFields(o *Outcome) {
	if text, ok := strings.CutPrefix(o.Text, "<untrusted_context>\n"); ok { // Gemini CLI 0.61
		o.Text = strings.TrimSuffix(text, "\n</untrusted_context>")
	}
	_, body, ok := strings.Cut("\n"+o.Text, "\nOutput: ")
	if !ok || !strings.HasPrefix(o.Text, "Output: ") && !strings.HasPrefix(o.Text, "Command: ") {
		o.Running = strings.HasPrefix(o.Text, "Command moved to background")
		return
	}
	end, exit, told := len(body), 0, true
	for _, field := range []string{"Process Group PGID: ", "Background PIDs: ", "Signal: ", "Exit Code: ", "Error: "} {
		i := strings.LastIndex(body[:end], "\n"+field)
		if i < 0 {
			continue
		}
		value := strings.TrimSpace(body[i+1+len(field) : end])
		if n, err := strconv.Atoi(value); field == "Exit Code: " {
			exit, told = n, err == nil
		}
		end = i
	}
	if end == len(body) {
		return // truncated, or summarized
	}
	if told {
		o.ended(exit)
	}
	if o.Text = body[:end]; o.Text == "(empty)" {
		o.Text = ""
	}
}

// spilled returns the path of the file with the whole output, if the client says that it truncated it.
func spilled(text string) string {
	const maxNotice = 2000
	if rest, ok := strings.CutPrefix(strings.TrimPrefix(text, "<untrusted_context>\n"), "Output too large. Showing first "); ok { // Gemini CLI
		line, _, _ := strings.Cut(rest, "\n")
		_, path, _ := strings.Cut(line, "For full output see: ")
		return strings.TrimSpace(path)
	}
	if !strings.HasPrefix(text, "<persisted-output>") && !strings.HasPrefix(text, "Error: result") {
		return ""
	}
	head := text[:min(len(text), maxNotice)]
	for _, mark := range []string{"Full output saved to: ", "Output has been saved to "} {
		if _, rest, ok := strings.Cut(head, mark); ok {
			path, _, _ := strings.Cut(rest, "\n")
			return strings.TrimSuffix(strings.TrimSpace(path), ".")
		}
	}
	return ""
}

// FakesReport reports whether a result that contains no words of the human reads as if it did.
func (c *Client) FakesReport(tool string, raw []byte) bool {
	o := c.Explain(tool, Other, raw, false)
	_, _, ok := reported(o.Text)
	return o.Faked || ok
}

// explainRefused recognizes calls that the human, a rule or a hook refused.
func (c *Client) explainRefused(o *Outcome, tool string) {
	if o.Faked = c.fakesReport(tool, o.Text); o.Faked {
		return
	}
	if o.HasExit { // it ran to its end, whatever it printed
		return
	}
	if o.Stopped = interrupted(o.Text); o.Stopped {
		o.Failed, o.HasExit, o.Exit = true, false, 0
		return
	}
	if Begins(o.Text, refusals) {
		o.Rejected, o.Failed, o.HasExit, o.Exit = true, true, false, 0
	}
}

var refusals = []string{
	refusal, "Permission to use ", "exec command rejected by user", "rejected by user",
	"patch rejected by user", "[Operation Cancelled] Reason: User did not allow tool call", "Claude requested permissions to ", "This command requires approval",
}

// interrupted reports whether a result says that the person interrupted the call.
func interrupted(text string) bool {
	if first, rest, ok := strings.Cut(text, "\n"); ok && strings.HasPrefix(first, "Exit code ") {
		text = rest
	}
	return Begins(text, interruptions) || strings.HasSuffix(text, abortedCommand)
}

// abortedCommand ends what a command had printed when it was interrupted.
const abortedCommand = "<error>Command was aborted before completion</error>"

var interruptions = []string{
	"[Request interrupted by user", "aborted by user", "Command aborted", "Operation aborted", "[Operation Cancelled] Reason: User cancelled",
	"Command was cancelled", "Tool call cancelled by user",
}

// agentNamed matches the sub-agent's ID in the result of a launch.
var agentNamed = lazy.Regexp(`(?:agentId: |"agent_id": ?")([\w-]*)`)

// notCalled are the beginnings of results for calls with an unknown tool or invalid arguments.
var notCalled = []string{
	"failed to parse function arguments", "unsupported call", "Unknown skill", "No such tool available", "Error: No such tool",
	"Script error: SyntaxError", "Script error:\nSyntaxError", "InputValidationError", "<tool_use_error>InputValidationError", "<tool_use_error>Unknown skill", "<tool_use_error>Error: No such tool",
}

// NotCalled reports whether a result says that its call was not made, because the tool or the arguments were invalid.
func NotCalled(text string) bool { return Begins(strings.TrimSpace(text), notCalled) }

// explainWrite reads the results of tools that change files.
func explainWrite(o *Outcome) {
	head := o.Text[:min(len(o.Text), 2000)]
	o.Failed = o.Failed || !o.HasExit && Begins(head, []string{"error: ", "Error: ", "Failed to "})
	o.Amended = strings.Contains(head, "modified your proposed") || strings.Contains(head, " User modified the `")
	first, _, _ := strings.Cut(head, "\n")
	o.Created = strings.HasPrefix(first, "File created successfully") || strings.HasPrefix(first, "Successfully created")
}

var jobName = lazy.Regexp(`(?:[Bb]ackground(?:ed by user|ed)? with ID: |running with session ID )(\S*?)\.*(?:\s|$)`)

// job returns the name of a background command.
func job(text string) string {
	return firstGroup(jobName(), text[:min(len(text), 2000)])
}

// firstGroup returns the match of an expression's first group, "" if there is none.
func firstGroup(x *regexp.Regexp, text string) string {
	if found := x.FindStringSubmatch(text); found != nil {
		return strings.Clone(found[1])
	}
	return ""
}

// notification is the element with which a client reports the end of a background task; versions of early 2026 name its files
// behind it. What else follows it was typed while the task ran.
var notification = Wrapper{Begin: "task-notification", Beside: true, Tails: []string{
	"Full transcript available at: ", "Read the output file to retrieve the result: ", "Full output available at: ", "Output file: ",
}}

// Notice parses a client's message that a background command has ended: its name, and its exit status (-1 if unknown).
// ok is false for other texts.
func Notice(text string) (job string, exit int, ok bool) {
	inside := BetweenTexts(text, "<task-notification>", "</task-notification>")
	job = strings.TrimSpace(BetweenTexts(inside, "<task-id>", "</task-id>"))
	status := strings.TrimSpace(BetweenTexts(inside, "<status>", "</status>"))
	if job == "" || (status != "completed" && status != "failed" && status != "killed") {
		return "", 0, false
	}
	_, rest, _ := strings.Cut(BetweenTexts(inside, "<summary>", "</summary>"), "exit code ")
	digits := rest[:len(rest)-len(strings.TrimLeft(rest, "0123456789"))]
	if exit, err := strconv.Atoi(digits); err == nil {
		return strings.Clone(job), exit, true
	}
	return strings.Clone(job), -1, true
}

// planTold parses a list of tasks: JSON with ID, subject and status, or lines "#3 [completed] Subject".
func planTold(text string) []PlanItem {
	var all []PlanItem
	if t := []byte(strings.TrimSpace(text)); len(t) > 0 && (t[0] == '{' || t[0] == '[') && Valid(t) {
		list := Node{Raw: t}
		if list.Is('{') {
			list = list.Field("tasks")
		}
		for item := range list.Elements() {
			if p := planItem(item); p.Text != "" {
				all = append(all, p)
			}
		}
		return all
	}
	for line := range strings.Lines(text) {
		if p, ok := taskLine(strings.TrimSpace(line)); ok {
			all = append(all, p)
		}
	}
	return all
}

var task = lazy.Regexp(`^(?:- )?#(\d+)[.:]* \[(pending|in_progress|completed)\](.*)$`)

// taskLine parses "#3 [completed] Subject" or "#3. [pending] Subject", also as a list item.
func taskLine(line string) (p PlanItem, ok bool) {
	found := task().FindStringSubmatch(line)
	if found == nil {
		return p, false
	}
	text := strings.TrimSpace(found[3])
	if i := strings.LastIndex(text, " [blocked by"); i > 0 {
		text = text[:i]
	}
	return PlanItem{Key: strings.Clone(found[1]), Text: strings.Clone(text), Status: found[2]}, text != ""
}

// created returns the key of a task that a call created: "Task #3 created successfully: ...", or JSON.
func created(text string) string {
	if t := []byte(strings.TrimSpace(text)); len(t) > 0 && t[0] == '{' && Valid(t) {
		n := Node{Raw: t}
		if task := n.Field("task"); task.Is('{') {
			n = task
		}
		for _, name := range []string{"id", "taskId"} {
			if key := scalar(n.Field(name)); key != "" {
				return strings.Clone(key)
			}
		}
		return ""
	}
	return firstGroup(createdTask(), text)
}

var createdTask = lazy.Regexp(`^Task #(\S*) created`)
