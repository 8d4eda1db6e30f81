// Package claude describes Claude Code: where it stores transcripts, how a record decodes, what its tools do.
package claude

import (
	"ccd/internal/transcript"
)

// Row returns the format of Claude Code.
func Row() transcript.Format {
	return transcript.Format{
		Agent: "claude-code", Title: "Claude Code", Roots: roots, Match: match, Recognizes: recognizes,
		Client: &client, Parse: parse, Write: write, Place: place, Project: Project, Beside: indexes,
		Resume: []string{"claude", "--resume"}, ByPath: true, Shell: transcript.ShellTool("Bash"),
		Connect: &transcript.Connect{
			Name: "claude", Dir: transcript.DirOf("CLAUDE_CONFIG_DIR", ".claude"),
			Hooks: "settings.json", Events: transcript.Events(), Rules: true, Line: true,
			ServersAt: state, Member: "mcpServers", Type: "stdio", State: true,
			Skill: "skills/ccd/SKILL.md", Mod: "skills/ccd", Outputs: true,
		},
	}
}

// recognizes reports whether the line is a record of Claude Code: by its session, its place in the chain, or its type.
func recognizes(line transcript.Node) bool {
	kind := line.Field("type").Text()
	switch {
	case line.Field("payload").Is('{'), line.Field("record_type").Is('"'): // Codex
		return false
	case line.Field("projectHash").Has(), line.Field("systemPayload").Has(), line.Field("message").Field("parts").Has(): // Gemini CLI and Qwen Code
		return false
	case kind == "message", line.Field("toolName").Has(), line.Field("toolId").Has(), line.Field("finalText").Has(),
		kind == "system" && !line.Field("uuid").Has(): // Factory Droid's stream-json
		return false
	case line.Field("sessionId").Is('"'), line.Field("parentUuid").Full(), bookkeeping[kind] && kind != "result":
		return true
	}
	return line.Field("message").Is('{') && (kind == "user" || kind == "assistant")
}
