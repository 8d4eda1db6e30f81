package transcript

import (
	"strings"
	"testing"

	"ccd/internal/mark"
)

func TestDemoted(t *testing.T) {
	id := mark.Sum([]byte("whole")).ID()
	line := Demotion(id, 349242, 60102, 2000)
	for text, want := range map[string]mark.ID{
		"1\n2\n" + line + "\nmore\n": id,
		line:                         id,
		"x [ccd " + string(id) + "] y " + line + "\n": id,
		"[ccd " + string(id) + " output, 4 KB]":       "",
		strings.Replace(line, "[ccd", `[\ccd`, 1):     "",
		line[:len(line)-1]:                            "",
		"":                                            "",
	} {
		if got := Demoted(text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

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
