package entries

import (
	"bytes"
	"cmp"
	"path/filepath"
	"strings"

	"ccd/internal/transcript"
)

// Dir is a directory that the environment names, "~" at its beginning being the home directory as both clients take it.
func Dir(named, home string) string {
	if rest, ok := strings.CutPrefix(named, "~"); ok && (rest == "" || rest[0] == '/' || rest[0] == filepath.Separator) {
		return filepath.Join(home, rest)
	}
	return named
}

// SessionID is the UUID at the end of the name of a session's file, "" where it has none. Pi puts the time before it.
func SessionID(stem string) string {
	if id := stem[strings.LastIndexByte(stem, '_')+1:]; transcript.IsUUID(id) {
		return id
	}
	return ""
}

// sessionOf is the ID of the session whose file is at the path.
func sessionOf(path string) string {
	stem := strings.TrimSuffix(path[strings.LastIndexAny(path, `/\`)+1:], ".jsonl")
	return cmp.Or(SessionID(stem), stem)
}

// Mine knows an entry. A message that the records of other agents could hold as well is nobody's: other lines will tell.
func Mine(line transcript.Node) bool {
	e := read(line)
	if !e.timestamp.Is('"') || line.Field("sessionId").Has() || line.Field("payload").Has() {
		return false
	}
	switch e.kind.Text() {
	case "session":
		return e.id.Is('"') && e.cwd.Is('"')
	case "message":
		return mineMessage(e.message)
	case "compaction":
		return e.summary.Is('"') && e.tokens.Has()
	case "branch_summary":
		return e.summary.Is('"') && line.Field("fromId").Is('"')
	case "model_change":
		return e.model.Is('"') && line.Field("provider").Is('"')
	case "thinking_level_change":
		return line.Field("thinkingLevel").Is('"')
	case "custom", "custom_message":
		return e.custom.Is('"')
	case "label":
		return line.Field("targetId").Is('"')
	case "session_info":
		return e.name.Is('"') && len(e.parent.Raw) > 0
	}
	return false
}

func mineMessage(m transcript.Node) bool {
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

// starts are the beginnings of long entries.
var starts = []string{
	`{"type":"session","version":`, `{"type":"compaction",`, `{"type":"branch_summary",`, `{"type":"custom_message",`,
}

// Starts knows an entry that is cut off.
func Starts(start []byte) bool {
	for _, s := range starts {
		if bytes.HasPrefix(start, []byte(s)) {
			return true
		}
	}
	if !bytes.HasPrefix(start, []byte(`{"type":"message",`)) {
		return false
	}
	for _, s := range []string{`"message":{"role":"toolResult",`, `"message":{"role":"bashExecution",`, `{"type":"toolCall",`} {
		if bytes.Contains(start, []byte(s)) {
			return true
		}
	}
	return false
}
