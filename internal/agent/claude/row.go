// Package claude is what is known of Claude Code: where its transcripts live, how a record decodes, what its tools do.
package claude

import (
	"bytes"

	"ccd/internal/transcript"
)

// Row is Claude Code.
func Row() transcript.Format {
	return transcript.Format{
		Agent: "claude-code", Title: "Claude Code", Roots: roots, Match: match, Mine: mine, Starts: starts,
		Client: &client, Parse: parse, Write: write, Place: place, Project: Project,
	}
}

// mine knows a record by its session or its place in the chain, or by its type.
func mine(line transcript.Node) bool {
	kind := line.Field("type").Text()
	switch {
	case line.Field("payload").Is('{'), line.Field("record_type").Is('"'): // Codex
		return false
	case line.Field("projectHash").Has(), line.Field("systemPayload").Has(), line.Field("message").Field("parts").Has(): // Gemini CLI and its kin
		return false
	case kind == "message", line.Field("toolName").Has(), line.Field("toolId").Has(), line.Field("finalText").Has(),
		kind == "system" && !line.Field("uuid").Has(): // Factory Droid, streamed
		return false
	case line.Field("sessionId").Is('"'), line.Field("parentUuid").Full(), bookkeeping[kind] && kind != "result":
		return true
	}
	return line.Field("message").Is('{') && (kind == "user" || kind == "assistant")
}

// starts knows a record by its place in the chain or by its session. Others name a session too: Qwen Code, Gemini CLI and
// Copilot CLI in what follows, Factory Droid, streamed, in lines of types that are none of Claude Code's.
func starts(line []byte) bool {
	if bytes.HasPrefix(line, []byte(`{"parentUuid":`)) {
		return true
	}
	for _, begin := range []string{`{"uuid":`, `{"type":"message",`, `{"type":"tool_`, `{"type":"completion",`, `{"type":"system","subtype":"init",`} {
		if bytes.HasPrefix(line, []byte(begin)) {
			return false
		}
	}
	for _, other := range []string{`"parts":[`, `"projectHash":`, `"data":{"sessionId":`} {
		if bytes.Contains(line, []byte(other)) {
			return false
		}
	}
	return bytes.Contains(line, []byte(`"sessionId":"`))
}
