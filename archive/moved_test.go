package archive

import (
	"os"
	"path/filepath"
	"testing"
)

// What stands at the archive's path is the file that was used before, or Moved says once that it is not: also where the
// next write has made a new one meanwhile.
func TestMoved(t *testing.T) {
	for name, away := range map[string]func(t *testing.T, path string){
		"nothing": nil,
		"away":    func(t *testing.T, path string) { must(t, os.Rename(path, path+".away")) },
		"replaced": func(t *testing.T, path string) {
			must(t, os.Rename(path, path+".away"))
			must(t, os.WriteFile(path, []byte("x"), 0o600))
		},
		"removed, and made anew by a write": func(t *testing.T, path string) {
			must(t, os.Remove(path))
			must(t, openAt(t, path, Options{}).Append(t.Context(), session("other"), segment(1, 0, []byte("{}\n"))))
		},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "archive.db")
			a := openAt(t, path, Options{})
			if a.FileReplaced() {
				t.Fatal("moved before there was one")
			}
			must(t, a.Append(t.Context(), session("s"), segment(1, 0, noise(1, 1<<20)))) // a smaller one may get the same number
			if a.FileReplaced() {
				t.Fatal("moved although it stands there")
			}
			if away != nil {
				away(t, path)
			}
			if got := a.FileReplaced(); got != (away != nil) {
				t.Errorf("moved: %v", got)
			}
			if a.FileReplaced() {
				t.Error("told twice")
			}
		})
	}
	path := filepath.Join(t.TempDir(), "archive.db")
	a := openAt(t, path, Options{})
	must(t, a.Append(t.Context(), session("s"), segment(1, 0, []byte("{}\n"))))
	must(t, os.Remove(path))
	must(t, a.Append(t.Context(), session("t"), segment(1, 0, []byte("{}\n"))))
	if !a.FileReplaced() {
		t.Error("its own next write hides that the archive was taken away")
	}
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
