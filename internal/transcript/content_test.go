package transcript

import "testing"

func TestSeen(t *testing.T) {
	whole := Whole("a\nb\nc")
	for _, c := range []struct {
		name             string
		have, read, want Content
	}{
		{"nothing was known", Content{}, Some(3, "c\nd", true), Some(3, "c\nd", true)},
		{"a whole read is the newest", whole, Whole("new"), Whole("new")},
		{"an empty read changes nothing", whole, Content{}, whole},
		{"a part of what is whole", whole, Some(2, "b", true), whole},
		{"its end", whole, Some(2, "b\nc", false), whole},
		{"not a part of it", whole, Some(2, "B", true), Some(2, "B", true)},
		{"behind its end", whole, Some(4, "d", true), Some(4, "d", true)},
		{"another end", whole, Some(2, "b", false), Some(2, "b", false)},
		{"another part", Some(1, "a", true), Some(2, "b", false), Some(2, "b", false)},
	} {
		if got := c.have.Seen(c.read); got != c.want {
			t.Errorf("%s: got %+v, want %+v", c.name, got, c.want)
		}
	}
}

func TestReplaced(t *testing.T) {
	for swallow, want := range map[bool]string{true: "b\n", false: "\nb\n"} {
		if got := Whole("a\nb\n").replaced("a", "", false, swallow); got != Whole(want) {
			t.Errorf("the line end is taken as well (%t): %+v, want %q", swallow, got, want)
		}
	}
	if got := Some(1, "a\nb", true).replaced("a", "b", false, false); got.Known() {
		t.Errorf("in a part: %+v", got)
	}
}

func TestNotice(t *testing.T) {
	job, exit, ok := Notice("<task-notification>\n<task-id>b1</task-id>\n<status>failed</status>\n<summary>Background command \"make\" failed with exit code 12</summary>\n</task-notification>")
	if job != "b1" || exit != 12 || !ok {
		t.Error(job, exit, ok)
	}
	if _, exit, ok := Notice("<task-notification><task-id>b1</task-id><status>killed</status></task-notification>"); exit != -1 || !ok {
		t.Error(exit, ok)
	}
	for _, text := range []string{"", "<task-notification>", "<task-notification><task-id>b1</task-id><status>running</status></task-notification>"} {
		if _, _, ok := Notice(text); ok {
			t.Errorf("%q is a notice", text)
		}
	}
}

func TestSame(t *testing.T) {
	for _, c := range []struct{ dir, cmd, want string }{
		{"/w", "make", "/w make"},
		{"/w", "cd sub && make", "/w/sub make"},
		{"/w", "cd /x; make all 2>&1 | tail -5", "/x make all"},
		{"/w", "cd 'sub' && cd .. && make", "/w make"},
		{"/w", "FOO=1 BAR=x make", "/w make"},
		{"/w", "timeout 30 make", "/w make"},
		{"/w", "timeout -k 5 30s make -j2", "/w make -j2"},
		{"/w", "env A=1 make 2>&1", "/w make"},
		{"/w", "make | head | tail -3", "/w make"},
		{"/w", "set -o pipefail; make | tail", "/w set -o pipefail; make"},
		{"/w", "make | grep x", "/w make | grep x"},
		{"/w", "make || tail x", "/w make || tail x"},
		{"/w", "echo 'a | tail'", "/w echo 'a | tail'"},
		{"/w", "cd $X && make", "/w cd $X && make"},
		{"/w", "A=$(b) make", "/w A=$(b) make"},
		{"/w", "timeout", "/w timeout"},
		{"/w", "cd sub", "/w cd sub"},
		{"", "  make  ", " make"},
	} {
		r := NormalizeRun(c.dir, c.cmd)
		got := r.Dir + " " + r.Command
		if got != c.want {
			t.Errorf("%q in %q: got %q, want %q", c.cmd, c.dir, got, c.want)
		}
	}
}
