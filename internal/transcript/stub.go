package transcript

type (
	node       struct{}
	array      struct{ known bool }
	callTable  struct{}
	repeated   struct{}
	codexState struct{}
)

func newCallTable() *callTable                                           { return nil }
func (*array) is([]byte) bool                                            { return false }
func (*array) records(*Decoder, []byte, int64, bool, func(*Record) bool) {}
func (d *Decoder) values(r *Record, line []byte)                         {}
func parseMessage(*Decoder, *Record, node)                               {}
func parseClaude(*Decoder, *Record, node)                                {}
func parseCodex(*Decoder, *Record, node)                                 {}
func claudeRoots(getenv func(string) string, home string) []string       { return nil }
func codexRoots(getenv func(string) string, home string) []string        { return nil }
func claudeMatch(base, rel string) (Session, bool) { return Session{}, false }

func codexMatch(base, rel string) (Session, bool) { return Session{}, false }

// Find tells what the file at path below root is, from its name alone. Both are absolute. ok is false for files that
// are nobody's.
func Find(agent, root, path string) (Session, bool) { return Session{}, false }

// Sniff tells which agent wrote the file that begins with head.
func Sniff(head []byte) (agent string, ok bool) { return "", false }

// Original returns the original as the agent saw it.
func Original(kind Kind, raw []byte) ([]byte, error) { return raw, nil }

// Chars counts the Unicode characters of the original's text.
func Chars(raw []byte) int { return len(raw) }

// HumanText returns what the person typed of a Human item's text.
func HumanText(text string) string { return text }

// FileText returns the file's own lines from the text of a Read result.
func FileText(result string) (content string, firstLine int, ok bool) { return result, 1, true }

// Understand tells what a tool call does.
func Understand(tool string, input []byte) Action { return Action{} }

// Explain tells what a tool's result says.
func Explain(tool string, op Op, raw []byte, failed bool) Outcome { return Outcome{} }
