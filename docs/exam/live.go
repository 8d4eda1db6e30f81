//go:build ignore

// Prints what a model has in its context after ccd has compacted a session at one of its records:
//
//	go run docs/exam/live.go CCD TRANSCRIPT RECORD [FOCUS]
//
// CCD is the binary, RECORD the number of the last record before the compaction. It asks `ccd hook SessionCompact` as the mod
// does, in a home of its own, with the messages since the transcript's last compaction. Standard error gets the sizes.
package main

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
	"time"

	"ccd/internal/agent/registry"
	"ccd/internal/transcript"
)

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

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "live:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	if len(args) < 3 {
		return fmt.Errorf("usage: go run docs/exam/live.go CCD TRANSCRIPT RECORD [FOCUS]")
	}
	record, err := strconv.Atoi(args[2])
	if err != nil {
		return err
	}
	ccd, err := filepath.Abs(args[0])
	if err != nil {
		return err
	}
	text, err := os.ReadFile(args[1])
	if err != nil {
		return err
	}
	lines := bytes.SplitAfter(text, []byte("\n"))
	text = bytes.Join(lines[:min(record, len(lines))], nil)
	agent, class, ok := registry.Table{}.Sniff(text[:min(len(text), 64<<10)])
	format, _ := registry.Table{}.Lookup(agent)
	if !ok || format.Place == nil {
		return fmt.Errorf("%s: not a transcript of an agent whose sessions ccd can write", args[1])
	}
	home, err := os.MkdirTemp("", "ccd-exam-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(home)
	root := format.Roots(func(string) string { return "" }, home)[0]
	path := filepath.Join(root, filepath.FromSlash(format.Place(&transcript.Draft{ID: id, Cwd: "/exam", Start: time.Unix(0, 0).UTC()}, root)))
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	if err := os.WriteFile(path, text, 0o600); err != nil {
		return err
	}
	before := rows(registry.Table{}.NewDecoder(agent, class), text)
	event := map[string]any{
		"sessionId": id, "cwd": "/", "transcriptPath": path, "trigger": "auto", "instructions": strings.Join(args[3:], " "),
		"messages": before,
	}
	if len(args) > 3 {
		event["trigger"] = "manual"
	}
	stdin, err := json.Marshal(event)
	if err != nil {
		return err
	}
	hook := exec.Command(ccd, "hook", "SessionCompact", "--agent", agent, "--within", "60s")
	hook.Env, hook.Stdin, hook.Stderr = []string{"HOME=" + home, "PATH=" + os.Getenv("PATH")}, bytes.NewReader(stdin), os.Stderr
	stdout, err := hook.Output()
	if err != nil {
		return err
	}
	var answer struct {
		Messages []row  `json:"messages"`
		Skip     string `json:"skip"`
	}
	if err := json.Unmarshal(stdout, &answer); err != nil || len(answer.Messages) == 0 {
		why, _ := os.ReadFile(filepath.Join(home, ".local", "state", "ccd", "hook.log"))
		return fmt.Errorf("no answer: %s%s", answer.Skip, why)
	}
	after := shown(answer.Messages)
	fmt.Print(after)
	fmt.Fprintf(os.Stderr, "%d chars before, %d after\n", len([]rune(shown(before))), len([]rune(after)))
	return nil
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
