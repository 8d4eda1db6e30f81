package claude

import (
	"strings"

	"ccd/internal/transcript"
)

// typed recognizes a text that is only a slash command, a shell line or a memory line. It returns what was typed ("" for a command
// without arguments), and where it ends.
func typed(c *transcript.Client, core string) (said string, end int, ok bool) {
	if said, end, ok = slashCommand(core); !ok {
		for _, tag := range []string{"bash-input", "user-memory-input"} {
			inside, rest, found := transcript.CutElement(core, tag)
			if found && c.OnlyElements(rest) { // the shell's output may follow
				said, end, ok = strings.TrimSpace(inside), len(core)-len(rest), true
			}
		}
	}
	return said, end, ok
}

// ran reads a command that a person ran in the client, and what it printed: an act, and nothing said to the agent.
func ran(text string) (command, output string, ok bool) {
	command, output, ok = transcript.CutElement(text, "bash-input")
	command, output = strings.TrimSpace(command), strings.TrimSpace(output)
	return command, output, ok && (output == "" || strings.HasPrefix(output, "<bash-std"))
}

// slashCommand reads a slash command which consists of elements. The last one may be the
// command's content, which was not typed. The client writes the message first for a command that it sends to the model, and
// the name first for one that it runs itself: without arguments, that one says nothing to the model.
func slashCommand(text string) (said string, end int, ok bool) {
	var name, args string
	for rest := text; rest != ""; {
		var inside, after string
		for _, tag := range []string{"command-name", "command-message", "command-args", "skill-format"} {
			if inside, after, ok = transcript.CutElement(rest, tag); !ok {
				continue
			}
			switch tag {
			case "command-name":
				name = strings.TrimSpace(inside)
			case "command-args":
				args = strings.TrimSpace(inside)
			}
			break
		}
		if !ok {
			if strings.HasPrefix(rest, "<command-contents>") && strings.HasSuffix(rest, "</command-contents>") && end > 0 {
				break
			}
			return "", 0, false
		}
		end = len(text) - len(after)
		rest = strings.TrimSpace(after)
	}
	switch {
	case args != "":
		said = name + " " + args
	case strings.HasPrefix(text, "<command-message>"):
		said = "/" + strings.TrimPrefix(name, "/")
	}
	return strings.TrimSpace(said), end, end > 0
}
