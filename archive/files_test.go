package archive

import (
	"os"
	"testing"
)

// TestRestrict has an archive put in place with the mode of a copy.
func TestRestrict(t *testing.T) {
	t.Parallel()
	if os.PathSeparator != '/' {
		t.Skip("no modes here")
	}
	a := open(t)
	must(t, a.Append(t.Context(), session("s"), segment(1, 0, []byte("x"))))
	must(t, os.Chmod(a.Path(), 0o644))
	must(t, a.Append(t.Context(), session("s"), segment(1, 1, []byte("x"))))
	if info, err := os.Stat(a.Path()); err != nil || info.Mode() != 0o600 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
}
