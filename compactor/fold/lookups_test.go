package fold

import (
	"testing"
)

// lookUpCases are commands that fail with status 2, and how many problems that makes.
var lookUpCases = map[string]int{
	"ls nowhere":                           0,
	"cd /x && ls -la nowhere 2>/dev/null":  0,
	"LC_ALL=C ls nowhere | head -3":        0,
	"cat a.txt":                            0,
	"sed -n '1,5p' a.txt":                  0,
	"sed -i s/a/b/ a.txt":                  1,
	"find . -name '*.go'":                  0,
	"find . -name '*.go' -delete":          1,
	"grep -rn 'a; make' .":                 0,
	"rg x && echo found":                   0,
	"test -f a":                            0,
	"[ -d a ] || echo \"not there\"":       0,
	"if [ -f a ]; then cat a; else ls; fi": 0,
	"which go; go version":                 0,
	"command -v go":                        0,
	"type go":                              0,
	"stat a":                               0,
	"file a":                               0,
	"wc -l a":                              0,
	"node --version":                       0,
	"go version":                           0,
	"git status":                           0,
	"git -C /x log --oneline -3":           0,
	"git show HEAD~3:a":                    0,
	"git diff --stat":                      0,
	"git branch -a":                        0,
	"git branch feature":                   1,
	"git rev-parse HEAD":                   0,
	"git ls-files a":                       0,
	"git push":                             1,
	"git stash list":                       0,
	"git stash pop":                        1,
	"cat a | xargs grep b":                 0,
	"cat a | xargs rm":                     1,
	"ls && make":                           1,
	"ls; make":                             1,
	"cat a | python3 b.py":                 1,
	"cat a > b":                            1,
	"cat a > /dev/null 2>&1":               0,
	"curl -sf http://localhost:8080/":      1,
	"pytest":                               1,
	"cat $(make list)":                     1,
	"python3 - <<'EOF'\nimport x\nEOF":     1,
	"diff a b":                             1,
	"make # ls":                            1,
	"(cd a && ls b)":                       0,
	"ls 'a":                                1,
}

// A look-up that fails is an answer; what does more than look is a run.
func TestLookUps(t *testing.T) {
	for cmd, open := range lookUpCases {
		s := newSession()
		s.human("Look.")
		s.fails(cmd, "error: no such thing", 2)
		if got := len(s.fold(t).Problems()); got != open {
			t.Errorf("%q: %d problems, want %d", cmd, got, open)
		}
	}
}

// Status 1 may be an answer.
func TestAnswers(t *testing.T) {
	for cmd, open := range map[string]int{
		"diff a b":            0, // they differ
		"cmp a b && ls":       0,
		"grep -q x a && make": 0, // it says nothing: make did not run
		"make && grep -q x a": 1,
		"grep -q x a; make":   1,
		"make":                1,
	} {
		s := newSession()
		s.human("Look.")
		s.fails(cmd, "", 1)
		if got := len(s.fold(t).Problems()); got != open {
			t.Errorf("%q, status 1: %d problems, want %d", cmd, got, open)
		}
	}
}

func FuzzRunOf(f *testing.F) {
	for _, cmd := range []string{"a b && c", "go test ./... | tail", "cd x; make -C y z", "a >", "a &>", "\\", "timeout 3", "git -C", "cd", "xargs", "''"} {
		f.Add(cmd)
	}
	f.Fuzz(func(t *testing.T, cmd string) {
		a := action(cmd)
		r := runOf(&a)
		for n := range r.goals {
			if len(r.goals[n].targets) > maxTargets || len(r.goals) > maxGoals {
				t.Errorf("%+v", r.goals)
			}
			if g := &r.goals[n]; g.dir == "/x" && !g.covers(g) {
				t.Errorf("%+v does not cover itself", g)
			}
		}
	})
}
