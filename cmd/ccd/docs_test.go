package main

import (
	"bufio"
	"bytes"
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/cobra"

	"ccd/cmd/ccd/internal/account"
	"ccd/cmd/ccd/internal/cli"
	"ccd/compactor/companion"
)

var update = flag.Bool("update", false, "write the generated documents and golden files anew")

func golden(t *testing.T, path, want string) {
	t.Helper()
	if *update {
		must(t, os.MkdirAll(filepath.Dir(path), 0o755))
		must(t, os.WriteFile(path, []byte(want), 0o644))
	}
	got := read(t, path)
	if diff := cmp.Diff(want, string(got)); diff != "" {
		t.Errorf("%s is stale, run: go test ./cmd/ccd -args -update (-want +got):\n%s", path, diff)
	}
}

// TestHelp checks what the help of every command must have.
func TestHelp(t *testing.T) {
	cli.EachCommand(newApp(cli.Std{Out: &bytes.Buffer{}}, account.Env{}).Root(), func(c *cobra.Command) {
		if c.Short == "" || !c.Hidden && c.HasParent() && !c.Parent().HasParent() && c.GroupID == "" {
			t.Errorf("%s: group or short help is missing", c.CommandPath())
		}
		for line := range strings.Lines(c.Long) {
			if n := utf8.RuneCountInString(strings.TrimSuffix(line, "\n")); n > 80 {
				t.Errorf("%s: line of %d characters: %s", c.CommandPath(), n, line)
			}
		}
		for line := range strings.Lines(c.Example) {
			if line = strings.TrimSpace(line); strings.HasPrefix(line, "ccd ") && unknown(c.Root(), strings.Split(line, "   ")[0]) != "" {
				t.Errorf("%s: example %q names no command", c.CommandPath(), line)
			}
		}
	})
	if first := done(t, t.TempDir(), "help"); strings.Count(first, "\n") > 40 {
		t.Errorf("%d lines: the first page does not fit one screen", strings.Count(first, "\n"))
	}
}

// TestSynonyms: a synonym is not a command, and what it suggests is one.
func TestSynonyms(t *testing.T) {
	root := newApp(cli.Std{Out: &bytes.Buffer{}}, account.Env{}).Root()
	for typed, meant := range cli.Synonyms {
		if c, _, err := root.Find([]string{typed}); err == nil && c != root {
			t.Errorf("%s is a command", typed)
		}
		if line := "ccd " + meant; unknown(root, line) != "" {
			t.Errorf("%s leads to %q, which is none", typed, line)
		}
	}
}

var (
	// typed matches a command line in a document: between backquotes or on a line of a block.
	typed   = regexp.MustCompile("(?m)`(ccd [^`\n]*)`|^ *(?:\\$ )?(?:sudo )?(ccd [a-z][^\n]*)$")
	block   = regexp.MustCompile("(?ms)^```.*?^```$|^    [^\n]*$")
	flagged = regexp.MustCompile(`(?:^|[\s\[|])(--?[a-z][a-z-]*)`)
)

// unknown returns the first name in a command line that is no command or flag.
func unknown(root *cobra.Command, line string) string {
	line, _, _ = strings.Cut(line, " # ")
	line, _, _ = strings.Cut(line, " | ")
	line, _, _ = strings.Cut(line, "; ")
	words := strings.Fields(line)[1:]
	if len(words) == 0 || words[0] != strings.ToLower(words[0]) || strings.HasPrefix(words[0], "-") || !regexp.MustCompile(`^[a-z]+$`).MatchString(words[0]) {
		return "" // `ccd COMMAND`, `ccd --json`, `ccd: verb object`
	}
	if words[0] == "help" || words[0] == "completion" { // cobra's own
		return ""
	}
	c, _, err := root.Find(words)
	if err != nil || c == root {
		return words[0]
	}
	for _, m := range flagged.FindAllStringSubmatch(strings.Join(words[1:], " "), -1) {
		name := strings.TrimLeft(m[1], "-")
		known := c.Flags().Lookup(name) != nil || c.InheritedFlags().Lookup(name) != nil || root.PersistentFlags().Lookup(name) != nil
		if len(name) == 1 {
			known = c.Flags().ShorthandLookup(name) != nil || c.InheritedFlags().ShorthandLookup(name) != nil
		}
		if !known {
			return m[1]
		}
	}
	return ""
}

// TestDocumentsNameRealCommands: every command line in a document names an existing command and its flags.
func TestDocumentsNameRealCommands(t *testing.T) {
	root := newApp(cli.Std{Out: &bytes.Buffer{}}, account.Env{}).Root()
	files, _ := filepath.Glob("../../docs/*.md")
	seen := 0
	for _, file := range append(files, "../../README.md", "../../CHANGELOG.md", "../../CONTRIBUTING.md") {
		text := read(t, file)
		blocks := strings.Join(block.FindAllString(string(text), -1), "\n")
		for _, m := range typed.FindAllStringSubmatch(string(text), -1) {
			if m[1] == "" && !strings.Contains(blocks, m[2]) || m[1] == "ccd summarizer request ID" { // prose; a mark in a transcript
				continue
			}
			seen++
			if bad := unknown(root, m[1]+m[2]); bad != "" {
				t.Errorf("%s: `%s`: there is no %q", filepath.Base(file), m[1]+m[2], bad)
			}
		}
	}
	if seen < 100 {
		t.Errorf("%d command lines seen", seen)
	}
	for line, want := range map[string]string{
		"ccd frobnicate": "frobnicate", "ccd run --twice": "--twice", "ccd restore -z ID": "-z", "ccd ls --json -q": "", "ccd COMMAND": "",
	} {
		if got := unknown(root, line); got != want {
			t.Errorf("%s: %q, want %q", line, got, want)
		}
	}
}

var (
	docLink = regexp.MustCompile(`\]\(([^)\s]+)\)`)
	heading = regexp.MustCompile(`(?m)^#+ (.*)$`)
	fenced  = regexp.MustCompile("(?ms)^(```+).*?^```+$")
)

// anchors returns the fragments of a page's headings.
func anchors(page string) []string {
	var all []string
	for _, m := range heading.FindAllStringSubmatch(fenced.ReplaceAllString(page, ""), -1) {
		plain := regexp.MustCompile(`[^\p{L}\p{N} _-]`).ReplaceAllString(strings.ToLower(m[1]), "")
		all = append(all, strings.ReplaceAll(plain, " ", "-"))
	}
	return all
}

// TestDocLinks checks that every link from one page to another finds its file and its heading.
func TestDocLinks(t *testing.T) {
	pages, _ := filepath.Glob("../../*.md")
	for _, pattern := range []string{"../../docs/*.md", "../../docs/*/*.md"} {
		more, _ := filepath.Glob(pattern)
		pages = append(pages, more...)
	}
	seen := 0
	for _, page := range pages {
		text := read(t, page)
		for _, m := range docLink.FindAllStringSubmatch(fenced.ReplaceAllString(string(text), ""), -1) {
			path, anchor, _ := strings.Cut(m[1], "#")
			if strings.Contains(path, "://") {
				continue
			}
			seen++
			target := page
			if path != "" {
				target = filepath.Join(filepath.Dir(page), filepath.FromSlash(path))
			}
			if _, err := os.Stat(target); err != nil {
				t.Errorf("%s: %s: %v", page, m[1], err)
				continue
			}
			if anchor == "" {
				continue
			}
			if to, err := os.ReadFile(target); err != nil || !slices.Contains(anchors(string(to)), anchor) {
				t.Errorf("%s: %s: no heading %q (%v)", page, m[1], anchor, err)
			}
		}
	}
	if seen < 20 {
		t.Errorf("%d links seen", seen)
	}
	if got := anchors("# One\n## `ccd ls`: two, 3\n```\n# none\n```\n"); !slices.Equal(got, []string{"one", "ccd-ls-two-3"}) {
		t.Errorf("anchors: %q", got)
	}
}

// exampleKeys returns the keys of config.toml.example, as section.key, with their defaults.
func exampleKeys(t *testing.T) map[string]string {
	t.Helper()
	f, err := os.Open("../../config.toml.example")
	must(t, err)
	defer f.Close()
	keys, in := map[string]string{}, ""
	for lines := bufio.NewScanner(f); lines.Scan(); {
		line := strings.TrimSpace(lines.Text())
		if name, ok := strings.CutPrefix(line, "["); ok {
			in = strings.TrimSuffix(name, "]")
			keys[in] = ""
		} else if key, value, ok := strings.Cut(line, " = "); ok && !strings.HasPrefix(line, "#") {
			keys[in+"."+key] = value
		}
	}
	return keys
}

// namedKey matches a key in a text, with its default if given: `compaction.dedup = true`.
var namedKey = regexp.MustCompile("`((?:trigger|models|compaction|companion|summarizer|archive|watch|live)(?:\\.[a-z_]+)+)(?: = ([^`]+))?`")

// TestEngineDocNamesKeys: every key in docs/ENGINE.md is in config.toml.example, with the same default.
func TestEngineDocNamesKeys(t *testing.T) {
	doc := read(t, "../../docs/ENGINE.md")
	keys := exampleKeys(t)
	named := namedKey.FindAllStringSubmatch(engineRow.ReplaceAllString(string(doc), ""), -1)
	for _, m := range named {
		if value, ok := keys[m[1]]; !ok {
			t.Errorf("docs/ENGINE.md names %s, which config.toml.example does not have", m[1])
		} else if m[2] != "" && m[2] != value {
			t.Errorf("docs/ENGINE.md: %s is %s, not %s", m[1], value, m[2])
		}
	}
	if len(named) < 15 {
		t.Errorf("%d keys were seen", len(named))
	}
}

const (
	exampleDoc  = "../../docs/EXAMPLE.md"
	exampleHead = `# A whole companion

The output of ` + "`CCD_COMPANION_HOST=forge ccd compact --no-archive --max-tokens 12000 cmd/ccd/story/ledger.jsonl`" + ` for an invented session, checked
by a test. docs/FORMAT.md explains each part.

` + "````markdown\n"
	exampleFoot = "````\n"
)

// docs/EXAMPLE.md is the companion of the invented session.
func TestExampleIsReal(t *testing.T) {
	text := doneIn(t, append(homeEnv(t.TempDir()), "CCD_COMPANION_HOST=forge"), "compact", "--no-archive", "--max-tokens", "12000", "-q", filepath.Join("story", "ledger.jsonl"))
	want := exampleHead + text + exampleFoot
	if *update {
		must(t, os.WriteFile(exampleDoc, []byte(want), 0o644))
	}
	got, err := os.ReadFile(exampleDoc)
	if err != nil || string(got) != want {
		t.Errorf("docs/EXAMPLE.md is not what ccd writes (%v): go test ./cmd/ccd -args -update", err)
	}
	p, err := companion.Parse([]byte(text))
	must(t, err)
	if err := p.Check(); err != nil {
		t.Error(err)
	}
}

// toldCommands matches command lines in a text: after a backtick, or `ccd agent` anywhere.
var toldCommands = regexp.MustCompile("`ccd ([a-z][^`\n]*)|\\bccd (agent [a-z][^`\n;,:.]*)")

// TestCommandsInTextsForAgents: every command that a text for an agent names exists and has the flags. The texts are
// those of hooks, the skill, AGENTS.md, MCP tools, companions, markers and copies.
func TestCommandsInTextsForAgents(t *testing.T) {
	seen := map[string]int{}
	for _, dir := range []string{"../../internal/agent", "../../internal/mark", "../../compactor", "."} {
		err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
			if err != nil || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
				return err
			}
			for _, line := range commandsIn(t, path) {
				seen[strings.Join(strings.Fields(line)[:1], "")]++
				if err := commandExists(line); err != nil {
					t.Errorf("%s names `ccd %s`: %v", path, line, err)
				}
				if strings.Contains(filepath.ToSlash(path), "internal/hook/") && !strings.HasPrefix(line, "agent ") {
					t.Errorf("%s names `ccd %s`, which hooks do not allow", path, line)
				}
			}
			return nil
		})
		must(t, err)
	}
	if seen["agent"] < 15 || len(seen) < 5 {
		t.Errorf("too few commands were found: %v", seen)
	}
	for _, line := range []string{"agent diff --fresh s", "agent restore --config c", "nothing", "diff --stale", "show --section now"} {
		if commandExists(line) == nil {
			t.Errorf("the test takes `ccd %s` for a command", line)
		}
	}
}

// commandsIn returns the command lines in the strings of a source file.
func commandsIn(t *testing.T, path string) (lines []string) {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
	must(t, err)
	text := func(n ast.Node) string {
		lit, ok := n.(*ast.BasicLit)
		if !ok || lit.Kind != token.STRING {
			return ""
		}
		s, _ := strconv.Unquote(lit.Value)
		return s
	}
	ast.Inspect(file, func(n ast.Node) bool {
		if call, ok := n.(*ast.CallExpr); ok && strings.Contains(filepath.ToSlash(path), "internal/hook/") && len(call.Args) == 2 {
			if f, ok := call.Fun.(*ast.SelectorExpr); ok && f.Sel.Name == "command" {
				lines = append(lines, "agent "+text(call.Args[0]))
			}
		}
		if n != nil {
			for _, m := range toldCommands.FindAllStringSubmatch(text(n), -1) {
				lines = append(lines, m[1]+m[2])
			}
		}
		return true
	})
	return lines
}

// sectionHeading matches the first line of a section of a companion.
var sectionHeading = regexp.MustCompile(`(?m)^## (.*)$`)

// commandExists checks the command of a line, its flags, and that a section it names is one of docs/EXAMPLE.md.
func commandExists(line string) error {
	if _, name, ok := strings.Cut(line, "--section "); ok {
		companion, err := os.ReadFile("../../docs/EXAMPLE.md")
		if err != nil {
			return err
		}
		name = strings.Fields(name)[0]
		if !slices.ContainsFunc(sectionHeading.FindAllStringSubmatch(string(companion), -1), func(m []string) bool { return strings.EqualFold(m[1], name) }) {
			return fmt.Errorf("a companion has no section %s", name)
		}
	}
	words := strings.Fields(line)
	if len(words) > 1 && words[0] == "agent" && !slices.Contains([]string{"restore", "search", "show"}, words[1]) {
		return fmt.Errorf("agent has no %s", words[1])
	}
	if bad := unknown(newApp(cli.Std{}, account.Env{}).Root(), "ccd "+strings.ReplaceAll(line, "--help", "")); bad != "" || words[0] == "agent" && strings.Contains(line, "--config") {
		return fmt.Errorf("no command or flag %s", bad)
	}
	return nil
}
