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
	case line.Field("sessionId").Is('"'), line.Field("parentUuid").Full(), bookkeeping[kind] && kind != "result":
		return true
	}
	return line.Field("message").Is('{') && (kind == "user" || kind == "assistant")
}

func starts(line []byte) bool {
	return bytes.HasPrefix(line, []byte(`{"parentUuid":`)) ||
		bytes.Contains(line, []byte(`"sessionId":"`)) && !bytes.Contains(line, []byte(`"parts":[`)) && !bytes.Contains(line, []byte(`"projectHash":`))
}
