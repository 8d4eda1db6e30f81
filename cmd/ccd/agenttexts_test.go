package main

import (
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

	"ccd/cmd/ccd/internal/account"
	"ccd/cmd/ccd/internal/cli"
)

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
	root := newApp(cli.Std{}, account.Env{}).Root()
	c, _, err := root.Find(words)
	if err != nil || c == root {
		return fmt.Errorf("no such command (%v)", err)
	}
	for _, w := range words {
		name, isFlag := strings.CutPrefix(strings.Trim(w, "[]()"), "--")
		name, _, _ = strings.Cut(name, "=")
		if isFlag && name != "" && name != "help" && c.Flags().Lookup(name) == nil && root.PersistentFlags().Lookup(name) == nil {
			return fmt.Errorf("no flag %s", w)
		}
		if isFlag && name == "config" && words[0] == "agent" {
			return fmt.Errorf("agent takes no %s", w)
		}
	}
	return nil
}
