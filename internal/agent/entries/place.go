package entries

import (
	"cmp"
	"path/filepath"
	"strings"

	"ccd/internal/transcript"
)

// Dir returns a directory that an environment variable names. Both clients expand "~" at its beginning.
func Dir(named, home string) string {
	if rest, ok := strings.CutPrefix(named, "~"); ok && (rest == "" || rest[0] == '/' || rest[0] == filepath.Separator) {
		return filepath.Join(home, rest)
	}
	return named
}

// SessionID returns the UUID at the end of the name of a session file, or "". Pi puts the time before it.
func SessionID(stem string) string {
	if id := stem[strings.LastIndexByte(stem, '_')+1:]; transcript.IsUUID(id) {
		return id
	}
	return ""
}

// sessionOf returns the ID of the session whose file has this path.
func sessionOf(path string) string {
	stem := strings.TrimSuffix(path[strings.LastIndexAny(path, `/\`)+1:], ".jsonl")
	return cmp.Or(SessionID(stem), stem)
}

// Recognizes reports whether the line is an entry. It rejects messages that other agents could have written too,
// because other lines of the file decide.
func Recognizes(line transcript.Node) bool {
	e := line.Object()
	if !e.Field("timestamp").Is('"') || e.Field("sessionId").Has() || e.Field("payload").Has() {
		return false
	}
	switch e.Field("type").Text() {
	case "session":
		return e.Field("id").Is('"') && e.Field("cwd").Is('"')
	case "message":
		return isMessage(e.Field("message"))
	case "compaction":
		return e.Field("summary").Is('"') && e.Field("tokensBefore").Has()
	case "branch_summary":
		return e.Field("summary").Is('"') && e.Field("fromId").Is('"')
	case "model_change":
		return e.Field("modelId").Is('"') && e.Field("provider").Is('"')
	case "thinking_level_change":
		return e.Field("thinkingLevel").Is('"')
	case "custom", "custom_message":
		return e.Field("customType").Is('"')
	case "label":
		return e.Field("targetId").Is('"')
	case "session_info":
		return e.Field("name").Is('"') && len(e.Field("parentId").Raw) > 0
	}
	return false
}

func isMessage(m transcript.Node) bool {
	switch m.Field("role").Text() {
	case "toolResult":
		return m.Field("toolCallId").Is('"')
	case "bashExecution":
		return m.Field("command").Is('"')
	case "user", "custom", "system":
		return isNumber(m.Field("timestamp"))
	case "assistant":
		for b := range m.Field("content").Elements() {
			if b.Field("type").Text() == "toolCall" {
				return true
			}
		}
		return isNumber(m.Field("timestamp")) && m.Field("provider").Is('"')
	}
	return false
}

func isNumber(n transcript.Node) bool { return len(n.Raw) > 0 && n.Raw[0] >= '0' && n.Raw[0] <= '9' }
