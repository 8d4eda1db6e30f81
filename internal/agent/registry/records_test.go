package registry_test

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"

	"ccd/internal/agent/registry"
	"ccd/internal/testkit"
	"ccd/internal/transcript"
)

// TestRecords reads the invented records of testdata/records/AGENT.txtar and compares all that is read in them with AGENT.golden.
// The sections are transcripts, each with its class (alone: each line is one), calls and results of a tool (! if it
// failed), paths below a root, and variables that move the roots.
func TestRecords(t *testing.T) {
	files, err := filepath.Glob("testdata/records/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatal(err)
	}
	for _, file := range files {
		agent := strings.TrimSuffix(filepath.Base(file), ".txtar")
		t.Run(agent, func(t *testing.T) {
			row, _ := registry.Table{}.Lookup(agent) // plain lists have none
			client := registry.Table{}.NewDecoder(agent, transcript.Main).Client
			forms, err := txtar.ParseFile(file)
			testkit.Must(t, err)
			var b strings.Builder
			for _, f := range forms.Files {
				fmt.Fprintf(&b, "== %s\n", f.Name)
				name, how, _ := strings.Cut(f.Name, " ")
				class, alone := transcript.Main, strings.HasSuffix(how, " alone")
				if strings.HasPrefix(how, "subagent") {
					class = transcript.SubAgent
				}
				for _, part := range parts(string(f.Data), alone || how == "") {
					switch {
					case how != "":
						for r := range (registry.Table{}).NewDecoder(agent, class).Records(transcript.Segment{Data: []byte(part), Rest: true}) {
							dump(&b, r)
							meaning(&b, r)
						}
					case name == "calls":
						tool, input, _ := strings.Cut(part, " ")
						does(&b, client, tool, []byte(input))
					case name == "results":
						tool, raw, _ := strings.Cut(part, " ")
						tool, failed := strings.CutPrefix(tool, "!")
						b.WriteString(plain("%+v", client.Explain(tool, client.Op(tool), []byte(raw), failed)))
					case name == "paths":
						base, rel, _ := strings.Cut(part, " ")
						root := filepath.FromSlash("/r/" + base)
						s, ok := registry.Table{}.Find(agent, root, filepath.Join(root, filepath.FromSlash(rel)))
						fmt.Fprintf(&b, "%s: %v %q class %d parent %q thread %q source %q packed %v\n", part, ok, s.ID, s.Class, s.Parent, s.Thread, s.Source, s.Packed)
					case name == "roots":
						variable, value, _ := strings.Cut(part, "=")
						fmt.Fprintf(&b, "%s: %q\n", part, row.Roots(func(name string) string { return map[string]string{variable: value}[name] }, "/h"))
					}
				}
			}
			compare(t, strings.TrimSuffix(file, ".txtar")+".golden", b.String())
		})
	}
}

// parts returns a text whole, or its lines.
func parts(text string, lines bool) []string {
	if !lines {
		return []string{text}
	}
	return strings.Split(strings.TrimSuffix(text, "\n"), "\n")
}

// meaning writes what the items of a record mean.
func meaning(b *strings.Builder, r *transcript.Record) {
	for i := range r.Items {
		it := &r.Items[i]
		original := string(transcript.Original(it.Kind, it.Raw))
		switch it.Kind {
		case transcript.Human:
			if said, added := it.Said(); said != original {
				fmt.Fprintf(b, "   said %q, %d added\n", said, added)
			}
		case transcript.Call:
			does(b, it.Client(), it.Tool, it.Raw)
		case transcript.Result:
			o := it.Explain(it.Tool, it.Client().Op(it.Tool))
			if o.Text == original {
				o.Text = "as it is"
			}
			b.WriteString(plain("   ended %+v", o))
		}
	}
	for _, it := range transcript.Replacement(r) {
		fmt.Fprintf(b, "   then %s %.300s\n", it.Kind, it.Raw)
	}
}

// does writes what a call does: its files with what proves their change, and their text afterwards if they were empty before.
func does(b *strings.Builder, client *transcript.Client, tool string, input []byte) {
	a := client.Understand(tool, input)
	files := a.Files
	a.Files = nil
	b.WriteString(plain("   does "+opNames[a.Op]+" %+v", a))
	for n, f := range files {
		fmt.Fprintf(b, "      %s %s", opNames[f.Op], f.Path)
		if f.To != "" {
			b.WriteString(" to " + f.To)
		}
		for _, how := range []struct {
			name string
			on   bool
		}{{"tree", f.Tree}, {"loose", f.Loose}, {"if silent", f.Proof == transcript.Silence}, {"perhaps", f.Proof == transcript.Always}} {
			if how.on {
				b.WriteString(", " + how.name)
			}
		}
		if text, ok := client.After(tool, input, n, transcript.Whole("")).Text(); ok && text != "" {
			fmt.Fprintf(b, ", leaving %q", text)
		}
		b.WriteByte('\n')
	}
	if content, steps, ok := transcript.Edits(input); ok {
		fmt.Fprintf(b, "   edits %q %+v\n", content, steps)
	}
}

// unset is a field of a struct without a value.
var unset = regexp.MustCompile(`([{ ])(?:Op|Files|Path|To|Tree|Loose|Proof|Command|Dir|Query|Plan|Replace|Stdin|Job|Lines|Text|Exit|HasExit|Failed|Spilled|Images|Running|` +
	`Ran|Each|Stopped|Amended|Created|Rejected|Faked|PlanID|AgentID):(?:0|false|\[\]|\[0 0\])?([ }])`)

// plain formats a struct in one line without its fields that are unset.
func plain(format string, v any) string {
	text := strings.NewReplacer("\n", `\n`, "\r", `\r`).Replace(fmt.Sprintf(format, v))
	for before := ""; before != text; {
		before, text = text, strings.ReplaceAll(unset.ReplaceAllString(text, "$1$2"), "  ", " ")
	}
	return text + "\n"
}

// compare compares a text with a golden file, which -update writes anew.
func compare(t *testing.T, golden, got string) {
	t.Helper()
	if *update {
		testkit.Must(t, os.WriteFile(golden, []byte(got), 0o644))
	}
	if diff := cmp.Diff(string(read(t, golden)), got); diff != "" {
		t.Errorf("(-want +got), -update writes it anew:\n%s", diff)
	}
}
