package house

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"ccd/internal/agent/registry"
	"ccd/internal/testkit"
)

// source is a parsed Go file.
type source struct {
	path string
	file *ast.File
	set  *token.FileSet
}

func parse(path string, text any) (source, error) {
	set := token.NewFileSet()
	f, err := parser.ParseFile(set, path, text, parser.ParseComments)
	return source{filepath.ToSlash(path), f, set}, err
}

// tree parses every Go file of the module, once for all tests.
var tree = sync.OnceValues(func() (all []source, err error) {
	err = filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (path != "." && strings.HasPrefix(d.Name(), ".") || d.Name() == "testdata"):
			return fs.SkipDir
		case !strings.HasSuffix(path, ".go"):
			return nil
		}
		s, err := parse(path, nil)
		all = append(all, s)
		return err
	})
	return all, err
})

func sources(t *testing.T) []source {
	t.Helper()
	all, err := tree()
	testkit.Must(t, err)
	return all
}

func (s source) test() bool { return strings.HasSuffix(s.path, "_test.go") }

func (s source) at(n ast.Node) string {
	return fmt.Sprintf("%s:%d", s.path, s.set.Position(n.Pos()).Line)
}

// faults returns every place in s that breaks a rule.
func (s source) faults() (found []string) {
	if !s.test() {
		found = append(found, s.undocumented()...)
	}
	ast.Inspect(s.file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncDecl:
			if n.Name.Name == "init" && n.Recv == nil {
				found = append(found, s.at(n)+": func init")
			}
		case *ast.StructType:
			for _, f := range n.Fields.List {
				if selects(f.Type, "context", "Context") {
					found = append(found, s.at(f)+": a context in a struct")
				}
			}
		case *ast.BlockStmt:
			found = append(found, s.waits(n)...)
		case *ast.CallExpr:
			if s.test() && selects(n.Fun, "time", "Sleep") {
				found = append(found, s.at(n)+": a sleeping test")
			}
		}
		return true
	})
	return found
}

// waits returns the statements of a test's block that only let time pass, unless a comment on the line says what for: a moment that is
// chosen by chance, or the pause between two looks.
func (s source) waits(block *ast.BlockStmt) (found []string) {
	line := func(n ast.Node) int { return s.set.Position(n.Pos()).Line }
	for _, stmt := range block.List {
		e, ok := stmt.(*ast.ExprStmt)
		if !ok || !s.test() {
			continue
		}
		from, ok := e.X.(*ast.UnaryExpr)
		if !ok {
			continue
		}
		call, ok := from.X.(*ast.CallExpr)
		said := slices.ContainsFunc(s.file.Comments, func(c *ast.CommentGroup) bool { return line(c) == line(e) })
		if ok && !said && selects(call.Fun, "time", "After") {
			found = append(found, s.at(e)+": a sleeping test")
		}
	}
	return found
}

func selects(e ast.Expr, pkg, name string) bool {
	sel, ok := e.(*ast.SelectorExpr)
	if !ok || sel.Sel.Name != name {
		return false
	}
	x, ok := sel.X.(*ast.Ident)
	return ok && x.Name == pkg
}

// undocumented returns the exported names of s without a comment.
func (s source) undocumented() (found []string) {
	for _, d := range s.file.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			if d.Name.IsExported() && exportedReceiver(d) && d.Doc == nil {
				found = append(found, s.at(d)+": "+d.Name.Name+" is exported and not documented")
			}
		case *ast.GenDecl:
			for _, spec := range d.Specs {
				for _, name := range bare(spec, d.Doc != nil) {
					found = append(found, s.at(spec)+": "+name+" is exported and not documented")
				}
			}
		}
	}
	return found
}

func exportedReceiver(d *ast.FuncDecl) bool {
	if d.Recv == nil || len(d.Recv.List) == 0 {
		return true
	}
	e := d.Recv.List[0].Type
	if star, ok := e.(*ast.StarExpr); ok {
		e = star.X
	}
	if index, ok := e.(*ast.IndexExpr); ok {
		e = index.X
	}
	id, ok := e.(*ast.Ident)
	return !ok || id.IsExported()
}

// bare returns the exported names of spec if neither it nor its group is documented.
func bare(spec ast.Spec, group bool) (all []string) {
	switch spec := spec.(type) {
	case *ast.TypeSpec:
		if spec.Name.IsExported() && spec.Doc == nil && !group {
			all = append(all, spec.Name.Name)
		}
	case *ast.ValueSpec:
		for _, n := range spec.Names {
			if n.IsExported() && spec.Doc == nil && spec.Comment == nil && !group {
				all = append(all, n.Name)
			}
		}
	}
	return all
}

func TestHouseRules(t *testing.T) {
	for _, s := range sources(t) {
		for _, f := range s.faults() {
			t.Error(f)
		}
	}
}

func TestHouseRulesCanFail(t *testing.T) {
	s, err := parse("bad_test.go", "package bad\nfunc init() {}\ntype s struct{ c context.Context }\nfunc f() { time.Sleep(1) }\nfunc g() {\n<-time.After(1)\n<-time.After(1) // a moment\n}\n")
	testkit.Must(t, err)
	if got := s.faults(); len(got) != 4 {
		t.Errorf("got %q, want four faults", got)
	}
	s, err = parse("bad.go", "package bad\nfunc F() {}\ntype T struct{}\nfunc (T) M() {}\nfunc (t) N() {}\nvar V, w = 1, 2\n// C is.\nconst C = 1\n")
	testkit.Must(t, err)
	if got := s.faults(); len(got) != 4 {
		t.Errorf("got %q, want four faults", got)
	}
}

// forbidden text must not occur in the tree: unfinished work, and paths of the machine that it was written on. The
// patterns are split so that this file does not match them.
var forbidden = map[string]*regexp.Regexp{
	"work left open": regexp.MustCompile(`\b(TO` + `DO|FIX` + `ME|XX` + `X)\b`),
	"a machine path": regexp.MustCompile(`(?m)(^|[^\w/.$}-])/(wo` + `rk|ro` + `ot)(/|$|[\s"'` + "`" + `)])`),
}

// hints are the words without which no pattern can match: to look for them is much faster.
var hints = []string{"TO" + "DO", "FIX" + "ME", "XX" + "X", "/wo" + "rk", "/ro" + "ot"}

func TestNoLooseEnds(t *testing.T) {
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			if d.Name() == ".git" || path == "dist" || strings.HasSuffix(filepath.ToSlash(path), "testdata/fuzz") {
				return fs.SkipDir
			}
			return err
		}
		if !d.Type().IsRegular() || d.Name() == ".git" { // .git is a file in a linked worktree
			return nil
		}
		text, err := os.ReadFile(path)
		if err != nil || bytes.IndexByte(text[:min(len(text), 1024)], 0) >= 0 { // a binary
			return err
		}
		if !slices.ContainsFunc(hints, func(h string) bool { return bytes.Contains(text, []byte(h)) }) {
			return nil
		}
		for what, re := range forbidden {
			if at := re.FindIndex(text); at != nil {
				t.Errorf("%s:%d: %s: %q", path, 1+bytes.Count(text[:at[0]], []byte("\n")), what, text[at[0]:at[1]])
			}
		}
		return nil
	})
	testkit.Must(t, err)
}

func TestLooseEndsCanFail(t *testing.T) {
	for text, want := range map[string]int{
		"// TO" + "DO: later": 1, "see /wo" + "rk/main": 1, `"/ro` + `ot"`: 1, "a/wo" + "rk/b": 0, "XX" + "XL": 0, "$HOME/ro" + "ot/x": 0,
	} {
		n := 0
		for _, re := range forbidden {
			n += len(re.FindAllString(text, -1))
		}
		if n != want {
			t.Errorf("%q: %d findings, want %d", text, n, want)
		}
	}
}

// mayName matches the packages that may name an agent, because they write what belongs to one: its settings, its hooks,
// its native sessions. All others know agents only by the registry.
var mayName = regexp.MustCompile(`^(cmd/ccd|internal/testkit/gen|internal/agent/[a-z]+)/`)

// TestAgentsAreKnownByTheirRows checks that packages that read and compact transcripts name no agent, and that only the
// registry imports the agents' packages.
func TestAgentsAreKnownByTheirRows(t *testing.T) {
	rows, err := filepath.Glob("internal/agent/*/row.go")
	testkit.Must(t, err)
	imported := 0
	for _, s := range sources(t) {
		if s.test() {
			continue
		}
		for _, i := range s.file.Imports {
			if !slices.Contains(rows, filepath.FromSlash(strings.TrimPrefix(strings.Trim(i.Path.Value, `"`), "ccd/")+"/row.go")) {
				continue
			}
			if imported++; !strings.HasPrefix(s.path, "internal/agent/registry/") {
				t.Errorf("%s imports %s", s.path, i.Path.Value)
			}
		}
		if mayName.MatchString(s.path) {
			continue
		}
		ast.Inspect(s.file, func(n ast.Node) bool {
			if lit, ok := n.(*ast.BasicLit); ok && slices.Contains((registry.Table{}).Names(), strings.Trim(lit.Value, `"`)) {
				t.Errorf("%s names the agent %s", s.at(lit), lit.Value)
			}
			return true
		})
	}
	if imported == 0 {
		t.Error("the control: the registry imports no row")
	}
}
