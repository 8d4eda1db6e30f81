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

	"ccd/internal/testkit"
)

// layer is what layers.txt says of a package: its line, and what it may use of the machine.
type layer struct {
	line    int
	machine []string
}

// restricted matches the packages of the standard library that only a permit allows.
var restricted = regexp.MustCompile(`^(net(/.*)?|os/exec|plugin|C)$`)

// layers reads a text in the form of layers.txt.
func layers(text string) map[string]layer {
	all := map[string]layer{}
	for n, line := range strings.Split(text, "\n") {
		if strings.HasPrefix(line, "#") {
			continue
		}
		for _, f := range strings.Fields(line) {
			pkg, permits, _ := strings.Cut(strings.TrimSuffix(f, "]"), "[")
			l := layer{line: n}
			if strings.Contains(permits, "net") {
				l.machine = append(l.machine, "net", "net/http", "net/url")
			}
			if strings.Contains(permits, "exec") {
				l.machine = append(l.machine, "os/exec")
			}
			all[pkg] = l
		}
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

// breaches returns the imports that the layers do not allow, and the errors in the layers themselves.
func breaches(layers map[string]layer, all map[string][]string) (found []string) {
	for pkg := range layers {
		if all[pkg] == nil {
			found = append(found, fmt.Sprintf("layers: there is no package %s", pkg))
		}
	}
	for pkg, list := range all {
		l, ok := layers[pkg]
		if !ok {
			found = append(found, fmt.Sprintf("layers: package %s has none", pkg))
			continue
		}
		for _, p := range list {
			ours, isOurs := strings.CutPrefix(p, "ccd/")
			if isOurs && layers[ours].line >= l.line || restricted.MatchString(p) && !slices.Contains(l.machine, p) {
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
	text, err := os.ReadFile("internal/house/layers.txt")
	testkit.Must(t, err)
	all := imports(t)
	for _, b := range breaches(layers(string(text)), all) {
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
	table := layers("# leaves\nlow beside\nhigh allowed[exec]\nlater\n")
	all := map[string][]string{
		"low": {"ccd/high", "os/exec"}, "beside": {"ccd/low"}, "high": {"ccd/low", "net/http"}, "allowed": {"os/exec"}, "new": {"fmt"},
	}
	want := []string{
		"beside imports ccd/low", "high imports net/http", "layers: package new has none", "layers: there is no package later",
		"low imports ccd/high", "low imports os/exec",
	}
	if got := breaches(table, all); !slices.Equal(got, want) {
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
