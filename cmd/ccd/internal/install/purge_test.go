package install

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"ccd/cmd/ccd/internal/account"
	"ccd/cmd/ccd/internal/reader"
)

// TestFindsWhatCameMeanwhile checks that a companion that the service wrote after the first search is found too.
func TestFindsWhatCameMeanwhile(t *testing.T) {
	home := t.TempDir()
	projects := filepath.Join(home, ".claude", "projects", "-work")
	must(t, os.MkdirAll(projects, 0o700))
	place, err := account.Env{Vars: []string{"HOME=" + home, "USERPROFILE=" + home}}.Place(true)
	must(t, err)
	l, err := reader.Open(place, false)
	must(t, err)
	p := Purge{Library: l}
	late := filepath.Join(projects, "c0ffee00-1a2b-4c3d-8e4f-5a6b7c8d9e0f.ccd.md")
	for _, want := range [][]string{nil, {late}} {
		var r Remains
		must(t, p.find(t.Context(), &r))
		if !slices.Equal(r.companions, want) {
			t.Errorf("found %q, want %q", r.companions, want)
		}
		must(t, os.WriteFile(late, []byte("---\nccd: 1\nsource: projects/-work/c0ffee00-1a2b-4c3d-8e4f-5a6b7c8d9e0f.jsonl\n---\n"), 0o600))
	}
}
