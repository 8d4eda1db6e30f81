package codex

import (
	"strings"
	"testing"
	"time"

	"ccd/internal/transcript"
)

// TestScriptsAreRead reads what scripts of code mode do, in the forms in which models write them.
func TestScriptsAreRead(t *testing.T) {
	const patch = `*** Begin Patch\n*** Update File: a.go\n@@\n-x\n+y\n*** End Patch`
	for _, c := range []struct{ name, script, command, dir, file string }{
		{"quoted names", `const r = await tools.exec_command({"cmd":"go test ./a","workdir":"/p"});text(r.output);`, "go test ./a", "/p", ""},
		{"plain names", "text((await tools.exec_command({cmd: 'git commit -am \"it\\'s\"', yield_time_ms: 10_000})).output)", `git commit -am "it's"`, "", ""},
		{"template", "const dir = `a`;\nawait tools.exec_command({ cmd: `go test ./${dir}`, })", "go test ./a", "", ""},
		{"at once", `const [a, b] = await Promise.all([tools.exec_command({cmd:"go vet"}), tools.exec_command({cmd:"go build"})]);`, "go vet; go build", "", ""},
		{"constant", `const command = ["go", "test"].join(" ") + " ./a"; const q = {cmd: command}; await tools.exec_command(q);`, "go test ./a", "", ""},
		{"short member", "const cmd = 'ls'; // it's \"one\"\nawait tools.exec_command({cmd, login: Boolean(1, {a: 2}), workdir: \"/p\"})", "ls", "/p", ""},
		{"taken out", `const { exec_command } = tools; await exec_command({cmd: "ls"});`, "ls", "", ""},
		{"patch", `text(await tools.apply_patch("` + patch + `"));`, "", "", "a.go"},
		{"patch in a template", "const p = `" + "*** Begin Patch\n*** Add File: a.go\n+x\n*** End Patch" + "`;\nawait tools.apply_patch(p);", "", "", "a.go"},
		{"patch, raw", "await tools.apply_patch(String.raw`" + "*** Begin Patch\n*** Add File: a.go\n+x\\n\n*** End Patch" + "`);", "", "", "a.go"},
		{
			"patch and command", `await tools.apply_patch({patch: "` + patch + `"}); await tools.exec_command({cmd:"go test"})`,
			"go test\napply_patch <<'EOF'\n*** Begin Patch\n*** Update File: a.go\n@@\n-x\n+y\n*** End Patch\nEOF", "", "a.go",
		},
	} {
		a := client.Understand("exec", transcript.Quote(c.script))
		file := ""
		for _, f := range a.Files {
			file += f.Path
		}
		if a.Command != c.command || a.Dir != c.dir || file != c.file || c.command != "" && a.Op != transcript.Command {
			t.Errorf("%s: %+v", c.name, a)
		}
	}
	for _, dark := range []string{
		"for (const f of list) { await tools.exec_command({cmd: f}) }", "await tools[name]({})", "await tools.apply_patch(make())", "await tools.exec_command(`",
	} {
		if _, opaque := readScript(dark); !opaque {
			t.Errorf("%s is not known to be opaque", dark)
		}
	}
	if _, opaque := readScript(strings.Repeat("tools.a({b:[", 1<<18)); !opaque { // in linear time
		t.Error("a script without an end is understood")
	}
	if calls, opaque := readScript(`text("tools.exec_command({cmd:1})") // tools.x()`); len(calls) > 0 || opaque {
		t.Errorf("a text is read as a call: %v", calls)
	}
}

// A text that does not end may have any number of quotes in it: none of them is read to the end of the script.
func TestTextWithoutEnd(t *testing.T) {
	for _, quote := range []string{`"`, `'`, "`"} {
		begun := time.Now()
		if all := tokens("a(" + quote + strings.Repeat(`\`+quote, 50_000)); len(all) != 2 {
			t.Errorf("%s: %d tokens, want 2", quote, len(all))
		}
		if took := time.Since(begun); took > 5*time.Second { // it takes some ms, and minutes if each is
			t.Errorf("%s: took %v", quote, took)
		}
	}
}

// Braces in a text that do not end are not read to the end of the script either.
func TestBracesWithoutEnd(t *testing.T) {
	begun := time.Now()
	if all := tokens(strings.Repeat("`${`,", 8_000)); len(all) != 16_000 {
		t.Errorf("%d tokens, want 16000", len(all))
	}
	if took := time.Since(begun); took > 10*time.Second { // it takes less than one
		t.Errorf("took %v", took)
	}
}
