package transcript

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"strconv"
	"strings"
	"time"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
)

// Draft is a session that is to be written in an agent's own format.
type Draft struct {
	ID       string // UUID of the new session
	Title    string // without TitlePrefix
	Cwd      string
	Branch   string
	Version  string    // of the agent, "" where it is not known
	Start    time.Time // when the session that it is made from began
	Resumed  Resumed   // Records is filled in by Write
	Messages []Message // those of the user and of the assistant take turns, the user first
}

// Message is what one side says at once.
type Message struct {
	Assistant bool
	ID        string    // of the reply, "" for one made up
	Model     string    // of the reply, "" where it is not known
	Time      time.Time // zero where it is not known
	Blocks    []Block
}

// Block is one content block of a draft. Its Kind is Human or Summary (a text of the user's), Text, Thinking (Raw is the
// agent's own block), Call, Result or Image.
type Block struct {
	Kind   Kind
	Raw    []byte // JSON: a text's string, a call's input, a result's content, an image's source
	Call   string // pairs Call and Result
	Tool   string // of a Call
	Space  string // of a Call: the tool's namespace, Codex only
	Free   bool   // of a Call or Result: the tool takes free text (Codex: custom_tool_call)
	Failed bool   // of a Result

	client *Client

	Typed   bool // the human wrote it as a message
	Refused bool // of a Result: the record says that the human refused the call
}

// Understand tells what a Call does.
func (b *Block) Understand() Action {
	it := Item{Tool: b.Tool, Raw: b.Raw, client: b.client}
	return it.Understand()
}

// NewBlock returns the block of an item, with Raw of its own, as it can be written for the agent of the record's
// session. ok is false for what only the agent itself needs.
func NewBlock(r *Record, it *Item) (b Block, ok bool) {
	b = Block{client: it.client, Kind: it.Kind, Raw: CleanJSON(it.Raw), Call: it.Call, Tool: it.Tool, Failed: it.Failed, Refused: it.Refused}
	switch it.Kind {
	case Human:
		if b.Typed = it.Call == ""; !b.Typed {
			b.Kind = Result
		}
	case Text, Summary, Result, Image:
	case Thinking:
		return b, r.client != nil && r.client.Native != nil && r.client.Native(r, it, &b)
	case Call:
		b.Free = strings.HasSuffix(r.Type, "custom_tool_call")
		if r.client != nil && r.client.Native != nil {
			r.client.Native(r, it, &b)
		}
	default:
		return b, false
	}
	if b.Kind == Result {
		b.Free = strings.HasSuffix(r.Type, "custom_tool_call_output")
	}
	return b, true
}

// ParentUUID returns the record before this one in the chain that Claude Code keeps, "" where none is told.
func ParentUUID(r *Record) string {
	if !Valid(r.Raw) {
		return ""
	}
	return Node{Raw: bytes.TrimSpace(r.Raw)}.Field("parentUuid").Text()
}

// Rooted reports whether a record of Claude Code's chain says that it hangs on none: it begins the conversation, anew
// where others stand before it.
func Rooted(r *Record) bool {
	return r.UUID != "" && Valid(r.Raw) && string(Node{Raw: bytes.TrimSpace(r.Raw)}.Field("parentUuid").Raw) == "null"
}

// Quote returns text as a JSON string; bytes that are not UTF-8 become U+FFFD.
func Quote(text string) []byte {
	// AppendQuote fails for bytes that are not UTF-8 alone, which are gone by then.
	b, err := jsontext.AppendQuote(nil, strings.ToValidUTF8(text, "\ufffd"))
	if err != nil {
		return []byte(`""`)
	}
	return b
}

func quote(text string) string { return string(Quote(text)) }

func number(n int) string { return strconv.Itoa(n) }

// CleanJSON returns a copy of a JSON value that any API takes: bytes that are not UTF-8 and surrogates that stand alone
// become U+FFFD. A value that is no JSON becomes a string.
func CleanJSON(raw []byte) []byte {
	raw = bytes.TrimSpace(raw)
	if !Valid(raw) {
		return Quote(string(raw))
	}
	b := bytes.Clone(raw)
	if !utf8.Valid(b) {
		b = bytes.ToValidUTF8(b, []byte("\ufffd"))
	}
	if !bytes.Contains(b, []byte(`\u`)) {
		return b
	}
	return paired(b)
}

// paired replaces the escapes of surrogates that stand alone.
func paired(b []byte) []byte {
	for i := 0; i < len(b); i++ {
		if b[i] != '\\' {
			continue
		}
		if b[i+1] != 'u' {
			i++
			continue
		}
		r, _ := unit(b[i:])
		if !utf16.IsSurrogate(r) {
			i += 5
			continue
		}
		if len(b) >= i+12 && b[i+6] == '\\' && b[i+7] == 'u' {
			second, _ := unit(b[i+6:])
			if utf16.DecodeRune(r, second) != utf8.RuneError {
				i += 11
				continue
			}
		}
		copy(b[i:], `\ufffd`)
		i += 5
	}
	return b
}

// Derived is the UUID of a draft's record number n: the same for the same session.
func (d *Draft) Derived(n int) string {
	sum := sha256.Sum256([]byte(d.ID + "/" + number(n)))
	sum[6], sum[8] = sum[6]&0x0f|0x40, sum[8]&0x3f|0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", sum[:4], sum[4:6], sum[6:8], sum[8:10], sum[10:16])
}

// Stamps gives times that never go back, also where a message has none.
type Stamps struct{ Last time.Time }

// Next is the time of the next line, as RFC 3339: t, or the last one where t is before it.
func (s *Stamps) Next(t time.Time) string {
	if t.After(s.Last) {
		s.Last = t
	}
	return s.Last.UTC().Format("2006-01-02T15:04:05.000Z")
}
