package redact

import (
	"bufio"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	gotoken "go/token"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"ccd/internal/testkit"
)

// TestRecall counts what is found of the examples that gitleaks has beside its rules, and what is found in real
// transcripts: `make redact-check`. It fails if less than SECURITY.md says is found, or more of what is no secret.
func TestRecall(t *testing.T) {
	dir := os.Getenv("GITLEAKS_DIR")
	if dir == "" {
		t.Skip("GITLEAKS_DIR is not set: make redact-check")
	}
	rules := shipped(t)
	found, all := map[bool]int{}, map[bool]int{}
	missed := map[string]int{}
	files, err := filepath.Glob(filepath.Join(dir, "cmd/generate/config/rules/*.go"))
	if err != nil || len(files) < 100 {
		t.Fatalf("%d files of rules in %s: %v", len(files), dir, err)
	}
	for _, file := range files {
		examples, err := examplesIn(file)
		testkit.Must(t, err)
		for secret, texts := range examples {
			for _, text := range texts {
				all[secret]++
				if len(rules.Session().Marks([]byte(text))) > 0 {
					found[secret]++
				} else if secret {
					missed[filepath.Base(file)]++
				}
			}
		}
	}
	t.Logf("gitleaks' examples of secrets: %d of %d found (%.3f)", found[true], all[true], float64(found[true])/float64(all[true]))
	t.Logf("gitleaks' examples of no secret: %d of %d found", found[false], all[false])
	for _, file := range slices.Sorted(maps.Keys(missed)) {
		t.Logf("missed: %d in %s", missed[file], file)
	}
	lines, hits := 0, map[string]int{}
	err = filepath.WalkDir("../../../shared/corpus", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.Contains(filepath.Ext(path), ".json") {
			return err
		}
		f, err := os.Open(path)
		if err != nil {
			return err
		}
		defer f.Close()
		s := bufio.NewScanner(f)
		s.Buffer(nil, 64<<20)
		session := rules.Session()
		for n := 1; s.Scan(); n++ {
			lines++
			for _, m := range session.Marks(s.Bytes()) {
				hits[fmt.Sprintf("%s at line %d of %s", m.Kind, n, filepath.Base(path))]++
			}
		}
		return s.Err()
	})
	if errors.Is(err, fs.ErrNotExist) {
		t.Log("there is no ../shared/corpus")
	} else if err != nil {
		t.Fatal(err)
	}
	t.Logf("real transcripts: %d of %d lines have a hit", len(hits), lines)
	for _, place := range slices.Sorted(maps.Keys(hits)) {
		t.Logf("hit: %s", place)
	}
	if len(hits)*10_000 > lines {
		t.Errorf("more than 1 in 10,000 lines has a hit")
	}
	if found[true]*100 < all[true]*80 {
		t.Errorf("fewer than 80 %% of the examples are found")
	}
}

// examplesIn returns the texts that a Go file lists as examples: those in tps have secrets, those in fps have none. Texts that
// are made when the file runs are left out.
func examplesIn(file string) (map[bool][]string, error) {
	parsed, err := parser.ParseFile(gotoken.NewFileSet(), file, nil, 0)
	if err != nil {
		return nil, err
	}
	examples := map[bool][]string{}
	ast.Inspect(parsed, func(n ast.Node) bool {
		a, ok := n.(*ast.AssignStmt)
		if !ok || len(a.Lhs) != 1 || len(a.Rhs) != 1 {
			return true
		}
		name, ok := a.Lhs[0].(*ast.Ident)
		list, isList := a.Rhs[0].(*ast.CompositeLit)
		if !ok || !isList || name.Name != "tps" && name.Name != "fps" {
			return true
		}
		for _, e := range list.Elts {
			if text, ok := literal(e); ok {
				examples[name.Name == "tps"] = append(examples[name.Name == "tps"], text)
			}
		}
		return true
	})
	return examples, nil
}

// literal returns a string that a file has as one or more literals.
func literal(e ast.Expr) (string, bool) {
	switch e := e.(type) {
	case *ast.BasicLit:
		text, err := strconv.Unquote(e.Value)
		return text, err == nil
	case *ast.BinaryExpr:
		a, ok := literal(e.X)
		b, also := literal(e.Y)
		return a + b, ok && also
	}
	return "", false
}
