package transcript

import (
	"fmt"
	"testing"
)

// known writes what is known of a content: its text, or its line ranges.
func known(c Content) string {
	if text, ok := c.Text(); ok {
		return text
	}
	return fmt.Sprint("lines ", c.Known())
}

func TestSeen(t *testing.T) {
	abc := Some(1, "a\nb\nc", true)
	for _, c := range []struct {
		name string
		have Content
		read Content
		want string
	}{
		{"nothing was known", Content{}, Some(3, "c\nd", true), "lines [[3 4]]"},
		{"a whole read is the newest", Whole("old"), Whole("new"), "new"},
		{"an empty read changes nothing", Whole("old"), Content{}, "old"},
		{"two stretches", abc, Some(7, "g", true), "lines [[1 3] [7 7]]"},
		{"next to each other", abc, Some(4, "d", true), "lines [[1 4]]"},
		{"overlapping", abc, Some(2, "b\nc\nd\ne", true), "lines [[1 5]]"},
		{"within", abc, Some(2, "b", true), "lines [[1 3]]"},
		{"the end closes it", abc, Some(4, "d\n", false), "a\nb\nc\nd\n"},
		{"all pieces in any order", Some(3, "c\n", false), Some(1, "a\nb", true), "a\nb\nc\n"},
		{"contradicting", abc, Some(3, "C\nd", true), "lines [[3 4]]"},
		{"a part of what is whole", Whole("a\nb\nc"), Some(2, "b", true), "a\nb\nc"},
		{"not a part of it", Whole("a\nb\nc"), Some(2, "B", true), "lines [[2 2]]"},
		{"behind its end", Whole("a\nb"), Some(3, "c", true), "lines [[3 3]]"},
		{"another end", Some(4, "d", false), Some(5, "e", false), "lines [[5 5]]"},
	} {
		before := known(c.have)
		if got := known(c.have.Seen(c.read)); got != c.want {
			t.Errorf("%s: got %q, want %q", c.name, got, c.want)
		}
		if known(c.have) != before {
			t.Errorf("%s: the content before is not what it was", c.name)
		}
	}
}

func TestReplacedInPart(t *testing.T) {
	have := Some(2, "b\nc\nd", true).Seen(Some(10, "j\nk", true))
	for _, c := range []struct {
		old, new string
		all      bool
		want     string
	}{
		{"c", "C1\nC2", false, "lines [[2 5] [11 12]]"},
		{"c\n", "", false, "lines [[2 3] [9 10]]"},
		{"j", "J", false, "lines [[2 4] [10 11]]"},
		{"d", "", false, "lines []"}, // whether a line end goes with it cannot be told
		{"x", "y", false, "lines []"},
		{"c", "C", true, "lines []"},
		{"", "y", false, "lines []"},
	} {
		if got := known(have.replaced(c.old, c.new, c.all, true)); got != c.want {
			t.Errorf("%q -> %q: got %s, want %s", c.old, c.new, got, c.want)
		}
	}
	for swallow, want := range map[bool]string{true: "b\n", false: "\nb\n"} {
		if got := known(Whole("a\nb\n").replaced("a", "", false, swallow)); got != want {
			t.Errorf("the line end is taken as well (%t): %q, want %q", swallow, got, want)
		}
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
		{"/w", "cd /x; make all 2>&1 | tail -5", "/x make all filtered"},
		{"/w", "cd 'sub' && cd .. && make", "/w make"},
		{"/w", "FOO=1 BAR=x make", "/w make"},
		{"/w", "timeout 30 make", "/w make"},
		{"/w", "timeout -k 5 30s make -j2", "/w make -j2"},
		{"/w", "env A=1 make 2>&1", "/w make"},
		{"/w", "make | head | tail -3", "/w make filtered"},
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
		if r.Filtered {
			got += " filtered"
		}
		if got != c.want {
			t.Errorf("%q in %q: got %q, want %q", c.cmd, c.dir, got, c.want)
		}
	}
}
