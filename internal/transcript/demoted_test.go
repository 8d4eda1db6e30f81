package transcript

import (
	"strings"
	"testing"

	"ccd/internal/mark"
)

// TestADemotedReadIsNotTheFile holds that our own lines are never taken for a file's, nor its beginning for all of it.
func TestADemotedReadIsNotTheFile(t *testing.T) {
	id := mark.Sum([]byte("whole")).ID()
	text := "1\tpackage x\n2\t\n3\t" + Demotion(id, 40000, 1001, 12) + "\n4\tThe whole output is archived\n"
	a := Action{Op: Read, Files: []FileChange{{Op: Read, Path: "/x.go"}}}
	c := new(Client).Reading("Read", &a, &Outcome{Text: text})
	if c != Some(1, "package x\n", true) {
		t.Errorf("%+v", c)
	}
	plain := strings.Replace(text, "; above are", "; below are", 1)
	if _, whole := new(Client).Reading("Read", &a, &Outcome{Text: plain}).Text(); !whole {
		t.Error("negative control: another line of that kind is the file's own")
	}
}
