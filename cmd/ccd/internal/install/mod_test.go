package install

import (
	"os/exec"
	"slices"
	"strings"
	"testing"

	"ccd/internal/testkit"
)

const code = ".claude/skills/ccd/hooks/register.js"

func partOf(s Status, name string) Part {
	return s.Parts[slices.IndexFunc(s.Parts, func(p Part) bool { return p.Name == name })]
}

// TestModFollowsItsKey: with live.compaction = false install removes the mod, and its absence is as it should be.
func TestModFollowsItsKey(t *testing.T) {
	h := newHome(t)
	off := func(o *Options) { o.Mod = Mod{} }
	h.install(off, Claude)
	without := h.tree()
	if st := h.setup(off).Status(Claude); !st.Installed || partOf(st, "mod").State != Missing {
		t.Errorf("never installed: %+v", st)
	}
	if st := h.setup(nil).Status(Claude); st.Installed {
		t.Error("the mod is missing, and status says installed")
	}
	h.install(nil, Claude)
	if text := h.read(code); !strings.Contains(text, `const CCD = ["`+h.path("bin/ccd")+`","hook","--agent","claude-code"]`) {
		t.Errorf("the mod calls %s", text)
	}
	if st := h.setup(off).Status(Claude); st.Installed || partOf(st, "mod").Detail != "the configuration wants none" {
		t.Errorf("to be removed: %+v", partOf(st, "mod"))
	}
	h.install(off, Claude)
	h.same(without)
}

// TestModOfOthers: a plugin that ccd did not write is never replaced, nor one that somebody changed; another ccd's is.
func TestModOfOthers(t *testing.T) {
	h := newHome(t)
	h.install(moved(h), Claude)
	if st := h.setup(nil).Status(Claude); partOf(st, "mod").State != Other || !slices.ContainsFunc(st.Binaries, func(b Binary) bool { return b.Path == h.path("new place/ccd") }) {
		t.Errorf("another ccd's: %+v", st)
	}
	h.install(nil, Claude)
	if st := h.setup(nil).Status(Claude); !st.Installed {
		t.Errorf("repaired: %+v", st)
	}
	h.write(code, h.read(code)+"// mine\n")
	for _, wanted := range []bool{true, false} {
		if _, err := h.setup(nil).Plan(wanted, Claude); err == nil || !strings.Contains(err.Error(), "changed since ccd wrote it") {
			t.Errorf("changed: %v", err)
		}
	}
	h.write(code, "export const register = () => {}\n")
	if _, err := h.setup(nil).Plan(true, Claude); err == nil || !strings.Contains(err.Error(), "ccd did not write") {
		t.Errorf("another's: %v", err)
	}
	h.uninstall(Claude)
	if h.read(code) != "export const register = () => {}\n" {
		t.Error("another's plugin was changed")
	}
}

// shapes plays Claude Code's events, in the shapes of 2.1.329, to the mod in argv, and prints what the mod makes of each.
const shapes = `
const { register } = await import(process.argv[1])
const hooks = []
register((name, ...rest) => hooks.push([name, rest.length > 1 ? rest[0] : {}, rest.at(-1)]))
let reply, asked
const told = []
const $ = {
  session: { info: async () => ({ transcriptPath: '/t.jsonl' }), id: async () => 's', cwd: async () => '/' },
  process: { run: async (argv, { stdin }) => { asked = [argv.at(-1), JSON.parse(stdin)]; return reply } },
  ui: { toast: text => { told.push(text) } },
}
const fire = async (name, e) => {
  asked = undefined
  const [, , hook] = hooks.find(([n, only]) => n === name && Object.entries(only).every(([k, v]) => e[k] === v))
  const made = await hook($, e, async x => x === e ? 'as without ccd' : x)
  console.log(JSON.stringify([asked?.[0] ?? '', made]))
}
const says = out => { reply = { exitCode: out ? 0 : 1, stdout: JSON.stringify(out ?? ''), stderr: '', isStdoutTruncated: false } }
const compact = { trigger: 'auto', messages: [
  { role: 'assistant', text: '', toolUses: [{ tool_use_id: 'a', tool: 'Bash', input: {}, result: 'x', text: 'x', isError: false }], handle: 'h1' },
  { role: 'user', text: '', toolUses: [], toolResults: [{ tool_use_id: 'a', text: 'x', isError: false, result: {} }], handle: 'h2' }] }
says({ messages: [{ role: 'user', text: '---\nccd: 1\nlive: T', toolUses: [] }] })
await fire('session.compact', compact)
console.log(JSON.stringify(asked[1].messages))
await fire('session.compact', { ...compact, agentId: 'sub' })
await fire('session.compact', { ...compact, trigger: 'precompute' })
says({ skip: 'short' })
await fire('session.compact', compact)
says()
await fire('session.compact', compact)
says({ messages: [{ role: 'user', text: '', toolUses: [] }] })
await fire('session.compact', compact)
says({ why: 'a reason' })
await fire('session.compact', compact)
console.log(JSON.stringify(told))
const result = text => ({ door: 'tool-result', origin: { kind: 'tool', tool: 'Bash' }, uuid: 'u',
  message: { type: 'user', role: 'user', content: [{ type: 'tool_result', tool_use_id: 'a', content: text }] } })
says({ content: 'short' })
await fire('session.append', result('x'.repeat(30000)))
await fire('session.append', result('x'))
says()
await fire('session.append', result('x'.repeat(30000)))
`

// TestModTakesTheClientsShapes: the mod sends rows without handles, returns what ccd prints, and leaves all else to the client.
func TestModTakesTheClientsShapes(t *testing.T) {
	node, err := exec.LookPath("node")
	if err != nil {
		t.Skip("node is not here")
	}
	h := newHome(t)
	h.install(nil, Claude)
	h.write("package.json", `{"type": "module"}`)
	out, err := exec.Command(node, "--input-type=module", "--eval", shapes, h.path(code)).CombinedOutput()
	const passed = `"as without ccd"]`
	want := []string{
		`["SessionCompact",{"messages":[{"role":"user","text":"---\nccd: 1\nlive: T","toolUses":[]}]}]`,
		`[{"role":"assistant","text":"","toolUses":[{"tool_use_id":"a","tool":"Bash","input":{}}],"toolResults":[]},` +
			`{"role":"user","text":"","toolUses":[],"toolResults":[{"tool_use_id":"a","text":"x","isError":false}]}]`,
		`["",` + passed, `["",{"skip":"ccd needs no summary ahead of time"}]`, `["SessionCompact",{"skip":"short"}]`, `["SessionCompact",` + passed,
		`["SessionCompact",` + passed, `["SessionCompact",` + passed,
		`["ccd did not compact: exit status 1","ccd did not compact: an empty answer","ccd did not compact: a reason"]`,
		`["ToolResult",{"door":"tool-result","origin":{"kind":"tool","tool":"Bash"},"uuid":"u",` +
			`"message":{"type":"user","role":"user","content":[{"type":"tool_result","tool_use_id":"a","content":"short"}]}}]`,
		`["",` + passed, `["ToolResult",` + passed,
	}
	if got := strings.Split(strings.TrimSpace(string(out)), "\n"); err != nil || !slices.Equal(got, want) {
		t.Errorf("%v\n%s", err, out)
	}
}

// TestModelIsOffered: while a summary is ready, and no longer, the client's settings have the model that asks for it; the user's own model
// is never replaced.
func TestModelIsOffered(t *testing.T) {
	const qwen, settings, own = "qwen-code", ".qwen/settings.json", `{"modelProviders": {"openai": [{"id": "ccd", "baseUrl": "https://example.org"}]}}`
	h := newHome(t)
	h.write(settings, own)
	h.install(everything, qwen)
	before, s := h.read(settings), h.setup(everything)
	if s.Status(qwen).Compacts != "ccd" || !strings.Contains(before, `hook SessionCompact --agent qwen-code`) {
		t.Errorf("installed: %s", before)
	}
	for _, url := range []string{"http://127.0.0.1:1/a", "http://127.0.0.1:2/b"} {
		testkit.Must(t, s.Offer(qwen, url))
		if text := h.read(settings); strings.Count(text, "http://127.0.0.1:") != 1 || !strings.Contains(text, url) {
			t.Errorf("offered: %s", text)
		}
		if h.install(everything, qwen); !s.Status(qwen).Installed || !strings.Contains(h.read(settings), url) {
			t.Errorf("installed while it is offered: %s", h.read(settings))
		}
	}
	testkit.Must(t, s.Offer(qwen, ""))
	if text := h.read(settings); text != before {
		t.Errorf("withdrawn: %s", text)
	}
	proxy := func(o *Options) {
		o.Getenv = func(name string) string { return map[string]string{"HTTPS_PROXY": "http://proxy"}[name] }
	}
	want(t, h.setup(proxy).Offer(qwen, "http://127.0.0.1:3/c"), "uses a proxy")
	testkit.Must(t, s.Offer(qwen, "http://127.0.0.1:3/c")) // and ccd is killed
	h.uninstall(qwen)
	if text := h.read(settings); text != own {
		t.Errorf("uninstalled: %s", text)
	}
	h.write(settings, `{"compactionModel": "small"}`)
	_, err := h.setup(everything).Plan(true, qwen)
	want(t, err, "compactionModel: another model is configured")
	for _, text := range []string{"null", `{"modelProviders": {"openai": 5}}`} { // JSON, but not what it is to be
		h.write(settings, text)
		if h.setup(everything).Status(qwen); h.setup(everything).Offer(qwen, "http://127.0.0.1:4/d") == nil {
			t.Errorf("offered in %s", text)
		}
	}
}

// The status line is there where it was asked for, and only there; that of somebody else stays.
func TestStatusLine(t *testing.T) {
	const settings = ".claude/settings.json"
	wants := func(on bool) func(*Options) { return func(o *Options) { o.Line = &on } }
	state := func(h home, change func(*Options)) Part { return partOf(h.setup(change).Status(Claude), "statusline") }
	h := newHome(t)
	h.install(nil, Claude)
	if strings.Contains(h.read(settings), statusLine) || state(h, nil).State != Missing {
		t.Error("it is there without being asked for")
	}
	h.install(wants(true), Claude)
	if want := h.path("bin/ccd") + " statusline || :"; !strings.Contains(h.read(settings), want) || state(h, nil).State != Installed {
		t.Errorf("want %s in %s", want, h.read(settings))
	}
	h.install(nil, Claude)
	if state(h, nil).State != Installed {
		t.Error("another install takes it away")
	}
	if got := state(h, moved(h)); got.State != Other {
		t.Errorf("of a binary that moved: %+v", got)
	}
	h.install(moved(h), Claude)
	if state(h, moved(h)).State != Installed {
		t.Error("install does not repair it")
	}
	h.install(wants(false), Claude)
	if strings.Contains(h.read(settings), statusLine) {
		t.Error("it stays where it was to go")
	}
	h.uninstall(Claude)

	h.write(settings, `{"statusLine": {"type": "command", "command": "/opt/ccd statusline | tr a b"}}`)
	before := h.read(settings)
	h.install(nil, Claude)
	if got := state(h, nil); got.State != Missing || got.Detail == "" {
		t.Errorf("of somebody else: %+v", got)
	}
	h.install(wants(false), Claude)
	h.uninstall(Claude)
	if got := h.read(settings); got != before {
		t.Errorf("it was\n%s, now\n%s", before, got)
	}
}
