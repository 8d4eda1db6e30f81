// Package codex is what is known of Codex: where its rollouts live, how a line decodes, what its tools do.
package codex

import (
	"bytes"
	"strings"

	"ccd/internal/transcript"
)

// Row is Codex.
func Row() transcript.Format {
	return transcript.Format{
		Agent: "codex", Title: "Codex", Roots: roots, Match: match, Mine: mine, Starts: starts,
		Client: &client, Parse: parse, Write: write, Place: place,
	}
}

// mine knows an envelope, and the bare lines of rollouts before 0.32.
func mine(line transcript.Node) bool {
	kind := line.Field("type").Text()
	switch {
	case line.Field("payload").Is('{') && line.Field("timestamp").Is('"'), line.Field("record_type").Is('"'):
		return true
	case line.Field("id").Is('"') && line.Field("timestamp").Is('"') && kind == "":
		return true
	}
	return kind == "message" && line.Field("content").Is('[') || strings.HasPrefix(kind, "function_call")
}

func starts(line []byte) bool {
	return bytes.HasPrefix(line, []byte(`{"timestamp":`)) && bytes.Contains(line, []byte(`"payload":{`))
}
