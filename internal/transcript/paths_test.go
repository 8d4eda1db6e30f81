package transcript

import "testing"

func TestJoinOnAnySystem(t *testing.T) {
	for _, c := range []struct{ dir, path, want string }{
		{"/src", "a.go", "/src/a.go"},
		{"/src", "./b/../a.go", "/src/a.go"},
		{"/src", "/etc/../a.go", "/a.go"},
		{"/src", `odd\name`, `/src/odd\name`},
		{"/src", `C:\a.go`, `C:\a.go`},
		{"", "a.go", "a.go"},
		{"/src", "~/a.go", "~/a.go"},
		{`C:\src`, "a.go", `C:\src\a.go`},
		{`c:/src/`, `b\..\a.go`, `C:\src\a.go`},
		{`C:\src`, "c:/Src/./a.go", `C:\Src\a.go`},
		{`C:\src`, `\a.go`, `C:\a.go`},
		{`C:\src`, "/d/a.go", `D:\a.go`},
		{`C:\src`, "/tmp/a.go", "/tmp/a.go"},
		{`C:\src`, `..\..\..\a.go`, `C:\a.go`},
		{`\\?\C:\src`, "a.go", `C:\src\a.go`},
		{"", `\\?\UNC\barn\grain\a.csv`, `\\barn\grain\a.csv`},
		{`C:\src`, "//barn/grain/a.csv", `\\barn\grain\a.csv`},
		{`\\barn\grain`, "a.csv", `\\barn\grain\a.csv`},
		{`C:\src`, "", ""},
		{"", `C:\`, `C:\`},
		{"", `\\`, `\\`},
	} {
		if got := Join(c.dir, c.path); got != c.want {
			t.Errorf("Join(%q, %q) = %q, want %q", c.dir, c.path, got, c.want)
		}
	}
}

func TestPartsOfPathsOfAnySystem(t *testing.T) {
	for _, c := range []struct{ path, dir, rest, base string }{
		{"/src/b/a.go", "/src", "b/a.go", "a.go"},
		{"/src/a.go", "/", "src/a.go", "a.go"},
		{"/srcs/a.go", "/src", "", "a.go"},
		{"/SRC/a.go", "/src", "", "a.go"},
		{`/src/odd\name`, "/src", `odd\name`, `odd\name`},
		{`/src\a.go`, "/src", "", `src\a.go`},
		{"/src", "/src", "", "src"},
		{`C:\src\b\a.go`, `C:\SRC`, `b\a.go`, "a.go"},
		{`C:\a.go`, `C:\`, "a.go", "a.go"},
		{`C:\srcs\a.go`, `C:\src`, "", "a.go"},
		{`D:\src\a.go`, `C:\src`, "", "a.go"},
		{`b\a.go`, "b", "a.go", "a.go"},
		{"a.go", "", "", "a.go"},
	} {
		if rest, ok := Below(c.path, c.dir); rest != c.rest || ok != (c.rest != "") {
			t.Errorf("Below(%q, %q) = %q, %v, want %q", c.path, c.dir, rest, ok, c.rest)
		}
		if got := Base(c.path); got != c.base {
			t.Errorf("Base(%q) = %q, want %q", c.path, got, c.base)
		}
	}
	for _, c := range []struct {
		path, tail string
		want       bool
	}{
		{"/src/b/a.go", "b/a.go", true},
		{"/src/b/a.go", "./b/a.go", true},
		{"/src/b/a.go", `b\a.go`, false},
		{"/src/B/a.go", "b/a.go", false},
		{"/src/ba.go", "a.go", false},
		{`C:\src\b\a.go`, "B/a.go", true},
		{`C:\src\b\a.go`, `.\b\a.go`, true},
		{`C:\src\ba.go`, "a.go", false},
		{`\\barn\grain\a.csv`, "Grain/a.csv", true},
		{`b\a.go`, "a.go", true},
	} {
		if got := EndsWith(c.path, c.tail); got != c.want {
			t.Errorf("EndsWith(%q, %q) = %v", c.path, c.tail, got)
		}
	}
}
