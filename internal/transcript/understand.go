package transcript

import (
	"bytes"
	"cmp"
	"slices"
	"strings"

	"ccd/internal/lazy"
)

// Op returns what a tool does. It ignores stray model tokens after the name (`shell<|channel|>`).
func (c *Client) Op(tool string) Op {
	if c == nil {
		return Other
	}
	name, _, _ := strings.Cut(tool, "<|")
	return c.Ops[strings.ToLower(name)]
}

// Understand returns what a call of the tool does. Input is the call's raw span: an object, a string that contains one,
// or another string (apply_patch). For an unreadable input the Action only has the tool's Op.
func (c *Client) Understand(tool string, input []byte) Action {
	a, _ := c.unwrapped(tool, input)
	return a
}

// unwrapped returns what a call does, and the input of the call that it makes: of a wrapper that of the inner one.
func (c *Client) unwrapped(tool string, input []byte) (a Action, args []byte) {
	var calls []Called
	if c != nil && c.Unwrap != nil && Valid(input) {
		calls = c.Unwrap(tool, bytes.TrimSpace(input))
	}
	if calls == nil && c.Op(tool) == Other {
		calls = listed(Arguments(input))
	}
	if len(calls) > 0 {
		return c.together(calls)
	}
	return c.understand(tool, input), input
}

func (c *Client) understand(tool string, input []byte) Action {
	a := Action{Op: c.Op(tool)}
	in := bytes.TrimSpace(input)
	if !Valid(in) {
		return a
	}
	args := Node{Raw: in}
	if args.Is('"') {
		text := bytes.TrimSpace(unquote(nil, in))
		if !Valid(text) || len(text) == 0 || text[0] != '{' {
			freeform(&a, string(text))
			return a
		}
		args = Node{Raw: text}
	}
	understandArgs(&a, tool, args)
	if a.Op == Other {
		byShape(&a, strings.ToLower(tool), args)
	}
	inShell(&a, tool, args)
	return a
}

// byShape reads a call of a tool that the client's table does not have by its name and the names in its input: a command of a
// tool that is named after a shell, or a change of a file.
func byShape(a *Action, tool string, args Node) {
	is := func(words ...string) bool {
		return slices.ContainsFunc(words, func(w string) bool { return strings.Contains(tool, w) })
	}
	path := firstText(args, "file_path", "path", "filePath", "target_file", "filename")
	switch command := firstText(args, "command", "cmd"); {
	case command != "" && is("shell", "bash", "terminal", "exec", "command"):
		a.Op, a.Command, a.Dir = Command, command, firstText(args, "cwd", "workdir", "directory")
	case path == "":
	case is("edit", "replace", "patch"):
		a.Op, a.Files = Edit, []FileChange{{Op: Edit, Path: path}}
	case is("write", "create"):
		a.Op, a.Files = Write, []FileChange{{Op: Write, Path: path}}
	}
}

// inShell reads the files that a shell command changes, directly or with a patch passed to apply_patch.
func inShell(a *Action, tool string, args Node) {
	if a.Op != Command || a.Stdin || a.Command == "" || isPowerShell(tool, args) {
		return
	}
	if strings.Contains(a.Command, PatchBegin) && patchInShell(a) {
		return
	}
	for _, c := range shellChanges(a.Command) {
		a.Files = append(a.Files, c.FileChange)
	}
}

// isPowerShell reports whether a command is for a Windows shell.
func isPowerShell(tool string, args Node) bool {
	if strings.EqualFold(tool, "powershell") {
		return true
	}
	for _, name := range []string{"command", "cmd"} {
		for w := range args.Field(name).Elements() {
			shell := strings.ToLower(w.Text())
			shell = strings.TrimSuffix(shell[strings.LastIndexAny(shell, `/\`)+1:], ".exe")
			return shell == "powershell" || shell == "pwsh" || shell == "cmd"
		}
	}
	return strings.Contains(strings.ToLower(args.Field("shell").Text()), "powershell")
}

// freeform reads an input that is plain text: a patch, or a command.
func freeform(a *Action, text string) {
	switch a.Op {
	case Edit:
		patched(a, text)
	case Command:
		a.Command = text
		inShell(a, "", Node{})
	default:
		a.Query = label(text)
	}
}

func understandArgs(a *Action, tool string, args Node) {
	switch a.Op {
	case Command:
		understandCommand(a, strings.ToLower(tool), args)
	case Read, Write, Edit, Delete:
		understandFile(a, args)
	case Search:
		a.Query = firstText(args, searches...)
		a.Query = cmp.Or(a.Query, firstOf(args.Field("patterns")))
		if in := firstText(args, "path", "dir_path"); in != "" && in != a.Query {
			a.Query += " in " + in
		}
	case Web:
		a.Query = webQuery(args)
	case Plan:
		understandPlan(a, strings.ToLower(tool), args)
	case Ask:
		understandAsk(a, args)
	case Agent:
		a.Query = label(firstText(args, "description", "summary", "message", "prompt", "objective", "task", "id"))
	default:
		a.Query = label(firstText(args, labels...))
	}
}

// searches are the arguments with the pattern, or else the place, of a search.
var searches = []string{
	"pattern", "query", "glob_pattern", "filePattern", "path", "dir_path", "directory_path", "target_directory", "relative_workspace_path",
}

// labels are the arguments that describe an unknown tool's call in a few words, best first.
var labels = []string{
	"description", "query", "q", "question", "pattern", "url", "uri", "path", "file_path", "filename", "command",
	"skill", "name", "title", "subject", "id", "text", "prompt",
}

// maxLabel is the longest label, in bytes.
const maxLabel = 200

// label returns the first line of text, truncated.
func label(text string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(text), "\n")
	if len(line) > maxLabel {
		line = strings.ToValidUTF8(line[:maxLabel], "")
	}
	return strings.Clone(line)
}

// firstText returns the first of the arguments that is a non-empty string.
func firstText(args Node, names ...string) string {
	for _, name := range names {
		if s := args.Field(name).Text(); s != "" {
			return s
		}
	}
	return ""
}

func understandCommand(a *Action, tool string, args Node) {
	a.Dir = firstText(args, "workdir", "working_directory", "cwd", "dir_path", "directory")
	a.Query = label(firstText(args, "description", "justification"))
	switch tool {
	case "write_stdin":
		a.Stdin, a.Command, a.Job = true, args.Field("chars").Text(), scalar(args.Field("session_id"))
		return
	case "write_bash", "write_powershell":
		a.Stdin, a.Command, a.Job = true, args.Field("input").Text(), firstText(args, "shellId", "sessionId")
		return
	case "read_bash", "read_powershell", "stop_bash", "stop_powershell", "process":
		a.Stdin, a.Job = true, firstText(args, "shellId", "sessionId")
		a.Query = a.Job
		return
	case "bashoutput", "killshell", "killbash", "taskoutput", "taskstop":
		a.Stdin, a.Query = true, label(firstText(args, "bash_id", "shell_id", "task_id", "id"))
		a.Job = a.Query
		return
	}
	for _, name := range []string{"command", "cmd"} {
		if c := args.Field(name); c.Has() {
			a.Command = CommandLine(c)
			return
		}
	}
}

// CommandLine returns a command given as text or as a list of words; for a shell with a script, the script.
func CommandLine(c Node) string {
	if c.Is('"') {
		return c.Text()
	}
	var words []string
	for w := range c.Elements() {
		words = append(words, w.Text())
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

// ShellWord quotes a word for a POSIX shell if necessary.
func ShellWord(word string) string {
	if plainWord().MatchString(word) {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}

var plainWord = lazy.Regexp(`^[\w./=:,@%+-]+$`)

func understandFile(a *Action, args Node) {
	if patch := firstText(args, "input", "patch"); strings.Contains(patch, PatchBegin) {
		patched(a, patch)
		return
	}
	path := firstText(args, "file_path", "filePath", "absolute_path", "notebook_path", "path", "target_file", "target_notebook")
	if path == "" {
		return
	}
	a.Files = []FileChange{{Op: a.Op, Path: path}}
	if a.Op == Read {
		a.Lines = [2]int{int(args.Field("offset").Integer()), int(args.Field("limit").Integer())}
		bounds := []Node{args.Field("start_line"), args.Field("end_line")}
		for _, name := range []string{"view_range", "read_range"} {
			if list := slices.Collect(args.Field(name).Elements()); len(list) == 2 {
				bounds = list
			}
		}
		if first, last := int(bounds[0].Integer()), int(bounds[1].Integer()); first > 0 {
			a.Lines = [2]int{first, max(0, last-first+1)}
		}
	}
}

func webQuery(args Node) string {
	if args.Field("action").Is('{') {
		args = args.Field("action")
	}
	return cmp.Or(firstText(args, "url", "query", "pattern", "search_term"), firstOf(args.Field("queries")), label(firstText(args, "prompt", "objective")))
}

// firstOf returns the first text of a list.
func firstOf(list Node) string {
	for text := range list.Elements() {
		return text.Text()
	}
	return ""
}

func understandAsk(a *Action, args Node) {
	for q := range args.Field("questions").Elements() {
		if a.Query != "" {
			a.Query += " / "
		}
		a.Query += firstText(q, "question", "prompt")
	}
	if a.Query == "" {
		a.Query = label(firstText(args, "question", "plan", "questionnaire"))
	}
}

// HasQuestions reports whether a call asks the person questions; if not, what it shows is a plan.
func HasQuestions(input []byte) bool {
	args := Arguments(input)
	return args.Field("questions").Full() || args.Field("question").Full()
}

// Question returns what a call shows the person, in Markdown: a plan, or questions with their options, those that the answer names
// ticked; "" for neither. rest is what of the answer is not shown in it.
func Question(input []byte, answer string) (text, rest string) {
	args := Arguments(input)
	var b strings.Builder
	for q := range args.Field("questions").Elements() {
		asked := firstText(q, "question", "prompt")
		b.WriteString(asked + "\n\n")
		said, others, ok := answerTo(asked, answer)
		unseen := strings.Split(said, ", ") // chosen, and no option so far
		for o := range q.Field("options").Elements() {
			label, tick := firstText(o, "label"), ""
			if ok && (label == said || slices.Contains(unseen, label)) {
				tick = "✓ "
				unseen = slices.DeleteFunc(unseen, func(c string) bool { return c == label || label == said })
			}
			b.WriteString("- " + tick + label + ": " + firstText(o, "description") + "\n")
		}
		if ok && len(unseen) == 0 {
			answer = others
		}
		b.WriteString("\n")
	}
	return cmp.Or(strings.TrimSpace(b.String()), firstText(args, "plan", "question")), answer
}

// answerTo returns what an answer says to a question, and the rest of it. ok is false if it says nothing to that.
func answerTo(question, answer string) (said, others string, ok bool) {
	before, after, found := strings.Cut(answer, `"`+question+`"="`)
	said, after, closed := strings.Cut(after, `"`)
	return said, strings.Trim(before+after, ", "), found && closed
}

// Chosen returns what an answer says, without the questions that the client repeats in it, in the form that answerTo reads.
func Chosen(answer string) string { return questionAnswer().ReplaceAllString(answer, "$1") }

var questionAnswer = lazy.Regexp(`"[^"]*"="([^"]*)"`)

func understandPlan(a *Action, tool string, args Node) {
	switch tool {
	case "taskcreate":
		a.Plan = []PlanItem{{Text: firstText(args, "subject", "description"), Status: "pending"}}
	case "taskupdate":
		a.Plan = []PlanItem{{Key: scalar(args.Field("taskId")), Text: args.Field("subject").Text(), Status: args.Field("status").Text()}}
	case "tasklist", "taskget":
	default:
		for _, name := range []string{"todos", "plan"} {
			list := args.Field(name)
			a.Replace = a.Replace || list.Is('[') && !args.Field("merge").IsTrue()
			for item := range list.Elements() {
				a.Plan = append(a.Plan, planItem(item))
			}
		}
	}
}

// scalar returns a string or a number as text, "" for anything else.
func scalar(n Node) string {
	if n.Is('"') {
		return n.Text()
	}
	if n.Has() && strings.Trim(string(n.Raw), "0123456789") == "" {
		return string(n.Raw)
	}
	return ""
}

func planItem(item Node) PlanItem {
	p := PlanItem{Key: scalar(item.Field("id")), Text: firstText(item, "content", "step", "text", "subject", "description"), Status: item.Field("status").Text()}
	p.Key, p.Status = cmp.Or(p.Key, p.Text), cmp.Or(p.Status, "pending")
	return p
}

// Op is what a tool call does, independent of the agent's name for the tool.
type Op uint8

// The operations of tool calls.
const (
	Other   Op = iota
	Command    // runs a shell command
	Read       // reads a file
	Write      // creates or replaces a file
	Edit       // changes a file
	Delete     // removes a file
	Rename     // moves a file
	Search     // looks for files or text
	Web        // fetches or searches the web
	Plan       // writes the plan or todo list
	Ask        // asks the human about a question or a plan; the result is the answer
	Agent      // starts, or sends a message to, a sub-agent
	Revert     // restores a file to its version in the repository
	Touch      // creates an empty file if there is none
)

// FileChange is one file that a call changes or reads.
type FileChange struct {
	Op    Op     // Read, Write, Edit, Delete, Rename, Revert or Touch; Other: perhaps changed, in an unknown way
	Path  string // as in the call: relative to the call's directory, unless Action.Resolve made it absolute
	To    string // of a Rename
	Tree  bool   // Path may be a directory, including everything below it
	Loose bool   // of a Rename: To may be a directory that Path was moved into
	Proof Proof  // what proves that the change was made
}

// PlanItem is one line of a plan or todo list.
type PlanItem struct {
	Key    string // used by later updates: an ID, else the text
	Text   string
	Status string // "pending", "in_progress", "completed", "deleted"
}

// Action is the meaning of a tool call. Its strings are copies, not views of the input.
type Action struct {
	Op      Op
	Files   []FileChange // in order; of a Command only those that it certainly changes or reads if it succeeds, see Changes
	Command string       // of a Command: one line of shell
	Dir     string       // where it runs, "" if unknown
	Query   string       // of a Search or Web: pattern, query or URL; of an Agent: its task in a few words; otherwise a short label
	Plan    []PlanItem
	Replace bool   // of a Plan: it is the whole list (otherwise items are added or updated by Key)
	Stdin   bool   // of a Command: input for one that is already running
	Job     string // of such a Command: Outcome.Job of the running one
	Lines   [2]int // of a Read: first line and number of lines, 0 for the whole file
}

// Outcome is the meaning of a tool result.
type Outcome struct {
	Text     string     // as the agent saw it, without the lines that contain Exit
	Exit     int        // exit status if HasExit
	HasExit  bool       // the status is stated, or certain from the agent's format
	Failed   bool       // the tool reports a failure
	Ran      bool       // a script that calls tools ran to its end
	Each     bool       // Exit 0 is the status of each command in a list, not only of the last one
	Spilled  string     // path of the file with the whole output, "" if the result is whole
	Images   int        // number of images in it
	Running  bool       // the command had not ended
	Job      string     // of a background command: its name in later calls ("" if unknown)
	Amended  bool       // the human changed what the call writes: the file differs from its input
	Created  bool       // of a Write: the result says that the file is new
	Stopped  bool       // the human interrupted the call
	Rejected bool       // the human, or a rule, refused the call
	Faked    bool       // it reads like a client's report of the human's words, but a server's tool wrote it
	PlanID   string     // of a Plan call that created an item: its key
	Plan     []PlanItem // of a Plan call that requests the list: the list
	AgentID  string     // of an Agent call: the sub-agent's ID
}
