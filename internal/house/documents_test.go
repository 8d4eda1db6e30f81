package house

import (
	"fmt"
	"go/ast"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"ccd/internal/testkit"
)

var (
	namedTest = regexp.MustCompile(`\b(?:Test|Benchmark|Fuzz)[A-Z]\w*`)
	namedFile = regexp.MustCompile(`\b(?:archive|cmd|compactor|daemon|internal|packaging|watcher)/[\w/.-]+\.go\b`)
	namedName = regexp.MustCompile(`\b([a-z]+)\.([A-Z]\w*)`)
	namedStep = regexp.MustCompile(`(?m)^    +([A-Za-z]+)(?: {2,}|$)`) // of the daemon, in docs/ARCHITECTURE.md
)

// documents returns the documents that people read. It
// leaves out docs/EXAMPLE.md, which quotes a transcript.
func documents(t *testing.T) (paths []string) {
	t.Helper()
	paths, _ = filepath.Glob("*.md")
	err := filepath.WalkDir("docs", func(path string, _ fs.DirEntry, err error) error {
		if path = filepath.ToSlash(path); strings.HasSuffix(path, ".md") && path != "docs/EXAMPLE.md" {
			paths = append(paths, path)
		}
		return err
	})
	if err != nil || !slices.Contains(paths, "README.md") || !slices.Contains(paths, "docs/COMMANDS.md") {
		t.Fatalf("documents %q: %v", paths, err)
	}
	return append(paths, "config.toml.example")
}

// declared returns the names of the module's tests, and the names that each package declares, including methods and
// fields, as pkg.Name.
func declared(all []source) map[string]bool {
	names := map[string]bool{}
	for _, s := range all {
		pkg := path.Base(path.Dir(s.path))
		ast.Inspect(s.file, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.FuncDecl:
				names[pkg+"."+n.Name.Name] = true
				if s.test() {
					names[n.Name.Name] = true
				}
			case *ast.TypeSpec:
				names[pkg+"."+n.Name.Name] = true
			case *ast.ValueSpec:
				for _, id := range n.Names {
					names[pkg+"."+id.Name] = true
				}
			case *ast.Field:
				for _, id := range n.Names {
					names[pkg+"."+id.Name] = true
				}
			}
			return true
		})
	}
	return names
}

// absent returns the names in a document that the tree does not have: tests, Go files, and names of its packages.
func absent(doc string, names, packages map[string]bool) (missing []string) {
	for _, name := range namedTest.FindAllString(doc, -1) {
		if !names[name] {
			missing = append(missing, "test "+name)
		}
	}
	for _, file := range namedFile.FindAllString(doc, -1) {
		if _, err := os.Stat(filepath.FromSlash(file)); err != nil {
			missing = append(missing, "file "+file)
		}
	}
	for _, m := range namedName.FindAllStringSubmatch(doc, -1) {
		if packages[m[1]] && !names[m[0]] {
			missing = append(missing, "name "+m[0])
		}
	}
	return missing
}

// TestDocumentsNameWhatIsThere checks that the tests, files and names in a document exist.
func TestDocumentsNameWhatIsThere(t *testing.T) {
	all := sources(t)
	names, packages := declared(all), map[string]bool{}
	for _, s := range all {
		packages[path.Base(path.Dir(s.path))] = true
	}
	for _, file := range documents(t) {
		text, err := os.ReadFile(file)
		testkit.Must(t, err)
		for _, missing := range absent(string(text), names, packages) {
			t.Errorf("%s: there is no %s", file, missing)
		}
	}
	text, err := os.ReadFile("docs/ARCHITECTURE.md")
	testkit.Must(t, err)
	steps := namedStep.FindAllStringSubmatch(string(text), -1)
	for _, m := range steps {
		if !names["daemon."+m[1]] {
			t.Errorf("docs/ARCHITECTURE.md: the daemon has no function %s", m[1])
		}
	}
	if len(steps) < 5 {
		t.Errorf("docs/ARCHITECTURE.md names %d steps of the daemon", len(steps))
	}
	doc := "`TestHouseRules`, `TestOfNothing/part`, internal/house/nothing.go, internal/house/doc.go, house.Nothing, mark.ID and os.Nothing"
	if got := fmt.Sprint(absent(doc, names, packages)); got != "[test TestOfNothing file internal/house/nothing.go name house.Nothing]" {
		t.Error("the control: " + got)
	}
}
