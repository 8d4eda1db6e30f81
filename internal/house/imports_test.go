package house

import (
	"fmt"
	"os"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// row is one row of the table: what docs/ARCHITECTURE.md allows a package to import.
type row struct {
	pkg           string
	ours, machine []string
}

// restricted matches the packages of the standard library that only the table's third column allows.
var restricted = regexp.MustCompile(`^(net(/.*)?|os/exec|plugin|C)$`)

var quoted = regexp.MustCompile("`([^`]+)`")

// importTable reads the table between the two comments of docs/ARCHITECTURE.md.
func importTable(t *testing.T) []row {
	t.Helper()
	doc, err := os.ReadFile("docs/ARCHITECTURE.md")
	if err != nil {
		t.Fatal(err)
	}
	_, table, ok := strings.Cut(string(doc), "<!-- imports -->")
	table, _, end := strings.Cut(table, "<!-- /imports -->")
	if !ok || !end {
		t.Fatal("docs/ARCHITECTURE.md has no import table")
	}
	var rows []row
	for line := range strings.Lines(table) {
		cells := strings.Split(line, "|")
		if len(cells) == 5 && strings.Contains(cells[1], "`") {
			rows = append(rows, row{names(cells[1])[0], names(cells[2]), names(cells[3])})
		}
	}
	return rows
}

func names(cell string) (all []string) {
	for _, m := range quoted.FindAllStringSubmatch(cell, -1) {
		all = append(all, m[1])
	}
	return all
}

// imports maps each package of the module, by its directory, to what its files other than tests import.
func imports(t *testing.T) map[string][]string {
	t.Helper()
	all := map[string][]string{}
	for _, s := range sources(t) {
		if s.test() {
			continue
		}
		dir := path.Dir(s.path)
		all[dir] = append(all[dir], "")
		for _, spec := range s.file.Imports {
			p, _ := strconv.Unquote(spec.Path.Value)
			all[dir] = append(all[dir], p)
		}
	}
	return all
}

// breaches returns the imports that the table does not allow, and the errors in the table itself.
func breaches(rows []row, all map[string][]string) (found []string) {
	above := map[string]row{}
	for _, r := range rows {
		for _, p := range r.ours {
			if _, ok := above[p]; !ok {
				found = append(found, fmt.Sprintf("table: %s may import %s, which has no row above it", r.pkg, p))
			}
		}
		if all[r.pkg] == nil {
			found = append(found, fmt.Sprintf("table: there is no package %s", r.pkg))
		}
		above[r.pkg] = r
	}
	for pkg, list := range all {
		r, ok := above[pkg]
		if !ok {
			found = append(found, fmt.Sprintf("table: package %s has no row", pkg))
			continue
		}
		for _, p := range list {
			ours, isOurs := strings.CutPrefix(p, "ccd/")
			if isOurs && !slices.Contains(r.ours, ours) || restricted.MatchString(p) && !slices.Contains(r.machine, p) {
				found = append(found, fmt.Sprintf("%s imports %s", pkg, p))
			}
		}
	}
	slices.Sort(found)
	return slices.Compact(found)
}

// reach returns pkg and every package of ccd that it imports, directly or not.
func reach(pkg string, all map[string][]string) []string {
	reached := []string{pkg}
	for i := 0; i < len(reached); i++ {
		for _, p := range all[reached[i]] {
			if ours, ok := strings.CutPrefix(p, "ccd/"); ok && !slices.Contains(reached, ours) {
				reached = append(reached, ours)
			}
		}
	}
	return reached
}

func TestImportsGoDownOnly(t *testing.T) {
	rows, all := importTable(t), imports(t)
	for _, b := range breaches(rows, all) {
		t.Error(b)
	}
	for _, pkg := range reach("daemon", all) {
		for _, p := range all[pkg] {
			if restricted.MatchString(p) {
				t.Errorf("the daemon is made of %s, which imports %s", pkg, p)
			}
		}
	}
}

// TestImportsCanFail is the negative control.
func TestImportsCanFail(t *testing.T) {
	rows := []row{{pkg: "low"}, {pkg: "high", ours: []string{"low"}}, {pkg: "odd", ours: []string{"later"}}, {pkg: "later"}}
	all := map[string][]string{
		"low": {"ccd/high", "os/exec"}, "high": {"ccd/low", "net/http"}, "odd": {"fmt"}, "new": {"fmt"},
	}
	want := []string{
		"high imports net/http", "low imports ccd/high", "low imports os/exec", "table: odd may import later, which has no row above it",
		"table: package new has no row", "table: there is no package later",
	}
	if got := breaches(rows, all); !slices.Equal(got, want) {
		t.Errorf("got %q\nwant %q", got, want)
	}
	if got := reach("high", all); !slices.Equal(got, []string{"high", "low"}) {
		t.Errorf("reach: %q", got)
	}
}

// TestOnlyTheRemoteBinaryHasTheClient checks that neither ccd nor the daemon contains the S3 client or the encryption of
// remote copies: both stay in ccd-remote.
func TestOnlyTheRemoteBinaryHasTheClient(t *testing.T) {
	apart := regexp.MustCompile(`^(github\.com/minio/|filippo\.io/|ccd/internal/remote$)`)
	all := imports(t)
	for pkg, want := range map[string]bool{"cmd/ccd": false, "daemon": false, "cmd/ccd-remote": true} {
		has := false
		for _, p := range reach(pkg, all) {
			has = has || slices.ContainsFunc(all[p], apart.MatchString)
		}
		if has != want {
			t.Errorf("%s has the client: %v", pkg, has)
		}
	}
}
