// Package dsh describes DeepSeek Harness: where it stores sessions, how an event decodes, what its tools do.
package dsh

import (
	"cmp"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"ccd/internal/transcript"
)

// Row returns the format of DeepSeek Harness.
func Row() transcript.Format {
	return transcript.Format{
		Agent: "dsh", Title: "DeepSeek Harness", How: "add the MCP server `ccd mcp` to a profile of dsh",
		Roots: roots, Match: match, Recognizes: recognizes,
		Client: &client, Parse: parse,
	}
}

// recognizes reports whether the line is a header or has the envelope of an event, or of a row of packed pieces.
func recognizes(line transcript.Node) bool {
	kind := line.Field("type").Text()
	if kind == "session" {
		return isCount(line.Field("createdAt")) && isCount(line.Field("version")) && line.Field("id").Is('"')
	}
	if !line.Field("data").Is('{') {
		return false
	}
	return strings.Contains(kind, "/") && isCount(line.Field("seq")) && isCount(line.Field("time")) || strings.HasSuffix(kind, "-chunks") && isCount(line.Field("seq0"))
}

func isCount(n transcript.Node) bool {
	return len(n.Raw) > 0 && n.Raw[0] >= '0' && n.Raw[0] <= '9'
}

func roots(getenv func(string) string, home string) []string {
	return []string{filepath.Join(cmp.Or(getenv("DSH_HOME"), filepath.Join(home, ".dsh")), "sessions")}
}

// log matches the name of a session's file. One of a later version of the format stands beside the earlier ones.
var log = regexp.MustCompile(`^session(\.v\d+)?\.jsonl$`)

// match accepts PROJECT/SESSION/session.jsonl, and session.vN.jsonl, at any depth.
func match(_, rel string) (transcript.Session, bool) {
	parts := strings.Split(rel, "/")
	hidden := slices.ContainsFunc(parts, func(part string) bool { return strings.HasPrefix(part, ".") })
	if len(parts) < 2 || hidden || !log.MatchString(parts[len(parts)-1]) {
		return transcript.Session{}, false
	}
	return transcript.Session{Key: transcript.Key{ID: parts[len(parts)-2]}}, true
}
