package install

import (
	"strings"
	"testing"
)

// What users write between marks that look like ccd's, or into comments that do, is theirs: nothing of it goes, and
// nothing is refused for it.
func TestMarksOfOthers(t *testing.T) {
	for _, text := range []string{
		"<!-- ccd -->\nmy own rules\n<!-- /ccd -->\n", "```\n<!-- ccd -->\n<!-- /ccd -->\n```\n", "<!-- ccd is great -->\n", "a\n<!-- /ccd -->\n",
		"<!-- ccd; made: x -->\n", "<!-- ccd 0123 -->\nb\n<!-- /ccd -->\n",
	} {
		comes(t, ".codex/AGENTS.md", text)
	}
}

// comes fails where a text is not whole after install, or not back after uninstall.
func comes(t *testing.T, file, text string) {
	t.Helper()
	h := newHome(t)
	h.write(file, text)
	before := h.tree()
	h.install(nil, Agents()...)
	if now := h.read(file); !strings.HasPrefix(now, text) || len(now) == len(text) {
		t.Errorf("%q became %q", text, now)
	} else if strings.Contains(text, "\r\n") && strings.Count(now, "\n") != strings.Count(now, "\r\n") {
		t.Errorf("line ends are mixed: %q", now)
	}
	h.install(moved(h), Agents()...)
	h.uninstall(Agents()...)
	h.same(before)
}

// What a user writes into what ccd wrote is told of, and neither install nor uninstall takes it away.
func TestLinesInsideOfOurs(t *testing.T) {
	for file, change := range map[string]func(text string) string{
		".claude/skills/ccd/SKILL.md": func(text string) string { return text + "my own line\n" },
		".codex/AGENTS.md":            func(text string) string { return strings.Replace(text, endMark, "my own line\n"+endMark, 1) },
	} {
		h := newHome(t)
		h.install(nil, Agents()...)
		whole := h.read(file)
		h.write(file, change(whole))
		before := h.tree()
		_, err := h.setup(moved(h)).Plan(true, Agents()...)
		want(t, err, file, "changed since ccd wrote it")
		_, err = h.setup(nil).Plan(false, Agents()...)
		want(t, err, file, "changed since ccd wrote it")
		h.same(before)
		if s := h.setup(nil).Status(Claude).Parts[2].State + h.setup(nil).Status(Codex).Parts[2].State; !strings.Contains(s, Other) && !strings.Contains(s, Unread) {
			t.Errorf("status: %s", s)
		}
		h.write(file, strings.ReplaceAll(whole, "\n", "\r\n")) // control: line ends are no change
		h.uninstall(Agents()...)
	}
}

// A block that a user shows elsewhere in the same file, changed, does not stand in the way of the one that is ccd's.
func TestBlockThatIsQuoted(t *testing.T) {
	h := newHome(t)
	h.install(nil, Codex)
	block := h.read(".codex/AGENTS.md")
	quoted := "```\n" + strings.Replace(block, "## ", "## My ", 1) + "```\n"
	h.write(".codex/AGENTS.md", quoted+block)
	h.install(moved(h), Codex)
	h.uninstall(Codex)
	if got := h.read(".codex/AGENTS.md"); got != quoted {
		t.Errorf("left %q", got)
	}
}

// A text without an end of its last line: what another program then appends does not run into ccd's lines, and without
// that it is again as it was.
func TestAppendedToAnOpenText(t *testing.T) {
	for file, more := range map[string]string{".gemini/GEMINI.md": "more\n", ".codex/AGENTS.md": "more\n"} {
		for _, text := range append([]string{"\ufeff"}, texts...) {
			comes(t, file, text)
			h := newHome(t)
			h.write(file, text)
			h.install(nil, Agents()...)
			h.write(file, h.read(file)+more)
			h.install(moved(h), Agents()...)
			h.uninstall(Agents()...)
			end := ""
			if len(text) > 0 && !strings.HasSuffix(text, "\n") {
				end = lineEnd([]byte(text))
			}
			if got := h.read(file); got != text+end+more {
				t.Errorf("%q: left %q", text, got)
			}
		}
	}
}
