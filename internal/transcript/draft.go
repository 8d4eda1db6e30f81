package transcript

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"text/template"
	"time"

	"github.com/go-json-experiment/json/jsontext"
)

// Draft is a session to be written in an agent's own format.
type Draft struct {
	ID       string // UUID of the new session
	Title    string // without TitlePrefix
	Cwd      string
	Branch   string
	Version  string    // of the agent, "" if unknown
	Provider string    // of the models that the agent is configured for, "" if unknown
	Start    time.Time // when the original session began
	Made     time.Time // when it is written; zero if not set
	Resumed  Resumed   // Write fills in Records
	Messages []Message // user and assistant alternate, the user first
}

// Message is one message of one side.
type Message struct {
	Assistant bool
	ID        string    // of the reply, "" if made up
	Model     string    // of the reply, "" if unknown
	Provider  string    // of the model, "" if unknown
	Time      time.Time // zero if unknown
	Blocks    []Block
}

// Block is one content block of a draft. Its Kind is Human or Summary (a text of the user's), Text, Thinking (Raw is
// the agent's own block), Call, Result, or Image, which no copy has.
type Block struct {
	Kind   Kind
	Raw    []byte // JSON: a text's string, a call's input, a result's content, an image's source
	Call   string // pairs Call and Result
	Tool   string // of a Call
	Space  string // of a Call: the tool's namespace, Codex only
	Free   bool   // of a Call or Result: the tool takes free text (Codex: custom_tool_call)
	Failed bool   // of a Result
	Reply  string // shared by the blocks of one reply, "" if unknown

	client *Client

	Typed   bool // the human wrote it as a message
	Refused bool // of a Result: according to the record the human refused the call
}

// Understand returns what a Call does.
func (b *Block) Understand() Action {
	it := Item{Tool: b.Tool, Raw: b.Raw, client: b.client}
	return it.Understand()
}

// NewBlock returns the block of an item, with its own copy of Raw, as it can be written for the record's agent. ok is
// false for items that only the agent itself needs.
func NewBlock(r *Record, it *Item) (b Block, ok bool) {
	if it.Inner {
		return b, false
	}
	b = Block{client: it.client, Kind: it.Kind, Raw: CleanJSON(it.Raw), Call: it.Call, Tool: it.Tool, Failed: it.Failed, Refused: it.Refused, Reply: it.Message}
	switch it.Kind {
	case Human:
		if it.Frame == Reported && it.Call != "" {
			b.Kind = Result
			break
		}
		b.Typed, b.Call = true, "" // also a reason that stands beside the result
	case Text, Summary, Result, Image:
	case Thinking: // its signature is that of the whole text
		return b, !it.Redacted() && r.client != nil && r.client.Native != nil && r.client.Native(r, it, &b)
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

// QuoteText is Quote for callers that build text.
func QuoteText(text string) string { return string(Quote(text)) }

// Quote returns text as a JSON string; bytes that are not UTF-8 become U+FFFD.
func Quote(text string) []byte {
	// AppendQuote only fails for invalid UTF-8, which was replaced.
	b, err := jsontext.AppendQuote(nil, strings.ToValidUTF8(text, "\ufffd"))
	if err != nil {
		return []byte(`""`)
	}
	return b
}

// Text returns the block's JSON.
func (b *Block) Text() string { return string(b.Raw) }

// JSON returns the block in Anthropic's form.
func (b *Block) JSON() string {
	switch b.Kind {
	case Thinking:
		return string(b.Raw)
	case Call:
		return `{"type":"tool_use","id":` + QuoteText(b.Call) + `,"name":` + QuoteText(b.Tool) + `,"input":` + string(b.Raw) + `}`
	case Result:
		failed := ""
		if b.Failed {
			failed = `,"is_error":true`
		}
		return `{"type":"tool_result","tool_use_id":` + QuoteText(b.Call) + `,"content":` + string(b.Raw) + failed + `}`
	}
	return `{"type":"text","text":` + string(b.Raw) + `}`
}

// ImageData returns the type and the data in an image's data URL, or "".
func ImageData(raw []byte) (media, data string) {
	if url, holds := strings.CutPrefix(Node{Raw: raw}.Text(), "data:"); holds {
		media, data, _ = strings.Cut(url, ";base64,")
	}
	return media, data
}

// ShellTool returns a Format.Shell for a tool whose only argument is the command.
func ShellTool(name string) func(command, dir string) (tool string, input []byte) {
	return func(command, dir string) (string, []byte) {
		if dir != "" {
			command = "cd " + ShellWord(dir) + " && " + command
		}
		return name, []byte(`{"command":` + QuoteText(command) + "}")
	}
}

// CleanJSON returns a copy of a JSON value that any API accepts, on one line: invalid UTF-8 and lone surrogates become
// U+FFFD. A value that is not JSON becomes a string.
func CleanJSON(raw []byte) []byte {
	raw = bytes.TrimSpace(raw)
	if !Valid(raw) {
		return Quote(string(raw))
	}
	clean := jsontext.Value(bytes.Clone(raw))
	if !clean.IsValid(jsontext.AllowDuplicateNames(true)) {
		if err := clean.Format(jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true)); err != nil {
			return Quote(string(raw))
		}
	}
	if bytes.IndexByte(clean, '\n') >= 0 && clean.Compact(jsontext.AllowDuplicateNames(true)) != nil { // a record is one line
		return Quote(string(raw))
	}
	return clean
}

// Writer returns a Format.Write that makes a copy's lines by a template: what it prints between newlines is one, if it is not blank. It
// gets the draft, and the functions of more (nil: none) and these:
//   - json TEXT: a JSON string; title: the copy's as one; draft: the draft
//   - next N: the first N characters of a new record's UUID, which is the same for the same session; parent: the last one as JSON
//   - time T: the time of a record, the last one again if T is earlier; milli: the same as a number; from N: where they begin, in
//     seconds after the session
//   - mark: the member that says what the copy is of; nothing but at the first call
//   - only BLOCKS KIND... and without BLOCKS KIND...: some of the blocks
//
// A template that fails is an error of the program: it panics.
func Writer(form string, more func(d *Draft) template.FuncMap) func(d Draft) [][]byte {
	return func(d Draft) (lines [][]byte) {
		t := template.New("").Funcs((&copying{Draft: &d, last: d.Start, parent: "null"}).functions())
		if more != nil {
			t.Funcs(more(&d))
		}
		var out bytes.Buffer
		if err := template.Must(t.Parse(form)).Execute(&out, &d); err != nil {
			panic(err)
		}
		for line := range bytes.Lines(out.Bytes()) {
			if line = bytes.TrimSpace(line); len(line) > 0 {
				lines = append(lines, line)
			}
		}
		for i := range lines {
			lines[i] = bytes.Replace(lines[i], []byte(markHere), []byte(d.Resumed.JSON(len(lines))), 1)
		}
		return lines
	}
}

// markHere stands for the mark until the number of lines is known. No JSON has it.
const markHere = "\x00"

// copying is the state of writing a copy.
type copying struct {
	*Draft
	last   time.Time // of the records so far
	n      int       // records with a UUID
	parent string
	marked bool
}

func (c *copying) functions() template.FuncMap {
	pick := func(all []Block, is bool, kinds []string) (some []*Block) {
		for i := range all {
			if slices.Contains(kinds, all[i].Kind.String()) == is {
				some = append(some, &all[i])
			}
		}
		return some
	}
	return template.FuncMap{
		"json":  QuoteText,
		"title": func() string { return QuoteText(TitlePrefix + c.Title) },
		"draft": func() *Draft { return c.Draft },
		"next": func(chars int) string {
			c.n++
			sum := sha256.Sum256([]byte(c.ID + "/" + strconv.Itoa(c.n)))
			sum[6], sum[8] = sum[6]&0x0f|0x40, sum[8]&0x3f|0x80
			id := fmt.Sprintf("%x-%x-%x-%x-%x", sum[:4], sum[4:6], sum[6:8], sum[8:10], sum[10:16])[:chars]
			c.parent = QuoteText(id)
			return id
		},
		"parent": func() string { return c.parent },
		"time": func(t time.Time) string {
			if t.After(c.last) {
				c.last = t
			}
			return Stamp(c.last)
		},
		"milli": func() int64 { return c.last.UnixMilli() },
		"from": func(seconds int) string {
			c.last = c.Start.Add(time.Duration(seconds) * time.Second)
			return Stamp(c.last)
		},
		"mark": func() string {
			if c.marked {
				return ""
			}
			c.marked = true
			return markHere
		},
		"only":    func(all []Block, kinds ...string) []*Block { return pick(all, true, kinds) },
		"without": func(all []Block, kinds ...string) []*Block { return pick(all, false, kinds) },
	}
}

// Stamp formats the time of a record in RFC 3339.
func Stamp(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.000Z") }

// Assistant reports whether items of this kind come from the assistant.
func (k Kind) Assistant() bool { return k == Text || k == Call || k == Thinking }

// Answers returns, for n blocks, the index of each call's result: the first one after the call with its ID.
func Answers(n int, block func(int) *Block) map[int]int {
	answers, open := map[int]int{}, map[string]int{}
	for i := range n {
		b := block(i)
		if b.Call == "" {
			continue
		}
		switch b.Kind {
		case Call:
			open[b.Call] = i
		case Result:
			if call, ok := open[b.Call]; ok {
				answers[call] = i
				delete(open, b.Call)
			}
		}
	}
	return answers
}

// Turns groups n blocks into alternating messages, and returns the indexes of each message's blocks. The results of a
// reply's calls follow it directly, in the order of the calls, even if they are between its blocks; anything said
// meanwhile follows them.
func Turns(n int, block func(int) *Block) (turns [][]int) {
	answers, done := Answers(n, block), make([]bool, n)
	put := func(i int) {
		done[i] = true
		if last := len(turns) - 1; last >= 0 && block(turns[last][0]).Kind.Assistant() == block(i).Kind.Assistant() {
			turns[last] = append(turns[last], i)
			return
		}
		turns = append(turns, []int{i})
	}
	for i := range n {
		if done[i] {
			continue
		}
		if !block(i).Kind.Assistant() {
			put(i)
			continue
		}
		reply, results, answered := "", []int(nil), false
		for j := i; j < n; j++ {
			b := block(j)
			if done[j] {
				continue
			}
			if slices.Contains(results, j) {
				answered = true
				continue
			}
			if !b.Kind.Assistant() || answered && (b.Reply == "" || b.Reply != reply) {
				break
			}
			put(j)
			reply = b.Reply
			if result, ok := answers[j]; ok {
				results = append(results, result)
			}
		}
		for _, result := range results {
			put(result)
		}
	}
	return turns
}
