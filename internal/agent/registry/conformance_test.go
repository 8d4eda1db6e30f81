package registry_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"ccd/internal/agent/registry"
	"ccd/internal/testkit"
	"ccd/internal/transcript"
)

// The conformance suite. Every row runs it on one invented story, written in the agent's own format:
//
//	testdata/story/AGENT.jsonl          the story: a file is read, fixed and tested, then another is written
//	testdata/story/AGENT.json           the same as one object, if Format.Member allows such files
//	testdata/story/AGENT.FORM.jsonl     the same in another form of the format, if forms names one
//	testdata/story/AGENT.later.jsonl    a session with a message taken back and a compaction, if the format has them
//	testdata/story/AGENT.strange.jsonl  records of types that do not exist; "@parent" becomes the ID of the record before
//
// If forms says that the format lacks lines, the story is AGENT.json alone, and the later session AGENT.later.json. A
// new row needs these files and a line in forms.

// form is what the suite cannot derive from a format.
type form struct {
	path    string   // of a session, below the row's first root
	context int64    // the context in the story's last report of usage
	before  int64    // the context before the compaction, 0 if the format does not record it
	lacks   []string // abilities that the format does not have
	also    string   // another form of the format, or ""
}

// The abilities of a format.
const (
	lines       = "lines"       // one record per line, and not only one object per session
	callIDs     = "call IDs"    // calls and results name each other
	results     = "results"     // results of tools
	wholeReads  = "whole reads" // reads show the whole file unchanged
	status      = "status"      // how a command ended, as a number
	usage       = "usage"       // size of the context
	compactions = "compactions" // where it happened, and its summary
	rewinds     = "rewinds"     // messages that a person took back
	times       = "times"
	cwd         = "cwd"
	models      = "models"
)

var forms = map[string]form{
	"claude-code": {path: "-home-ada-shop/" + storyID + ".jsonl", context: 22409, before: 151300},
	"codex":       {path: "2026/09/14/rollout-2026-09-14T10-00-00-" + storyID + ".jsonl", context: 11777},
	// Records of a main session do not have the working directory.
	"gemini-cli": {path: "shop/chats/session-2026-09-14T08-00-1f0c2d3e.jsonl", context: 9509, lacks: []string{cwd}},
	// Reads lose the white space at the ends of lines.
	"qwen-code": {path: "-home-ada-shop/chats/" + storyID + ".jsonl", context: 16200, before: 151300, lacks: []string{wholeReads}},
	// Usage is in a file beside the session; taking a message back begins a new session.
	"factory-droid": {path: "-home-ada-shop/" + storyID + ".jsonl", lacks: []string{usage, rewinds, wholeReads}, also: "streamed"},
	"cursor": {
		path:  "home-ada-shop/agent-transcripts/" + storyID + "/" + storyID + ".jsonl",
		lacks: []string{callIDs, results, wholeReads, status, usage, compactions, rewinds, times, cwd, models},
	},
	// Usage is reported at a session's end and at compactions; messages that are taken back are cut out of the file.
	"copilot-cli": {path: storyID + "/events.jsonl", context: 16421, before: 151300, lacks: []string{rewinds, wholeReads}},
	"pi":          {path: "--home-ada-shop--/2026-09-14T08-00-00-000Z_" + storyID + ".jsonl", context: 13160, before: 151300},
	"openclaw":    {path: "main/sessions/" + storyID + ".jsonl", context: 13160, before: 151300, lacks: []string{wholeReads}},
	// A list of messages has neither usage, statuses, compactions nor rewinds.
	"tinker": {path: "shop/" + storyID + ".jsonl", lacks: []string{usage, status, compactions, rewinds, wholeReads}},
	// Going back removes what follows from the database.
	"opencode": {path: "ses_" + storyID + ".json", context: 16140, lacks: []string{lines, rewinds, wholeReads}},
	// The working directory is outside the messages; what follows a message that is taken back is cut out of the file.
	"amp": {path: "T-" + storyID + ".json", context: 13409, lacks: []string{lines, rewinds, cwd, wholeReads}},
}

// agents returns the rows that have a package, and one of a configuration.
func agents() registry.Table {
	return registry.Table{}.With(registry.Lists("tinker", []string{"/srv/tinker/sessions"}, ""))
}

// The story, in every format.
const (
	storyID  = "6f0d2b1e-93c4-4a7e-8b55-1d0c7e2fa901"
	storyDir = "/home/ada/shop"

	oldLine   = "    return round(float(amount) * 100)"
	newLine   = "    return int(Decimal(amount) * 100)"
	moneyHead = "def cents(amount):\n    # amounts come as text from the till\n"
	changes   = "# Changes\n\n- Amounts are whole cents: 48213, not 48212.\n"
	failure   = "E AssertionError: 48212 != 48213"
	success   = "38 passed"
)

var (
	asked      = []string{"Mend the rounding in ledger/money.py.", "Now write it down in CHANGES.md."}
	told       = []string{"I look at the file first.", "The rounding is mended: cents are integers now.", "It is written down."}
	done       = []string{"read ledger/money.py", "run pytest -q", "edit ledger/money.py", "run pytest -q", "write CHANGES.md"}
	askedLater = []string{"Which rounding do the invoices use?", "Use floats there too.", "Use decimals there too."}
)

const takenBack = 1 // index in askedLater of the message that is taken back, if the format has that

// story is one fixture of a row.
type story struct {
	transcript.Format
	form
	data []byte
	list bool // an object with an array of messages
	all  []transcript.Record
}

func (s *story) has(ability string) bool { return !slices.Contains(s.lacks, ability) }

func (s *story) decode(class transcript.Class, data []byte, cuts ...int) []transcript.Record {
	return decode(transcript.NewDecoder(s.Format, class), data, cuts...)
}

// decode returns the records of data, cut into segments at cuts.
func decode(d *transcript.Decoder, data []byte, cuts ...int) (all []transcript.Record) {
	from := 0
	for _, to := range append(slices.Clone(cuts), len(data)) {
		seg := transcript.Segment{Start: transcript.Cursor{Offset: int64(from)}, Data: bytes.Clone(data[from:to]), Rest: to == len(data)}
		for r := range d.Records(seg) {
			all = append(all, r.Clone())
		}
		for i := range seg.Data { // a record must not refer to a segment that has ended
			seg.Data[i] = '#'
		}
		from = to
	}
	return all
}

// digests returns all that was decoded, except the positions.
func digests(all []transcript.Record) (out []string) {
	for i := range all {
		r, items := all[i], slices.Clone(all[i].Items)
		for j := range items {
			items[j].Span.Off -= r.Span.Off
		}
		r.N, r.Span.Off, r.Items = 0, 0, items
		var b strings.Builder
		dump(&b, &r)
		out = append(out, b.String())
	}
	return out
}

// differ returns the differences of two lists as an error.
func differ(got, want []string) error {
	if slices.Equal(got, want) {
		return nil
	}
	return fmt.Errorf("(-want +got):\n%s", cmp.Diff(want, got))
}

// check is one law. run returns how a fixture breaks it; spoil is the negative control: it makes a fixture of any row
// break the law.
type check struct {
	name  string
	run   func(*story) error
	spoil func(*story)
}

var (
	ofAnyFile = []check{
		{"lossless", lossless, func(s *story) { s.all[1].Span.Off++ }},
		{"cut anywhere", cutAnywhere, func(s *story) { s.notice(func(d *transcript.Decoder, _ *transcript.Record) int64 { return d.Kept() }) }},
		{"strange records", strangeRecords, func(s *story) { s.notice(number) }},
		{"torn lines", tornLines, func(s *story) { s.notice(number) }},
		{"sniffing", sniffing, func(s *story) { s.Agent = "another" }},
	}
	ofStory = []check{
		{"people", people, func(s *story) { s.change(transcript.Human, func(it *transcript.Item) { it.Kind = transcript.Meta }) }},
		{"replies", replies, func(s *story) { s.change(transcript.Text, func(it *transcript.Item) { it.Kind = transcript.Meta }) }},
		{"pairing", pairing, func(s *story) { s.change(transcript.Call, func(it *transcript.Item) { it.Call += "x" }) }},
		{"files and commands", work, func(s *story) { s.change(transcript.Call, func(it *transcript.Item) { it.Tool = "" }) }},
		{"usage", used, func(s *story) { s.all[len(s.all)-1].Usage = &transcript.Usage{Context: 1} }},
		{"facts", facts, func(s *story) { s.all[len(s.all)-1].Unknown = true }},
		{"place", place, func(s *story) { s.path = "stray.txt" }},
	}
	ofLater = []check{
		{"people", peopleLater, func(s *story) { s.change(transcript.Human, func(it *transcript.Item) { it.Kind = transcript.Meta }) }},
		{"rewind", rewind, func(s *story) { s.all[0].Back++ }},
		{"compaction", compaction, func(s *story) { s.change(transcript.Summary, func(it *transcript.Item) { it.Kind = transcript.Text }) }},
	}
)

// TestEveryAgent runs the suite on every row of the registry.
func TestEveryAgent(t *testing.T) {
	for agent := range forms {
		if _, ok := agents().Lookup(agent); !ok {
			t.Errorf("forms tells of %s, which is no row", agent)
		}
	}
	eachFixture(t, func(t *testing.T, file string, checks []check) {
		for _, c := range checks {
			t.Run(c.name, func(t *testing.T) {
				if err := c.run(load(t, file)); err != nil {
					t.Error(err)
				}
			})
		}
	})
}

// TestEveryCheckCanFail is the negative control of the suite.
func TestEveryCheckCanFail(t *testing.T) {
	eachFixture(t, func(t *testing.T, file string, checks []check) {
		for _, c := range checks {
			s := load(t, file)
			if c.spoil(s); c.run(s) == nil {
				t.Errorf("%s holds although the fixture was spoiled", c.name)
			}
		}
	})
}

// eachFixture calls do with each fixture of every row and the checks that it must pass.
func eachFixture(t *testing.T, do func(t *testing.T, file string, checks []check)) {
	for _, f := range agents().All() {
		t.Run(f.Agent, func(t *testing.T) {
			form, ok := forms[f.Agent]
			if !ok {
				t.Fatalf("%s is not in forms: say there what its format does not hold", f.Agent)
			}
			fixtures := map[string][]check{"story": append(slices.Clone(ofAnyFile), ofStory...)}
			end := ".jsonl"
			if slices.Contains(form.lacks, lines) {
				end = ".json"
			} else if f.Member != "" {
				fixtures["object"] = fixtures["story"]
			}
			if !slices.Contains(form.lacks, compactions) || !slices.Contains(form.lacks, rewinds) {
				fixtures["later"] = append(slices.Clone(ofAnyFile), ofLater...)
			}
			if form.also != "" {
				fixtures[form.also] = fixtures["story"]
			}
			suffix := map[string]string{"story": end, "object": ".json", "later": ".later" + end, form.also: "." + form.also + ".jsonl"}
			for name, checks := range fixtures {
				t.Run(name, func(t *testing.T) { do(t, f.Agent+suffix[name], checks) })
			}
		})
	}
}

// load reads a fixture of the row that its name begins with.
func load(t testing.TB, file string) *story {
	t.Helper()
	agent, _, _ := strings.Cut(file, ".")
	f, ok := agents().Lookup(agent)
	if !ok {
		t.Fatalf("%s is no row's", file)
	}
	s := &story{Format: f, form: forms[agent], data: read(t, filepath.Join("testdata", "story", file)), list: strings.HasSuffix(file, ".json")}
	if s.all = s.decode(transcript.Main, s.data); len(s.all) < 3 {
		t.Fatalf("%s holds %d records", file, len(s.all))
	}
	return s
}

// lossless checks that the records and the line ends between them are the file; in an object, each element is a record.
func lossless(s *story) error {
	for i := range s.all {
		if err := sound(&s.all[i], s.data, i+1); err != nil {
			return err
		}
	}
	if s.list {
		var object map[string]json.RawMessage
		var elements []json.RawMessage
		if err := errors.Join(json.Unmarshal(s.data, &object), json.Unmarshal(object[s.Member], &elements)); err != nil {
			return err
		}
		return differ(raws(s.all, func(r transcript.Record) string { return string(r.Raw) }), raws(elements, func(e json.RawMessage) string { return string(e) }))
	}
	return joined(s.all, s.data)
}

func raws[T any](list []T, text func(T) string) (all []string) {
	for _, one := range list {
		all = append(all, text(one))
	}
	return all
}

// cutAnywhere checks that the records do not depend on how the bytes were cut.
func cutAnywhere(s *story) error {
	whole := digests(s.decode(transcript.Main, s.data))
	every := make([]int, len(s.data))
	for i := range every {
		every[i] = i
	}
	if err := differ(digests(s.decode(transcript.Main, s.data, every...)), whole); err != nil {
		return fmt.Errorf("byte by byte: %w", err)
	}
	start := s.data[:min(len(s.data), 1200)]
	whole = digests(s.decode(transcript.Main, start))
	step := 1
	if !testkit.Full() {
		step = 37
	}
	for at := 0; at < len(start); at += step {
		if err := differ(digests(s.decode(transcript.Main, start, at)), whole); err != nil {
			return fmt.Errorf("the beginning cut at %d: %w", at, err)
		}
	}
	whole = digests(s.decode(transcript.Main, s.data))
	rnd := rand.New(rand.NewPCG(1, 2))
	for range 5 {
		var cuts []int
		for at := rnd.IntN(len(s.data)); at < len(s.data); at += 1 + rnd.IntN(len(s.data)/3) {
			cuts = append(cuts, at)
		}
		if err := differ(digests(s.decode(transcript.Main, s.data, cuts...)), whole); err != nil {
			return fmt.Errorf("cut at %v: %w", cuts, err)
		}
	}
	return nil
}

// with returns the fixture with one more line, or element, after the record with that index.
func (s *story) with(i int, line string) []byte {
	at, before := s.all[i].Span.End(), "\n"
	if s.list {
		before = ",\n    "
	}
	return slices.Concat(s.data[:at], []byte(before+line), s.data[at:])
}

// among decodes the fixture once for each record, with the line after it. The line must be a record of its own, which
// judge checks, and must change no other.
func (s *story) among(line func(i int) string, judge func(r transcript.Record) error) error {
	want := digests(s.decode(transcript.Main, s.data))
	for i := range s.all {
		text := line(i)
		got := s.decode(transcript.Main, s.with(i, text))
		if len(got) != len(want)+1 || string(got[i+1].Raw) != text {
			return fmt.Errorf("with %s behind #%d there are %d records, want %d", text, i+1, len(got), len(want)+1)
		}
		if err := judge(got[i+1]); err != nil {
			return fmt.Errorf("%s behind #%d: %w", text, i+1, err)
		}
		for _, r := range got { // a line between preserved records is preserved too
			if b := r.Boundary; b != nil {
				b.Preserved = slices.DeleteFunc(b.Preserved, func(uuid string) bool { return uuid == got[i+1].UUID })
			}
		}
		if err := differ(digests(slices.Delete(got, i+1, i+2)), want); err != nil {
			return fmt.Errorf("%s behind #%d changes another: %w", text, i+1, err)
		}
	}
	return nil
}

// strangeRecords checks that a record of an unknown type is marked unknown, has no person's words and changes nothing
// else.
func strangeRecords(s *story) error {
	file, err := os.ReadFile(filepath.Join("testdata", "story", s.Agent+".strange.jsonl"))
	if err != nil {
		return err
	}
	for strange := range strings.Lines(string(file)) {
		err = errors.Join(err, s.among(func(i int) string {
			parent := ""
			for _, r := range s.all[:i+1] {
				if r.UUID != "" {
					parent = r.UUID
				}
			}
			return strings.ReplaceAll(strings.TrimSpace(strange), "@parent", parent)
		}, func(r transcript.Record) error {
			said := slices.ContainsFunc(r.Items, func(it transcript.Item) bool { return it.Kind == transcript.Human })
			if r.Broken || !r.Unknown && !r.UI || said || r.Usage != nil || r.Boundary != nil || r.Back != 0 {
				return fmt.Errorf("is taken for more than it is: %s", digests([]transcript.Record{r})[0])
			}
			return nil
		}))
	}
	return err
}

// tornLines checks that a truncated line is broken and changes nothing else.
func tornLines(s *story) error {
	return s.among(func(i int) string {
		if s.list {
			return `{"id":"torn","timestamp":,}`
		}
		return string(s.all[i].Raw[:len(s.all[i].Raw)/2])
	}, func(r transcript.Record) error {
		if !r.Broken || len(r.Items) > 0 {
			return fmt.Errorf("is not broken: %s", digests([]transcript.Record{r})[0])
		}
		return nil
	})
}

// family returns the agent that the lines of a row look like: OpenClaw embeds Pi, and only the path of a session tells
// them apart.
func family(agent string) string {
	if agent == "openclaw" {
		return "pi"
	}
	return agent
}

// sniffing checks that the fixture, whole or by its beginning, is recognized as its own agent's.
func sniffing(s *story) error {
	for n := len(s.data); n > 1000; n = n * 9 / 10 { // a shorter beginning may have no whole line
		agent, class, ok := agents().Sniff(s.data[:n])
		if !ok || agent != family(s.Agent) || class != transcript.Main {
			return fmt.Errorf("Sniff of the first %d bytes: %q, class %d, %v", n, agent, class, ok)
		}
	}
	return nil
}

// said returns what people wrote.
func said(all []transcript.Record) (texts []string) {
	for _, r := range all {
		for _, it := range r.Items {
			if it.Kind == transcript.Human {
				text, _ := it.Said()
				texts = append(texts, text)
			}
		}
	}
	return texts
}

// people checks that exactly the texts of the person are decoded as such, and none in a sub-agent's file.
func people(s *story) error {
	return errors.Join(differ(said(s.all), asked), differ(said(s.decode(transcript.SubAgent, s.data)), nil))
}

func replies(s *story) error {
	var texts []string
	for _, r := range s.all {
		for _, it := range r.Items {
			if it.Kind == transcript.Text {
				texts = append(texts, string(transcript.Original(it.Kind, it.Raw)))
			}
		}
	}
	return differ(texts, told)
}

// pairing checks that each result has its call before it and names its tool, and that each call has one result.
func pairing(s *story) error {
	tools, answers := map[string]string{}, map[string]int{}
	for _, r := range s.all {
		for _, it := range r.Items {
			tool, called := tools[it.Call]
			switch {
			case it.Kind != transcript.Call && it.Kind != transcript.Result:
			case it.Tool == "":
				return fmt.Errorf("#%d: a %s without a tool", r.N, it.Kind)
			case (it.Call != "") != s.has(callIDs):
				return fmt.Errorf("#%d: a %s of %s with the ID %q", r.N, it.Kind, it.Tool, it.Call)
			case it.Kind == transcript.Call && called && it.Call != "":
				return fmt.Errorf("#%d: %s is called a second time", r.N, it.Call)
			case it.Kind == transcript.Call:
				tools[it.Call] = it.Tool
			case !called || tool != it.Tool:
				return fmt.Errorf("#%d: a result of %s by %s, called was %q", r.N, it.Call, it.Tool, tool)
			default:
				answers[it.Call]++
			}
		}
	}
	for call := range tools {
		if n := answers[call]; n != 0 && !s.has(results) || n != 1 && s.has(results) {
			return fmt.Errorf("%s has %d results", call, n)
		}
	}
	return nil
}

// step is a call with its outcome.
type step struct {
	transcript.Item
	transcript.Action
	out transcript.Outcome
}

func (s *story) steps() (all []step) {
	at := map[string]int{}
	for _, r := range s.all {
		for _, it := range r.Items {
			i, called := at[it.Call]
			switch {
			case it.Kind == transcript.Call:
				at[it.Call] = len(all)
				all = append(all, step{Item: it, Action: it.Understand()})
				all[len(all)-1].Resolve(storyDir)
			case it.Kind == transcript.Result && called:
				all[i].out = it.Explain(all[i].Tool, all[i].Op)
			}
		}
	}
	return all
}

var opNames = map[transcript.Op]string{
	transcript.Read: "read", transcript.Edit: "edit", transcript.Write: "write", transcript.Command: "run", transcript.Delete: "delete", transcript.Rename: "rename",
	transcript.Search: "search", transcript.Web: "web", transcript.Plan: "plan", transcript.Ask: "ask", transcript.Agent: "agent", transcript.Revert: "revert", transcript.Touch: "touch", transcript.Other: "change",
}

// work checks that the calls are understood: the files that they touch, the content of these afterwards, and how
// commands ended.
func work(s *story) error {
	var did []string
	var err error
	failed := false
	for _, d := range s.steps() {
		if d.Op == transcript.Command && len(d.Files) == 0 {
			did = append(did, "run "+d.Command)
			want := success
			if !failed {
				failed, want = true, failure
			}
			err = errors.Join(err, s.ended(d, want))
			continue
		}
		for n, c := range d.Changes(&d.out) {
			did = append(did, opNames[c.Op]+" "+strings.TrimPrefix(c.Path, storyDir+"/"))
			err = errors.Join(err, s.changed(d, n, c))
		}
		if d.out.Failed {
			err = errors.Join(err, fmt.Errorf("%s failed: %+v", d.Tool, d.out))
		}
	}
	return errors.Join(differ(did, done), err)
}

// ended checks the outcome of a run of the tests, the first of which failed.
func (s *story) ended(d step, want string) error {
	o, bad := d.out, want == failure
	switch exit := map[bool]int{true: 1}[bad]; {
	case !s.has(results):
		if o.Text != "" || o.HasExit {
			return fmt.Errorf("the format has results after all: %+v", o)
		}
	case !strings.Contains(o.Text, want), o.Failed != bad, o.Running, o.HasExit && o.Exit != exit, s.has(status) && bad && !o.HasExit:
		return fmt.Errorf("of %q, want %q with exit status %d: %+v", d.Command, want, exit, o)
	}
	return nil
}

// changed checks what a call read, or what it left in the file.
func (s *story) changed(d step, n int, c transcript.FileChange) error {
	var before transcript.Content
	want := changes
	switch c.Op {
	case transcript.Read:
		for line := range strings.Lines(moneyHead + oldLine) {
			if s.has(results) && !strings.Contains(d.out.Text, strings.TrimSuffix(line, "\n")) {
				return fmt.Errorf("what was read has no line %q: %q", line, d.out.Text)
			}
		}
		if got, ok := d.Client().Reading(d.Tool, &d.Action, &d.out).Text(); ok != s.has(wholeReads) || ok && strings.TrimSuffix(got, "\n") != moneyHead+oldLine {
			return fmt.Errorf("by what was read %s holds %q, all of it: %v", c.Path, got, ok)
		}
		return nil
	case transcript.Edit:
		before, want = transcript.Whole(moneyHead+oldLine+"\n"), moneyHead+newLine+"\n"
	}
	if got, _ := d.Client().After(d.Tool, d.Raw, n, before).Text(); got != want {
		return fmt.Errorf("%s leaves %q in %s, want %q", d.Tool, got, c.Path, want)
	}
	return nil
}

// used checks that the last report of usage is what the fixture says.
func used(s *story) error {
	var last *transcript.Usage
	for _, r := range s.all {
		if r.Usage != nil && !r.Usage.Side {
			last = r.Usage
		}
	}
	switch {
	case (last != nil) != s.has(usage):
		return fmt.Errorf("usage is %+v", last)
	case last != nil && last.Context != s.context:
		return fmt.Errorf("the last reply held %d tokens, want %d", last.Context, s.context)
	}
	return nil
}

// facts checks that nothing in the story is unknown, some of it is bookkeeping, and the records say where and when they
// were written.
func facts(s *story) error {
	found := map[string]bool{}
	book := 0
	for _, r := range s.all {
		if r.Unknown || r.Broken || r.Long || r.Boundary != nil || r.Back != 0 || r.Resumed != nil {
			return fmt.Errorf("#%d is strange: %s", r.N, digests([]transcript.Record{r})[0])
		}
		if r.Cwd != "" && r.Cwd != storyDir {
			return fmt.Errorf("#%d: cwd %q", r.N, r.Cwd)
		}
		if r.UI && len(r.Items) == 0 {
			book++
		}
		found[times] = found[times] || r.Time.Year() == 2026
		found[cwd] = found[cwd] || r.Cwd != ""
		found[models] = found[models] || r.Model != ""
	}
	for _, ability := range []string{times, cwd, models} {
		if found[ability] != s.has(ability) {
			return fmt.Errorf("%s: found is %v", ability, found[ability])
		}
	}
	if book == 0 {
		return errors.New("no bookkeeping")
	}
	return nil
}

// place checks that a file of the row's form below its own root is found, compressed too, and that other files are not.
func place(s *story) error {
	home := filepath.FromSlash("/home/ada")
	root := s.Roots(func(string) string { return "" }, home)[0]
	for _, suffix := range []string{"", ".zst"} {
		file := filepath.Join(root, filepath.FromSlash(s.path)+suffix)
		got, ok := agents().Find(s.Agent, root, file)
		if !ok || got.Agent != s.Agent || got.ID == "" || got.Class != transcript.Main || got.Path != file || got.Packed != (suffix != "") {
			return fmt.Errorf("%s: %v %+v", file, ok, got)
		}
	}
	for _, stray := range []string{"", "x.ccd.md", ".x.jsonl", "stray.txt", "../stray.jsonl"} {
		if got, ok := agents().Find(s.Agent, root, filepath.Join(root, filepath.FromSlash(stray))); ok {
			return fmt.Errorf("%q is found as %+v", stray, got)
		}
	}
	return nil
}

func peopleLater(s *story) error {
	want := slices.Clone(askedLater)
	if !s.has(rewinds) {
		want = slices.Delete(want, takenBack, takenBack+1)
	}
	return differ(said(s.all), want)
}

// rewind checks that one message of the person is taken back, before the next one is said.
func rewind(s *story) error {
	back, turns := 0, 0
	for _, r := range s.all {
		if r.Back != 0 && turns != takenBack+1 {
			return fmt.Errorf("#%d takes back %d of %d turns", r.N, r.Back, turns)
		}
		back += r.Back
		turns += len(said([]transcript.Record{r}))
	}
	if (back == 1) != s.has(rewinds) || back > 1 {
		return fmt.Errorf("%d turns are taken back", back)
	}
	return nil
}

// compaction checks that there is one boundary, with its summary in it or after it, and that it says what stays.
func compaction(s *story) error {
	bounds, summaries := 0, 0
	uuids := map[string]bool{}
	for _, r := range s.all {
		for _, it := range r.Items {
			if it.Kind == transcript.Summary {
				if summaries++; bounds == 0 && r.Boundary == nil {
					return fmt.Errorf("#%d: a summary before the boundary", r.N)
				}
			}
		}
		if b := r.Boundary; b != nil {
			bounds++
			held := transcript.Replacement(&r)
			for _, it := range held {
				if !bytes.Equal(it.Raw, s.data[it.Span.Off:it.Span.End()]) {
					return fmt.Errorf("#%d: %s of the new context is not at %+v", r.N, it.Raw, it.Span)
				}
			}
			if b.Before != s.before || b.Replaced != (len(held) > 0) {
				return fmt.Errorf("#%d: boundary %+v, %d items of the new context", r.N, b, len(held))
			}
			for _, uuid := range b.Preserved {
				if !uuids[uuid] {
					return fmt.Errorf("#%d preserves %q, which does not stand before it", r.N, uuid)
				}
			}
		}
		uuids[r.UUID] = true
	}
	if want := map[bool]int{true: 1}[s.has(compactions)]; bounds != want || summaries != want {
		return fmt.Errorf("%d boundaries and %d summaries", bounds, summaries)
	}
	return nil
}

// change spoils the first item of a kind.
func (s *story) change(kind transcript.Kind, spoil func(it *transcript.Item)) {
	for _, r := range s.all {
		for i := range r.Items {
			if r.Items[i].Kind == kind {
				spoil(&r.Items[i])
				return
			}
		}
	}
}

// notice spoils the row: its records report a number that they must not depend on.
func (s *story) notice(what func(*transcript.Decoder, *transcript.Record) int64) {
	parse := s.Parse
	s.Parse = func(d *transcript.Decoder, r *transcript.Record, value transcript.Node) {
		parse(d, r, value)
		r.Title = fmt.Sprint(what(d, r))
	}
}

func number(_ *transcript.Decoder, r *transcript.Record) int64 { return int64(r.N) }
