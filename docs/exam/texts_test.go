//go:build rig

package exam

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"ccd/internal/agent/registry"
	"ccd/internal/transcript"
)

// compaction is where a question of the exam is asked.
type compaction struct {
	Session  string `json:"session"`
	Boundary int    `json:"boundary"` // the line of its first record, from 1
	Summary  int    `json:"summary"`  // the line of the agent's own summary
}

// row is a message as the hook takes and gives it.
type row struct {
	Role    string   `json:"role"`
	Text    string   `json:"text"`
	Calls   []use    `json:"toolUses"`
	Results []output `json:"toolResults,omitempty"`
}

type use struct {
	ID    string          `json:"tool_use_id"`
	Tool  string          `json:"tool"`
	Input json.RawMessage `json:"input"`
}

type output struct {
	ID     string `json:"tool_use_id"`
	Text   string `json:"text"`
	Failed bool   `json:"isError"`
}

const id = "00000001-0000-4000-8000-0000000000aa"

// TestTexts writes the texts that the exam asks about, one of each kind for each compaction that questions.jsonl names:
//
//	CCD_EXAM_PROGRAM=CCD CCD_EXAM_SESSIONS=DIR CCD_EXAM_OUT=OUT go test -tags rig ./docs/exam -v
//
// CCD is the binary, DIR the directory that the sessions are below. OUT/N.KIND.md has what an agent reads after compaction N:
// own (its summary), both (that and what the hook adds), small (a companion of the summary's size), default (the companion),
// live (what a compaction by ccd leaves in the context). Each is made from the records before the compaction, in a home of its own.
func TestTexts(t *testing.T) {
	ccd, dir, out := os.Getenv("CCD_EXAM_PROGRAM"), os.Getenv("CCD_EXAM_SESSIONS"), os.Getenv("CCD_EXAM_OUT")
	if ccd == "" || dir == "" || out == "" {
		t.Skip("it needs a program and real sessions")
	}
	if err := texts(ccd, dir, out); err != nil {
		t.Fatal(err)
	}
}

func texts(ccd, dir, out string) error {
	ccd, err := filepath.Abs(ccd)
	if err != nil {
		return err
	}
	questions, err := os.ReadFile("questions.jsonl")
	if err != nil {
		return err
	}
	if err := os.MkdirAll(out, 0o700); err != nil {
		return err
	}
	var all []compaction
	for d := json.NewDecoder(bytes.NewReader(questions)); d.More(); {
		var c compaction
		if err := d.Decode(&c); err != nil {
			return err
		}
		if !slices.Contains(all, c) {
			all = append(all, c)
		}
	}
	for n, c := range all {
		kinds, err := c.texts(ccd, dir)
		if err != nil {
			return fmt.Errorf("%s at %d: %w", c.Session, c.Boundary, err)
		}
		for kind, text := range kinds {
			name := fmt.Sprintf("%d.%s.md", n+1, kind)
			if err := os.WriteFile(filepath.Join(out, name), []byte(text), 0o600); err != nil {
				return err
			}
			fmt.Println(name, utf8.RuneCountInString(text), "chars")
		}
	}
	return nil
}

// texts returns the text of each kind.
func (c compaction) texts(ccd, dir string) (map[string]string, error) {
	text, err := os.ReadFile(filepath.Join(dir, c.Session))
	if err != nil {
		return nil, err
	}
	lines := bytes.SplitAfter(text, []byte("\n"))
	before := bytes.Join(lines[:c.Boundary-1], nil)
	agent, class, ok := registry.Table{}.Sniff(text[:min(len(text), 64<<10)])
	if !ok {
		return nil, fmt.Errorf("not a transcript")
	}
	var own string
	for r := range (registry.Table{}).NewDecoder(agent, class).Records(transcript.Segment{Data: lines[c.Summary-1], Rest: true}) {
		for i := range r.Items {
			own += string(transcript.Original(r.Items[i].Kind, r.Items[i].Raw))
		}
	}
	kinds := map[string]string{"own": own}
	h := home{ccd: ccd, agent: agent}
	defer h.remove()
	if err := h.place(before); err != nil {
		return nil, err
	}
	whole, err := h.run("", "compact", "--no-archive", "--stdout", h.path)
	if err != nil {
		return nil, err
	}
	small, err := h.run("", "compact", "--no-archive", "--stdout", "--max-tokens", strconv.Itoa(utf8.RuneCountInString(own)*4/3), h.path)
	if err != nil {
		return nil, err
	}
	live, err := h.live(rows(registry.Table{}.NewDecoder(agent, class), before))
	if err != nil {
		return nil, err
	}
	if err := h.place(bytes.Join(lines[:c.Summary], nil)); err != nil {
		return nil, err
	}
	added, err := h.added()
	if err != nil {
		return nil, err
	}
	kinds["default"], kinds["small"], kinds["live"], kinds["both"] = whole, small, live, own+"\n\n"+added
	return kinds, nil
}

// home is a home directory with one session.
type home struct{ ccd, agent, dir, path string }

func (h *home) remove() { os.RemoveAll(h.dir) }

// place begins a home whose session has the given records.
func (h *home) place(text []byte) (err error) {
	h.remove()
	if h.dir, err = os.MkdirTemp("", "ccd-exam-"); err != nil {
		return err
	}
	format, _ := registry.Table{}.Lookup(h.agent)
	if format.Place == nil {
		return fmt.Errorf("%s: ccd cannot write sessions of this agent", h.agent)
	}
	root := format.Roots(func(string) string { return "" }, h.dir)[0]
	h.path = filepath.Join(root, filepath.FromSlash(format.Place(&transcript.Draft{ID: id, Cwd: "/exam", Start: time.Unix(0, 0).UTC()}, root)))
	if err := os.MkdirAll(filepath.Dir(h.path), 0o700); err != nil {
		return err
	}
	return os.WriteFile(h.path, text, 0o600)
}

// run returns what ccd prints in the home.
func (h *home) run(stdin string, args ...string) (string, error) {
	c := exec.Command(h.ccd, args...)
	c.Env, c.Stdin, c.Stderr = []string{"HOME=" + h.dir, "PATH=" + os.Getenv("PATH")}, strings.NewReader(stdin), os.Stderr
	out, err := c.Output()
	if err != nil {
		return "", fmt.Errorf("ccd %s: %w", args[0], err)
	}
	return string(out), nil
}

// ask sends an event of the client to a hook and decodes its answer.
func (h *home) ask(hook string, event map[string]any, answer any) error {
	stdin, err := json.Marshal(event)
	if err != nil {
		return err
	}
	out, err := h.run(string(stdin), "hook", hook, "--agent", h.agent, "--within", "60s")
	if err != nil {
		return err
	}
	if json.Unmarshal([]byte(out), answer) != nil {
		why, _ := os.ReadFile(filepath.Join(h.dir, ".local", "state", "ccd", "hook.log"))
		return fmt.Errorf("%s: no answer: %s%s", hook, out, why)
	}
	return nil
}

// added returns what the hook adds after the agent's own compaction.
func (h *home) added() (string, error) {
	if _, err := h.run("", "run", "--once", "-q"); err != nil {
		return "", err
	}
	var answer struct {
		Output struct {
			Context string `json:"additionalContext"`
		} `json:"hookSpecificOutput"`
	}
	err := h.ask("SessionStart", map[string]any{
		"session_id": id, "transcript_path": h.path, "cwd": "/", "hook_event_name": "SessionStart", "source": "compact",
	}, &answer)
	return answer.Output.Context, err
}

// live returns what a compaction by ccd leaves of the messages.
func (h *home) live(before []row) (string, error) {
	var answer struct {
		Messages []row  `json:"messages"`
		Skip     string `json:"skip"`
	}
	err := h.ask("SessionCompact", map[string]any{
		"session_id": id, "cwd": "/", "transcript_path": h.path, "source": "auto", "messages": before,
	}, &answer)
	if err == nil && len(answer.Messages) == 0 {
		err = fmt.Errorf("no answer: %s", answer.Skip)
	}
	return shown(answer.Messages), err
}

// rows returns what the agent has in its context.
func rows(d *transcript.Decoder, text []byte) (all []row) {
	byUUID := map[string][]row{}
	for r := range d.Records(transcript.Segment{Data: text, Rest: true}) {
		if r.Boundary != nil {
			all = nil
			for _, uuid := range r.Boundary.Preserved {
				all = append(all, byUUID[uuid]...)
			}
		}
		var own []row
		for i := range r.Items {
			it := &r.Items[i]
			said := string(transcript.Original(it.Kind, it.Raw))
			switch {
			case it.Side:
			case it.Kind == transcript.Call:
				own = append(own, row{Role: "assistant", Calls: []use{{it.Call, it.Tool, json.RawMessage(slices.Clone(it.Raw))}}})
			case it.Call != "":
				own = append(own, row{Role: "user", Calls: []use{}, Results: []output{{it.Call, said, it.Failed}}})
			case it.Kind == transcript.Text:
				own = append(own, row{Role: "assistant", Text: said, Calls: []use{}})
			case it.Kind == transcript.Human, it.Kind == transcript.Summary, it.Kind == transcript.Meta && strings.HasPrefix(r.Type, "user"):
				own = append(own, row{Role: "user", Text: said, Calls: []use{}})
			}
		}
		if r.UUID != "" {
			byUUID[r.UUID] = own
		}
		all = append(all, own...)
	}
	return all
}

// shown prints messages.
func shown(all []row) string {
	var b strings.Builder
	for _, m := range all {
		fmt.Fprintf(&b, "=== %s\n", m.Role)
		if m.Text != "" {
			b.WriteString(strings.TrimSuffix(m.Text, "\n") + "\n")
		}
		for _, c := range m.Calls {
			fmt.Fprintf(&b, "[calls %s %s]\n", c.Tool, c.Input)
		}
		for _, r := range m.Results {
			fmt.Fprintf(&b, "[result]\n%s\n", strings.TrimSuffix(r.Text, "\n"))
		}
	}
	return b.String()
}
