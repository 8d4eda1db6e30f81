package install

import (
	"os"
	"path/filepath"
	"testing"

	"ccd/cmd/ccd/internal/account"
	"ccd/cmd/ccd/internal/disk"
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
	u := Undo{Library: l}
	late := filepath.Join(projects, "c0ffee00-1a2b-4c3d-8e4f-5a6b7c8d9e0f.ccd.md")
	step := u.undoCompanions(t.Context())
	must(t, os.WriteFile(late, []byte("---\nccd: 1\nsource: projects/-work/c0ffee00-1a2b-4c3d-8e4f-5a6b7c8d9e0f.jsonl\n---\n"), 0o600))
	if step.State != Unchanged {
		t.Errorf("before: %+v", step)
	}
	u.All = true
	step = u.undoCompanions(t.Context())
	must(t, os.Rename(late, late+".aside"))
	other := filepath.Join(projects, "c0ffee00-1a2b-4c3d-8e4f-5a6b7c8d9e10.ccd.md")
	must(t, os.WriteFile(other, []byte("---\nccd: 1\nsource: projects/-work/c0ffee00-1a2b-4c3d-8e4f-5a6b7c8d9e10.jsonl\n---\n"), 0o600))
	if step.Do(t.Context()); step.State != Done || disk.Exists(other) {
		t.Errorf("%+v", step)
	}
}
