// Package story has the session of `ccd demo`: an invented one, shaped like a real one of Claude Code.
package story

import _ "embed"

var (
	// Session is the transcript before its agent compacts it.
	//go:embed ledger.jsonl
	Session []byte
	// Compaction is what the compaction adds, and the question after it.
	//go:embed compaction.jsonl
	Compaction []byte
)
