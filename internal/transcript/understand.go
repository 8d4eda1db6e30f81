package transcript

import (
	"bytes"
	"strings"
)

// toolOps tells what the known tools do, by name in lower case: Claude Code's, Codex's, and those of both when young.
var toolOps = map[string]Op{
	"bash": Command, "bashoutput": Command, "killshell": Command, "killbash": Command, "taskoutput": Command,
	"taskstop": Command, "powershell": Command, "monitor": Command,
	"read": Read, "notebookread": Read, "view_image": Read, "read_file": Read,
	"write": Write, "edit": Edit, "multiedit": Edit, "notebookedit": Edit, "apply_patch": Edit,
	"grep": Search, "glob": Search, "ls": Search, "grep_files": Search, "list_dir": Search, "toolsearch": Search,
	"tool_search": Search, "lsp": Search,
	"webfetch": Web, "websearch": Web, "web_search": Web, "web_research": Web, "web_fetch": Web,
	"todowrite": Plan, "update_plan": Plan, "taskcreate": Plan, "taskupdate": Plan, "tasklist": Plan, "taskget": Plan,
	"askuserquestion": Ask, "exitplanmode": Ask, "exit_plan_mode": Ask, "request_user_input": Ask,
	"task": Agent, "agent": Agent, "sendmessage": Agent, "spawn_agent": Agent, "send_input": Agent,
	"resume_agent": Agent, "wait": Agent, "wait_agent": Agent, "close_agent": Agent, "agentoutputtool": Agent,
	"shell": Command, "shell_command": Command, "exec_command": Command, "write_stdin": Command,
	"local_shell": Command, "container.exec": Command, "unified_exec": Command, "run_shell_command": Command,
}

// toolOp returns what a tool does. A model's stray tokens behind the name (`shell<|channel|>`) are passed over.
func toolOp(tool string) Op {
	name, _, _ := strings.Cut(tool, "<|")
	return toolOps[strings.ToLower(name)]
}

// isAsk reports whether the tool puts a question or a plan to the human.
func isAsk(tool string) bool { return toolOp(tool) == Ask }

// Understand tells what a call of the tool with this input does. Input is the call's raw span: an object, a string
// that holds one, or (apply_patch) a string of another kind. An input that cannot be read gives an Action with the
// tool's Op alone.
func Understand(tool string, input []byte) Action {
	a := Action{Op: toolOp(tool)}
	in := bytes.TrimSpace(input)
	if !valid(in) {
		return a
	}
	args := node{raw: in}
	if args.is('"') {
		text := bytes.TrimSpace(unquote(nil, in))
		if !valid(text) || len(text) == 0 || text[0] != '{' {
			freeform(&a, string(text))
			return a
		}
		args = node{raw: text}
	}
	understandArgs(&a, tool, args)
	inShell(&a, tool, args)
	return a
}

// inShell reads the files that a command changes: by a patch that it feeds to apply_patch, or itself.
func inShell(a *Action, tool string, args node) {
	if a.Op != Command || a.Stdin || a.Command == "" || isPowerShell(tool, args) {
		return
	}
	if strings.Contains(a.Command, patchBegin) && patchInShell(a) {
		return
	}
	for _, c := range shellChanges(a.Command) {
		a.Files = append(a.Files, c.FileChange)
	}
}

// isPowerShell reports whether a command is written for a shell that is no Unix one.
func isPowerShell(tool string, args node) bool {
	if strings.EqualFold(tool, "powershell") {
		return true
	}
	for _, name := range []string{"command", "cmd"} {
		for w := range args.field(name).elements() {
			shell := strings.ToLower(w.text())
			shell = strings.TrimSuffix(shell[strings.LastIndexAny(shell, `/\`)+1:], ".exe")
			return shell == "powershell" || shell == "pwsh" || shell == "cmd"
		}
	}
	return strings.Contains(strings.ToLower(args.field("shell").text()), "powershell")
}

// freeform reads an input that is plain text: a patch, or a command.
func freeform(a *Action, text string) {
	switch a.Op {
	case Edit:
		patched(a, text)
	case Command:
		a.Command = text
		inShell(a, "", node{})
	default:
		a.Query = label(text)
	}
}

func understandArgs(a *Action, tool string, args node) {
	switch a.Op {
	case Command:
		understandCommand(a, strings.ToLower(tool), args)
	case Read, Write, Edit:
		understandFile(a, args)
	case Search:
		a.Query = firstText(args, "pattern", "query", "path", "dir_path")
		if in := firstText(args, "path"); in != "" && in != a.Query {
			a.Query += " in " + in
		}
	case Web:
		a.Query = webQuery(args)
	case Plan:
		understandPlan(a, strings.ToLower(tool), args)
	case Ask:
		understandAsk(a, args)
	case Agent:
		a.Query = label(firstText(args, "description", "summary", "message", "prompt", "task", "id"))
	default:
		a.Query = label(firstText(args, labels...))
	}
}

// labels are the arguments that say in a few words what an unknown tool's call is about, best first.
var labels = []string{
	"description", "query", "q", "question", "pattern", "url", "uri", "path", "file_path", "filename", "command",
	"skill", "name", "title", "subject", "id", "text", "prompt",
}

// maxLabel is the longest label, in bytes.
const maxLabel = 200

// label returns the first line of text, cut.
func label(text string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(text), "\n")
	if len(line) > maxLabel {
		line = strings.ToValidUTF8(line[:maxLabel], "")
	}
	return strings.Clone(line)
}

// firstText returns the first of the arguments that is a string with something in it.
func firstText(args node, names ...string) string {
	for _, name := range names {
		if s := args.field(name).text(); s != "" {
			return s
		}
	}
	return ""
}

func understandCommand(a *Action, tool string, args node) {
	a.Dir = firstText(args, "workdir", "working_directory", "cwd")
	a.Query = label(firstText(args, "description", "justification"))
	switch tool {
	case "write_stdin":
		a.Stdin, a.Command, a.Job = true, args.field("chars").text(), scalar(args.field("session_id"))
		return
	case "bashoutput", "killshell", "killbash", "taskoutput", "taskstop":
		a.Stdin, a.Query = true, label(firstText(args, "bash_id", "shell_id", "task_id", "id"))
		a.Job = a.Query
		return
	}
	for _, name := range []string{"command", "cmd"} {
		if c := args.field(name); c.has() {
			a.Command = commandLine(c)
			return
		}
	}
}

// commandLine returns a command given as text or as a list of words; of a shell called with a script, the script.
func commandLine(c node) string {
	if c.is('"') {
		return c.text()
	}
	var words []string
	for w := range c.elements() {
		words = append(words, w.text())
	}
	if len(words) == 3 && isShell(words[0]) && (words[1] == "-lc" || words[1] == "-c" || strings.EqualFold(words[1], "-command")) {
		return words[2]
	}
	for i, w := range words {
		words[i] = ShellWord(w)
	}
	return strings.Join(words, " ")
}

func isShell(word string) bool {
	switch word[strings.LastIndexAny(word, `/\`)+1:] {
	case "bash", "sh", "zsh", "dash", "ksh", "fish", "pwsh", "powershell", "powershell.exe", "pwsh.exe", "bash.exe":
		return true
	}
	return false
}

// ShellWord returns a word so that a POSIX shell reads it as one: quoted where it needs that.
func ShellWord(word string) string {
	if word != "" && strings.IndexFunc(word, notPlain) < 0 {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}

func notPlain(r rune) bool {
	return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && !strings.ContainsRune("-_./=:,@%+", r)
}

func understandFile(a *Action, args node) {
	if patch := firstText(args, "input", "patch"); strings.Contains(patch, patchBegin) {
		patched(a, patch)
		return
	}
	path := firstText(args, "file_path", "notebook_path", "path")
	if path == "" {
		return
	}
	a.Files = []FileChange{{Op: a.Op, Path: path}}
	if a.Op == Read {
		a.Lines = [2]int{int(args.field("offset").integer()), int(args.field("limit").integer())}
	}
}

func webQuery(args node) string {
	if args.field("action").is('{') {
		args = args.field("action")
	}
	if q := firstText(args, "url", "query", "pattern"); q != "" {
		return q
	}
	for q := range args.field("queries").elements() {
		return q.text()
	}
	return ""
}

func understandAsk(a *Action, args node) {
	for q := range args.field("questions").elements() {
		if a.Query != "" {
			a.Query += " / "
		}
		a.Query += q.field("question").text()
	}
	if a.Query == "" {
		a.Query = label(firstText(args, "question", "plan"))
	}
}

func understandPlan(a *Action, tool string, args node) {
	switch tool {
	case "taskcreate":
		a.Plan = []PlanItem{{Text: firstText(args, "subject", "description"), Status: "pending"}}
	case "taskupdate":
		a.Plan = []PlanItem{{Key: scalar(args.field("taskId")), Text: args.field("subject").text(), Status: args.field("status").text()}}
	case "tasklist", "taskget":
	default:
		for _, name := range []string{"todos", "plan"} {
			list := args.field(name)
			a.Replace = a.Replace || list.is('[')
			for item := range list.elements() {
				a.Plan = append(a.Plan, planItem(item))
			}
		}
	}
}

// scalar returns a string or a number as text, "" for anything else.
func scalar(n node) string {
	if n.is('"') {
		return n.text()
	}
	if n.has() && strings.Trim(string(n.raw), "0123456789") == "" {
		return string(n.raw)
	}
	return ""
}

func planItem(item node) PlanItem {
	p := PlanItem{Key: scalar(item.field("id")), Text: firstText(item, "content", "step", "text", "subject"), Status: item.field("status").text()}
	if p.Key == "" {
		p.Key = p.Text
	}
	if p.Status == "" {
		p.Status = "pending"
	}
	return p
}
