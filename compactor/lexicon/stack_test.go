package lexicon

import "testing"

func TestStackTop(t *testing.T) {
	for name, c := range map[string]struct{ text, want string }{
		"none":           {"all is well\nat the mill\n", ""},
		"Python":         {"Traceback (most recent call last):\n  File \"/a/run.py\", line 3, in <module>\n    main()\n  File \"/a/money.py\", line 12, in cents\n    raise E\nValueError: x\n\nTraceback (most recent call last):\n  File \"/b.py\", line 1, in f\n", `File "/a/money.py", line 12, in cents`},
		"Python cut off": {"  File \"/a/run.py\", line 3, in <module>", `File "/a/run.py", line 3, in <module>`},
		"Go":             {"panic: boom\n\ngoroutine 7 [running]:\npanic({0x1, 0x2})\n\t/usr/lib/go/src/runtime/panic.go:770 +0x1\nmain.cents(...)\n\t/a/main.go:31 +0x1d\nmain.main()\n\t/a/main.go:9\n", "/a/main.go:31 +0x1d"},
		"Go, the next":   {"goroutine 1 [running]:\ngoroutine 2 [running]:\nmain.f()\n\t/a/b.go:1\n", ""},
		"JavaScript":     {"TypeError: x\n    at Object.openSync (node:fs:601:3)\n    at node:internal/main\n    at cents (/a/money.js:4:9)\n    at main (/a/b.js:1:1)\n", "at Object.openSync (node:fs:601:3)"},
		"inner first":    {"TypeError: x\n    at new Script (node:internal/vm:1:1)\n    at cents (/a/money.js:4:9)\n", "at cents (/a/money.js:4:9)"},
		"only inner":     {"Exception in thread\n\tat java.base/java.util.List.get(List.java:3)\nmore\n", "at java.base/java.util.List.get(List.java:3)"},
		"Java":           {"Exception in thread \"main\" x\n\tat java.util.List.get(List.java:3)\n\tat org.a.Money.cents(Money.java:9)\n", "at org.a.Money.cents(Money.java:9)"},
		"sanitizer":      {"==7==ERROR: heap-use-after-free\n    #0 0x4f1 in cents /a/money.c:12:3\n    #1 0x4f2 in main /a/money.c:30:1\n", "#0 0x4f1 in cents /a/money.c:12:3"},
		"pytest":         {"E   assert 1 == 2\n\ntests/test_money.py:12: AssertionError\n", "tests/test_money.py:12: AssertionError"},
	} {
		if got := stackTop(c.text); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
	if got := WithTop("at cents (/a/money.js:4:9)\n", nil); got != nil {
		t.Errorf("where no line tells of an error, %q is added", got)
	}
	if got := WithTop("a.py:1: KeyError\n", []string{"a.py:1: KeyError"}); len(got) != 1 {
		t.Errorf("what stands there is added again: %q", got)
	}
}
