// Package codex describes Codex: where it stores rollouts, how a line decodes, what its tools do.
package codex

import (
	"strings"

	"ccd/internal/transcript"
)

// Row returns the format of Codex.
func Row() transcript.Format {
	return transcript.Format{
		Agent: "codex", Title: "Codex", Roots: roots, Match: match, Recognizes: recognizes,
		Client: &client, Parse: parse, Write: write, Place: place, Beside: []transcript.Index{index},
		Resume: []string{"codex", "resume"}, Shell: shell,
		Connect: &transcript.Connect{
			Name: "codex", Dir: transcript.DirOf("CODEX_HOME", ".codex"),
			Hooks: "hooks.json", Events: transcript.Events(), Servers: "config.toml", Guide: "AGENTS.md", Shadow: "AGENTS.override.md",
			Note: "Codex skips new, changed and moved hooks, also in `codex exec`, until you trust them: type /hooks in codex.",
		},
	}
}

// recognizes reports whether the line has Codex's envelope or is a bare line of a rollout before 0.32.
func recognizes(line transcript.Node) bool {
	kind := line.Field("type").Text()
	switch {
	case line.Field("payload").Is('{') && line.Field("timestamp").Is('"'), line.Field("record_type").Is('"'):
		return true
	case line.Field("id").Is('"') && line.Field("timestamp").Is('"') && kind == "":
		return true
	}
	return kind == "message" && line.Field("content").Is('[') || strings.HasPrefix(kind, "function_call")
}
