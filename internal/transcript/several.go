package transcript

import (
	"bytes"
	"strings"
)

// Called is a call that another call makes.
type Called struct {
	Tool string
	Args []byte // JSON
}

// maxCalled is how many calls of one are read.
const maxCalled = 256

// listed returns the calls in the input of a tool that runs a list of them, as multi_tool_use.parallel does.
func listed(args Node) (calls []Called) {
	for _, name := range []string{"tool_uses", "tool_calls", "calls", "invocations"} {
		for one := range args.Field(name).Elements() {
			tool := strings.TrimPrefix(firstText(one, "recipient_name", "tool", "tool_name", "name"), "functions.")
			for _, inner := range []string{"parameters", "arguments", "input", "args"} {
				if in := one.Field(inner); tool != "" && in.Has() && len(calls) < maxCalled {
					calls = append(calls, Called{tool, in.Raw})
					break
				}
			}
		}
	}
	return calls
}

// together returns what several calls do as one: their commands, then their changes of files as a patch, or else the first of
// them. args is the input that shows it.
func (c *Client) together(calls []Called) (a Action, args []byte) {
	var commands, patches []string
	dir := ""
	for _, one := range calls {
		act := c.understand(one.Tool, one.Args)
		if patch := sectionsOf(&act, one.Args); patch != "" {
			patches = append(patches, patch)
		} else if act.Op == Command && act.Command != "" {
			command := act.Command
			if dir == "" {
				dir = act.Dir
			} else if act.Dir != "" && act.Dir != dir {
				command = "cd " + ShellWord(act.Dir) + " && " + command
			}
			commands = append(commands, command)
		}
	}
	patch := ""
	if len(patches) > 0 {
		patch = PatchBegin + "\n" + strings.Join(patches, "") + PatchEnd
	}
	switch {
	case len(commands) > 0:
		a = script(commands, patch, dir)
		return a, Quote(a.Command)
	case patch != "":
		patched(&a, patch)
		return a, Quote(patch)
	}
	return c.understand(calls[0].Tool, calls[0].Args), calls[0].Args
}

// script returns what commands and then a patch do as one command of a shell.
func script(commands []string, patch, dir string) Action {
	if patch != "" {
		commands = append(commands, "apply_patch <<'EOF'\n"+patch+"\nEOF")
	}
	between := "; "
	if strings.ContainsAny(strings.Join(commands, ""), "\n#") { // comments and ends of here-documents take in the rest of a line
		between = "\n"
	}
	a := Action{Op: Command, Command: strings.Join(commands, between), Dir: dir}
	if inShell(&a, "", Node{}); patch != "" {
		a.Op = Command
		for i := range a.Files {
			a.Files[i].Proof = Ran
		}
	}
	return a
}

// sectionsOf returns the changes of a call as sections of a patch, "" if there are none or it runs a command.
func sectionsOf(a *Action, input []byte) string {
	args := Arguments(input)
	if patch := patchOf(a, args, input); patch != "" && a.Op != Command {
		return strings.TrimSuffix(strings.TrimPrefix(patch, PatchBegin+"\n"), PatchEnd)
	}
	content, steps, ok := editsOf(args)
	if !ok || len(a.Files) != 1 || a.Op != Write && a.Op != Edit {
		return ""
	}
	var b bytes.Buffer
	lines := func(sign, text string) {
		for line := range strings.Lines(text) {
			b.WriteString(sign + strings.TrimSuffix(line, "\n") + "\n")
		}
	}
	if steps == nil {
		b.WriteString("*** Add File: " + a.Files[0].Path + "\n")
		lines("+", content)
		return b.String()
	}
	b.WriteString("*** Update File: " + a.Files[0].Path + "\n")
	for _, s := range steps {
		b.WriteString("@@\n")
		lines("-", s.Old)
		lines("+", s.New)
	}
	return b.String()
}
