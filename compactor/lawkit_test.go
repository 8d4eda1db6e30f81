package compactor_test

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"ccd/compactor"
	"ccd/compactor/lexicon"
	"ccd/internal/agent/registry"
	"ccd/internal/mark"
	"ccd/internal/scorecard"
	"ccd/internal/testkit"
	"ccd/internal/transcript"
)

// sectionNames are the sections of a companion in their order; empty ones are left out.
var sectionNames = []string{"Now", "Rules", "Conversation", "Files", "Commands", "Problems", "Recent", "Rest"}

// defaultChars is the room of a companion by default, and sizes are those at which laws are held, in chars.
const defaultChars = 54000

var sizes = []int{4000, 8000, 16000, 32000, defaultChars}

// said is one original as its reader saw it.
type said struct {
	n      int // of the record
	kind   transcript.Kind
	text   string
	call   string // pairs calls and results
	tool   string
	action transcript.Action // of a call, and of the call that a result belongs to
	input  string            // of a call, with the escapes in its strings undone
}

// lineNumbers are what a client puts before the lines of a file.
var lineNumbers = regexp.MustCompile(`(?m)^ *\d+(?:\t|→)`)

// ran reports whether one is what came of a command that did not merely print a file.
func (one *said) ran() bool {
	prints := func(f transcript.FileChange) bool { return f.Op == transcript.Read }
	return one.kind == transcript.Result && one.action.Op == transcript.Command && !slices.ContainsFunc(one.action.Files, prints)
}

// words are what a person said of one item: a message, or the answers that the client reports. Of a plan that was approved
// the client says it.
func (one *said) words() []string {
	switch {
	case one.call == "":
		return []string{one.text}
	case strings.HasPrefix(one.text, "User has approved"):
		return []string{"approved"}
	}
	var all []string
	for _, m := range answered.FindAllStringSubmatch(one.text, -1) {
		all = append(all, m[1])
	}
	if all == nil {
		all = append(all, one.text)
	}
	return all
}

// answered finds the answers in a client's report of them.
var answered = regexp.MustCompile(`"="([^"]*)"`)

// session is a transcript that the laws are held against.
type session struct {
	name, agent string
	data        []byte
	rules       []string // that its human set, where they are known
	all         []said   // every item of its own context
	list        []scorecard.Fact
}

func newSession(name, agent string, data []byte, rules []string) *session {
	s := &session{name: name, agent: agent, data: data, rules: rules}
	facts := scorecard.New()
	calls := map[string]said{}
	for r := range s.records() {
		facts.Add(r)
		for i := range r.Items {
			it := &r.Items[i]
			if it.Side {
				continue
			}
			one := said{n: r.N, kind: it.Kind, text: string(transcript.Original(it.Kind, it.Raw)), call: strings.Clone(it.Call), tool: strings.Clone(it.Tool)}
			switch it.Kind {
			case transcript.Human:
				one.text, _ = it.Said()
			case transcript.Call:
				one.action = it.Understand()
				input, _ := transcript.Readable(it.Kind, it.Raw)
				one.input = string(input)
				calls[one.call] = one
			case transcript.Result:
				call := calls[one.call]
				one.text = it.Explain(call.tool, call.action.Op).Text
				one.tool, one.action = call.tool, call.action
				if call.action.Op == transcript.Read {
					one.text = lineNumbers.ReplaceAllString(one.text, "")
				}
			}
			s.all = append(s.all, one)
		}
	}
	s.list = slices.Collect(facts.All())
	return s
}

func (s *session) records() func(func(*transcript.Record) bool) {
	return registry.Table{}.NewDecoder(s.agent, transcript.Main).Records(transcript.Segment{Data: s.data, Rest: true})
}

// chars is how long all originals are together.
func (s *session) chars() (n int) {
	for _, one := range s.all {
		n += chars(one.text)
	}
	return n
}

// options are the defaults with a room of so many chars, all of it for the sections.
func options(room int) compactor.Options {
	o := compactor.Defaults()
	o.MaxTokens, o.LeadChars = (room*4+2)/3, 0
	return o
}

func door(s *session, o compactor.Options) *compactor.Compactor {
	return compactor.New(o, transcript.Session{Key: transcript.Key{Agent: s.agent, ID: "s"}})
}

func compaction(t testing.TB, s *session, c *compactor.Compactor) *compactor.Compaction {
	t.Helper()
	made, err := c.Compaction(func(at transcript.Span) ([]byte, error) { return s.data[at.Off:at.End()], nil })
	if err != nil {
		t.Fatalf("%s: %v", s.name, err)
	}
	return made
}

// companion is the session's companion in a room of so many chars.
func (s *session) companion(t testing.TB, room int) *compactor.Compaction {
	t.Helper()
	c := door(s, options(room))
	for r := range s.records() {
		c.Add(r)
	}
	return compaction(t, s, c)
}

// rendered is a companion's text behind its front matter and lead.
func rendered(c *compactor.Compaction) string {
	var b strings.Builder
	for _, s := range c.Sections {
		b.WriteString("## " + s.Name + "\n\n" + s.Body + "\n")
	}
	return b.String()
}

func section(c *compactor.Compaction, name string) string {
	for _, s := range c.Sections {
		if s.Name == name {
			return s.Body
		}
	}
	return ""
}

// sessions are invented ones of both agents, short and long, and the real ones where they are beside the project.
func sessions(t *testing.T) []*session {
	t.Helper()
	var all []*session
	for seed, turns := range testkit.Sample(t, []int{1, 6, 14, 40}, 1) {
		for _, agent := range []string{"claude-code", "codex"} {
			s := told(agent, uint64(seed), turns)
			all = append(all, newSession(fmt.Sprintf("%s, %d turns", agent, turns), agent, s.buf.Bytes(), s.rules))
		}
	}
	dirs := map[string]string{"claude-code": "claude", "codex": "codex"}
	for _, agent := range testkit.Sample(t, slices.Sorted(maps.Keys(dirs)), 1) {
		files, _ := filepath.Glob(filepath.Join("..", "..", "shared", "corpus", dirs[agent], "*.jsonl"))
		if len(files) == 0 {
			t.Logf("no real transcripts of %s beside the project: invented ones alone", agent)
		}
		for _, name := range testkit.Sample(t, files, 1) {
			data, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			if s := newSession(filepath.Base(name), agent, data, nil); s.chars() > 8000 {
				all = append(all, s)
			}
		}
	}
	return all
}

func chars(s string) int { return utf8.RuneCountInString(s) }

// flat is a text on one line.
func flat(s string) string { return strings.Join(strings.Fields(s), " ") }

func head(s string, n int) string { return lexicon.Head(s, n) }

// block is a stretch of a companion: quoted lines that belong together, or one line of ours.
type block struct {
	section string
	quoted  bool
	text    string // unquoted
}

func isQuote(line string) bool {
	line = strings.TrimLeft(line, " ")
	return strings.HasPrefix(line, "> ") || strings.HasPrefix(line, ">+ ")
}

// blocks reads a rendered text.
func blocks(text string) (all []block) {
	name, open := "", ""
	shut := func() {
		if open == "" {
			return
		}
		plain, err := mark.Unquote(open)
		if err != nil {
			plain = open
		}
		all, open = append(all, block{name, true, plain}), ""
	}
	for line := range strings.Lines(text) {
		if isQuote(line) {
			open += line
			continue
		}
		shut()
		line = strings.TrimSpace(line)
		if after, ok := strings.CutPrefix(line, "## "); ok && slices.Contains(sectionNames, after) {
			name = after
		} else if line != "" {
			plain, err := mark.Unquote("> " + line)
			if err != nil {
				plain = line
			}
			all = append(all, block{name, false, plain})
		}
	}
	shut()
	return all
}

// plainText is a rendered text with its quotes undone, for graders and for searching.
func plainText(text string) string {
	var b strings.Builder
	for _, one := range blocks(text) {
		b.WriteString(one.text + "\n")
	}
	return b.String()
}

// shown tells which of the session's facts a rendered text shows.
func (s *session) shown(text string) []bool {
	var ctx scorecard.Context
	ctx.Hold(&transcript.Item{Kind: transcript.Text, Raw: transcript.Quote(plainText(text))})
	all := make([]bool, len(s.list))
	for i, one := range s.list {
		all[i] = ctx.Shows(one)
	}
	return all
}

var sentenceEnd = regexp.MustCompile(`[.!?](?:\s+|$)|[。！？]|\n`)

// sentences gives the sentences and lines of a text that are long enough to say something, without marks of lists.
func sentences(text string) (all []string) {
	from := 0
	add := func(s string) {
		if s = flat(strings.TrimLeft(s, "#*+-> \t")); chars(s) >= 10 {
			all = append(all, s)
		}
	}
	for _, m := range sentenceEnd.FindAllStringIndex(text, -1) {
		add(text[from:m[1]])
		from = m[1]
	}
	add(text[from:])
	return all
}

// wants fails where a judge that should complain does not, or the other way round.
func wants(t *testing.T, what string, bad []string, complaint bool) {
	t.Helper()
	if (len(bad) > 0) != complaint {
		t.Errorf("%s: complaints %q, want some: %v", what, bad, complaint)
	}
}
