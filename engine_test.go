package ccd_test

import (
	"fmt"
	"go/ast"
	"go/constant"
	"go/token"
	"os"
	"path"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"ccd/compactor"
)

// engineRows are the rows of docs/ENGINE.md, so that none goes missing.
const engineRows = "U1-14 W1-12 Z1-10 H1-15 C1-15 T1-5 RH1-17 RS1-11 F1-11 D1-7 K1-5 I1-10 S1-9 N1-7 M1-12 Y1-27 L1-11 A1-6 B1-7 G1-13"

// engine is what docs/ENGINE.md may name.
type engine struct {
	tests  map[string]*ast.FuncDecl // by the package's directory and the name: compactor.TestFoldLaw
	funcs  map[string]bool
	others map[string]bool           // types, variables, constants
	values map[string]constant.Value // of the compactor's constants
	keys   map[string]string         // of config.toml.example, with their values
}

func readEngine(t *testing.T) *engine {
	t.Helper()
	e := &engine{tests: map[string]*ast.FuncDecl{}, funcs: map[string]bool{}, others: map[string]bool{}, values: map[string]constant.Value{}, keys: map[string]string{}}
	var consts []*ast.ValueSpec
	for _, s := range sources(t) {
		for _, d := range s.file.Decls {
			switch d := d.(type) {
			case *ast.FuncDecl:
				if s.test() {
					e.tests[path.Base(path.Dir(s.path))+"."+d.Name.Name] = d
				} else {
					e.funcs[d.Name.Name] = true
				}
			case *ast.GenDecl:
				if own := e.declared(d); !s.test() && strings.HasPrefix(s.path, "compactor/") {
					consts = append(consts, own...)
				}
			}
		}
	}
	for range 3 { // constants may be made of others
		for _, spec := range consts {
			for i, name := range spec.Names {
				if v := e.value(spec.Values[i]); v != nil {
					e.values[name.Name] = v
				}
			}
		}
	}
	e.readKeys(t)
	return e
}

// declared notes the names of a declaration, tests' too, and returns its constants that have a value.
func (e *engine) declared(d *ast.GenDecl) (consts []*ast.ValueSpec) {
	for _, spec := range d.Specs {
		switch spec := spec.(type) {
		case *ast.TypeSpec:
			e.others[spec.Name.Name] = true
		case *ast.ValueSpec:
			for _, name := range spec.Names {
				e.others[name.Name] = true
			}
			if d.Tok == token.CONST && len(spec.Values) == len(spec.Names) {
				consts = append(consts, spec)
			}
		}
	}
	return consts
}

// value is what a constant expression comes to, nil where it needs more than literals and known constants.
func (e *engine) value(x ast.Expr) constant.Value {
	switch x := x.(type) {
	case *ast.BasicLit:
		return constant.MakeFromLiteral(x.Value, x.Kind, 0)
	case *ast.Ident:
		return e.values[x.Name]
	case *ast.ParenExpr:
		return e.value(x.X)
	case *ast.UnaryExpr:
		if v := e.value(x.X); v != nil {
			return constant.UnaryOp(x.Op, v, 0)
		}
	case *ast.BinaryExpr:
		a, b := e.value(x.X), e.value(x.Y)
		if a == nil || b == nil {
			return nil
		}
		if x.Op == token.SHL {
			n, _ := constant.Uint64Val(b)
			return constant.Shift(a, token.SHL, uint(n))
		}
		if x.Op == token.ADD || x.Op == token.SUB || x.Op == token.MUL {
			return constant.BinaryOp(a, x.Op, b)
		}
	}
	return nil
}

func (e *engine) readKeys(t *testing.T) {
	t.Helper()
	text, err := os.ReadFile("config.toml.example")
	if err != nil {
		t.Fatal(err)
	}
	section := ""
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSpace(line)
		if name, ok := strings.CutPrefix(line, "["); ok {
			section = strings.TrimSuffix(name, "]")
			e.keys[section] = ""
		} else if key, value, ok := strings.Cut(line, " = "); ok && !strings.HasPrefix(line, "#") {
			e.keys[section+"."+key] = value
		}
	}
}

var engineRow = regexp.MustCompile(`(?m)^\| ([A-Z]{1,2}\d+) \|(.*)\|$`)

// faults names what is wrong with the tables of a text.
func (e *engine) faults(doc string) (found []string) {
	seen := map[string]bool{}
	for _, m := range engineRow.FindAllStringSubmatch(doc, -1) {
		id, cells := m[1], strings.Split(strings.ReplaceAll(m[2], `\|`, ""), "|")
		if seen[id] {
			found = append(found, id+" stands twice")
		}
		seen[id] = true
		if len(cells) != 4 {
			found = append(found, fmt.Sprintf("%s has %d cells, want 4", id, len(cells)))
			continue
		}
		if len(names(cells[2])) == 0 || len(names(cells[3])) == 0 || strings.TrimSpace(cells[0]) == "" {
			found = append(found, id+" lacks its rule, its name in the code, or its test")
		}
		for _, name := range names(cells[2]) {
			if why := e.named(name); why != "" {
				found = append(found, id+": "+why)
			}
		}
		for _, name := range names(cells[3]) {
			if why := e.tested(name); why != "" {
				found = append(found, id+": "+why)
			}
		}
	}
	for _, id := range expandedRows() {
		if !seen[id] {
			found = append(found, id+" is missing")
		}
		delete(seen, id)
	}
	for id := range seen {
		found = append(found, id+" is not in the list of this test")
	}
	return found
}

func expandedRows() (ids []string) {
	for _, part := range strings.Fields(engineRows) {
		var from, to int
		name := strings.TrimRight(part, "0123456789-")
		if _, err := fmt.Sscanf(strings.TrimPrefix(part, name), "%d-%d", &from, &to); err != nil {
			panic(err)
		}
		for n := from; n <= to; n++ {
			ids = append(ids, fmt.Sprint(name, n))
		}
	}
	return ids
}

// named tells what is wrong with a key, a constant or a function, "" where nothing is.
func (e *engine) named(name string) string {
	name, value, valued := strings.Cut(name, " = ")
	if f, ok := strings.CutSuffix(name, "()"); ok {
		if !e.funcs[f] {
			return "no function " + f
		}
		return ""
	}
	if field, ok := strings.CutPrefix(name, "Options."); ok {
		v := reflect.ValueOf(compactor.Defaults()).FieldByName(field)
		if !v.IsValid() || fmt.Sprint(v) != value {
			return fmt.Sprintf("Options.%s is %v, not %s", field, v, value)
		}
		return ""
	}
	if got, ok := e.keys[name]; ok {
		if valued && got != value {
			return fmt.Sprintf("%s is %s, not %s", name, got, value)
		}
		return ""
	}
	if !e.others[name] {
		return "nothing is called " + name
	}
	if got := e.values[name]; valued && (got == nil || got.String() != value) {
		return fmt.Sprintf("%s is %v, not %s", name, got, value)
	}
	return ""
}

// tested tells what is wrong with a test's name, "" where nothing is.
func (e *engine) tested(name string) string {
	name, part, parted := strings.Cut(name, "/")
	f, ok := e.tests[name]
	switch {
	case !ok:
		return "no test " + name
	case !parted:
		return ""
	case name == "ccd.TestScript":
		if _, err := os.Stat("cmd/ccd/testdata/script/" + part + ".txtar"); err != nil {
			return "no script " + part
		}
		return ""
	}
	has := false
	ast.Inspect(f, func(n ast.Node) bool {
		lit, ok := n.(*ast.BasicLit)
		has = has || ok && lit.Kind == token.STRING && constant.StringVal(constant.MakeFromLiteral(lit.Value, lit.Kind, 0)) == part
		return !has
	})
	if !has {
		return fmt.Sprintf("%s has no case %q", name, part)
	}
	return ""
}

func engineDoc(t *testing.T) string {
	t.Helper()
	doc, err := os.ReadFile("docs/ENGINE.md")
	if err != nil {
		t.Fatal(err)
	}
	return string(doc)
}

// TestEngineRowsAreHeld has every row of docs/ENGINE.md name what is there: tests, keys and constants with their values.
func TestEngineRowsAreHeld(t *testing.T) {
	for _, fault := range readEngine(t).faults(engineDoc(t)) {
		t.Error(fault)
	}
}

// TestEngineCanFail is the negative control.
func TestEngineCanFail(t *testing.T) {
	e, doc := readEngine(t), engineDoc(t)
	for _, c := range []struct{ what, from, to, want string }{
		{"a row that is gone", "\n| H6 |", "\nH6", "H6 is missing"},
		{"a row that no list has", "\n| H6 |", "\n| H66 |", "H66 is not in the list"},
		{"a row that stands twice", "\n| H6 |", "\n| H7 |", "H7 stands twice"},
		{"a test that is not there", "`compactor.TestScore`", "`compactor.TestScored`", "no test compactor.TestScored"},
		{"a test of another package", "`compactor.TestScore`", "`daemon.TestScore`", "no test daemon.TestScore"},
		{"a case that is not there", "TestThirteenRules/4 short`", "TestThirteenRules/4 long`", "has no case"},
		{"a script that is not there", "TestScript/manual`", "TestScript/manuals`", "no script manuals"},
		{"a constant of another value", "`shortText = 120`", "`shortText = 121`", "shortText is 120, not 121"},
		{"a constant that is not there", "`shortText = 120`", "`shorterText = 120`", "nothing is called shorterText"},
		{"a key of another value", "`trigger.pressure = 0.60`", "`trigger.pressure = 0.61`", "trigger.pressure is 0.60, not 0.61"},
		{"a key that is not there", "`trigger.pressure = 0.60`", "`trigger.pressures = 0.60`", "nothing is called trigger.pressures"},
		{"an option of another value", "`Options.Window = 200000`", "`Options.Window = 1`", "Options.Window is 200000, not 1"},
		{"a function that is not there", "`limit()`", "`unlimit()`", "no function unlimit"},
		{"a row without a test", "`compactor.TestScore` |", " |", "lacks"},
	} {
		if !strings.Contains(doc, c.from) {
			t.Errorf("%s: the document has no %q", c.what, c.from)
			continue
		}
		found := e.faults(strings.Replace(doc, c.from, c.to, 1))
		if !slices.ContainsFunc(found, func(f string) bool { return strings.Contains(f, c.want) }) {
			t.Errorf("%s goes unnoticed: %q", c.what, found)
		}
	}
}
