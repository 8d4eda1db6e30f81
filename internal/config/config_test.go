package config

import (
	"flag"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"ccd/internal/testkit"

	"github.com/google/go-cmp/cmp/cmpopts"
)

var update = flag.Bool("update", false, "write config.toml.example anew")

var exported = cmpopts.IgnoreUnexported(Config{}, Duration{})

// load reads text as a file, with the environment env.
func load(t *testing.T, text string, env ...string) (Config, error) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "config.toml")
	testkit.Must(t, os.WriteFile(file, []byte(text), 0o600))
	c, err := Load(file, true, append(env, "HOME=/home/me"))
	if err != nil && !strings.Contains(err.Error(), file) && len(env) == 0 {
		t.Errorf("the error does not name the file: %v", err)
	}
	return c, err
}

// The example at the root of the project is what Example says, it sets every key, and reading it changes nothing.
func TestExampleEqualsDefaults(t *testing.T) {
	file := filepath.Join("..", "..", "config.toml.example")
	if *update {
		testkit.Must(t, os.WriteFile(file, []byte(Example()), 0o644))
	}
	text, err := os.ReadFile(file)
	testkit.Must(t, err)
	if diff := cmp.Diff(Example(), string(text)); diff != "" {
		t.Errorf("config.toml.example differs from default.toml, `go test ./internal/config -update` copies it (-want +got):\n%s", diff)
	}
	got, err := load(t, string(text))
	testkit.Must(t, err)
	if diff := cmp.Diff(defaults(""), got, exported); diff != "" {
		t.Errorf("the example differs from the defaults (-want +got):\n%s", diff)
	}
	for _, v := range got.Values() {
		if v.Source == "default" && v.Key != "watch.roots" && v.Key != "redact.rules" {
			t.Errorf("the example does not set %s", v.Key)
		}
	}
}

// Every key of the example has a meaning: it stands in a comment above the key.
func TestEveryKeyHasAMeaning(t *testing.T) {
	before := ""
	for line := range strings.Lines(Example()) {
		if line != "\n" && line[0] != '#' && !strings.HasPrefix(before, "#") && !strings.HasPrefix(line, `"`) && !strings.HasPrefix(before, "[models.windows]") {
			t.Errorf("no comment above %s", line)
		}
		before = line
	}
}

// format begins a file with an agent of its own.
const format = "[agents.formats.mine]\nroots = ['~/mine']\n"

// TestFormats: the agent that the example shows, and one with the least that is needed.
func TestFormats(t *testing.T) {
	var shown strings.Builder
	_, rest, _ := strings.Cut(Example(), "\n# [agents.formats.tinker]\n")
	shown.WriteString("[agents.formats.tinker]\n")
	for line := range strings.Lines(rest) {
		if line, ok := strings.CutPrefix(line, "# "); ok {
			shown.WriteString(line)
		} else {
			break
		}
	}
	c, err := load(t, shown.String()+format)
	testkit.Must(t, err)
	for i, f := range reflect.VisibleFields(reflect.TypeFor[Lists]()) {
		if reflect.ValueOf(c.Agents.Formats["tinker"]).Field(i).IsZero() {
			t.Errorf("the example does not show agents.formats.tinker.%s", f.Tag.Get("toml"))
		}
	}
	want := Lists{Roots: []string{"/home/me/mine"}}
	if diff := cmp.Diff(want, c.Agents.Formats["mine"]); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestBadFiles(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"unknown key", "[watch]\nsettle = \"2s\"\nmax_wiat = \"3s\"\n", `line 3: unknown key "watch.max_wiat"; did you mean "watch.max_wait"`},
		{"key in another section", "[trigger]\nsettle = \"2s\"", `line 2: unknown key "trigger.settle"; did you mean "watch.settle"`},
		{"key in another case", "[watch]\nSettle = \"2s\"", `line 2: unknown key "watch.Settle"; did you mean "watch.settle"`},
		{"unknown section", "\n\n[wacth]\nsettle = \"2s\"", `line 3: unknown key "wacth"; did you mean "watch"`},
		{"nothing near", "[zzzzzzzzz]\n", `line 1: unknown key`},
		{"key outside a section", "# mine\nsettle = \"2s\"", `line 2: unknown key "settle"; did you mean "watch.settle"`},
		{"section as a value", "watch = 3", `line 1: watch: expected table`},
		{"no unit", "[watch]\n\nsettle = 5", `line 3: watch.settle: must be a duration such as "500ms", "2s"`},
		{"bad duration", "[watch]\nsettle = \"2 seconds\"", `line 2: watch.settle: must be a duration such as "500ms", "2s", "15m", "1h" or "90d"`},
		{"list for a duration", "[watch]\nsettle = [\"2s\"]", `line 2: watch.settle: expected one value`},
		{"duration too small", "[watch]\nscan_interval = \"1ms\"", `line 2: watch.scan_interval: must be 1s or more`},
		{"string for integer", "[companion]\nmax_tokens = \"many\"", `line 2: companion.max_tokens: must be 2000 or more, or a part such as "30%"`},
		{"float for integer", "[companion]\nmax_tokens = 1.5", `line 2: companion.max_tokens: must be 2000 or more, or a part such as "30%"`},
		{"too small", "[companion]\nmax_tokens = 7", `line 2: companion.max_tokens: must be 2000 or more, or a part such as "30%"`},
		{"no part", "[companion]\nmax_tokens = \"130%\"", `line 2: companion.max_tokens: must be 2000 or more, or a part such as "30%"`},
		{"no word", "[live]\nverbatim = \"ladder\"", `line 2: live.verbatim: must be 1 or more, or a part such as "30%", or "auto"`},
		{"part of nothing", "[live]\ntarget = \"0%\"", `line 2: live.target: must be a part such as "30%", above 0 and at most "100%"`},
		{"no client", "[live]\nclients = [\"pi\"]", `line 2: live.clients: must be one of qwen`},
		{"too large", "[live]\nrestore_files = 6", `line 2: live.restore_files: must be from 0 to 5`},
		{"two classes", "[compaction]\nclasses = [50, 30]", `line 2: compaction.classes: expected three numbers`},
		{"string for boolean", "[watch]\npoll = \"true\"", `line 2: watch.poll: expected boolean`},
		{"out of range", "[trigger]\npressure = 60", `line 2: trigger.pressure: must be a number above 0 and at most 1`},
		{"not a number", "[trigger]\npressure = nan", `line 2: trigger.pressure: must be a number above 0 and at most 1`},
		{"zero pressure", "[trigger]\npressure = 0.0", `line 2: trigger.pressure: must be a number above 0 and at most 1`},
		{"threshold", "[trigger]\nthreshold = \"high\"", `line 2: trigger.threshold: must be "auto" or a whole number above 0`},
		{"bad size", "[archive]\nmax_size = \"20 giga\"", `line 2: archive.max_size: must be a size such as "256MB" or "20GB"`},
		{"size without a unit", "[archive]\nmax_size = 3.5", `line 2: archive.max_size: must be a size with its unit, such as "3.5GB"`},
		{"negative size", "[archive]\nmax_size = -1", `line 2: archive.max_size: must be a size such as "256MB" or "20GB"`},
		{"relative path", "[companion]\ndir = \"here\"", `line 2: companion.dir: must be an absolute path`},
		{"level", "[log]\nlevel = \"loud\"", `line 2: log.level: must be one of debug, info, warn, error`},
		{"glob", "[watch]\nignore = [\"a\", \"[\"]", `line 2: watch.ignore: entry 2: not a valid glob`},
		{"list of numbers", "[watch]\nignore = [1]", `line 2: watch.ignore: expected string`},
		{"list as string", "[watch]\nignore = \"tmp\"", `line 2: watch.ignore: expected list`},
		{"unknown agent", "[watch.roots]\ncodex = []\nclaude = [\"/x\"]", `line 3: watch.roots.claude: unknown agent`},
		{"misspelt agent", "[watch.roots]\nclaude-cod = [\"/x\"]", `line 2: watch.roots.claude-cod: unknown agent "claude-cod"; did you mean "claude-code"?`},
		{"empty root", "[watch]\nroots.codex = [\"\"]", `line 2: watch.roots.codex: entry 1: must be a path`},
		{"relative root", "[watch]\nroots.codex = [\n  \"x\",\n]", `line 2: watch.roots.codex: entry 1: must be an absolute path`},
		{"no root", "[log]\n[agents.formats.mine]\nglob = '*.json'\n", `line 2: agents.formats.mine: roots is missing`},
		{"unknown key of a format", format + "globe = '*'\n", `line 3: unknown key "agents.formats.mine.globe"; did you mean "agents.formats.mine.glob"`},
		{"relative root of a format", "[agents.formats.mine]\nroots = ['x']\n", `line 2: agents.formats.mine.roots: entry 1: must be an absolute path`},
		{"name of another agent", "[agents.formats.codex]\nroots = ['/x']\n", `line 1: agents.formats.codex: the name must be lower-case letters, digits and hyphens, and not the name of another agent`},
		{"name with a slash", "[agents.formats.'a/b']\n", `line 1: agents.formats."a/b": the name must be`},
		{"no table", "[agents.formats]\nmine = 3\n", `line 2: agents.formats.mine: expected table`},
		{"window", "[models.windows]\n\"my.model\" = \"1M\"", `line 2: models.windows."my.model": expected integer`},
		{"rule", "[redact]\nsecrets = true\n[redact.rules]\nacme = 'acme_('\n", `line 4: redact.rules.acme: not a valid regular expression`},
		{"kind of a rule", "[redact.rules]\n\"Acme Key\" = 'x'\n", `line 2: redact.rules."Acme Key": a kind must be lower-case letters, digits and hyphens`},
		{"rule of another type", "[redact.rules]\nacme = 3\n", `line 2: redact.rules.acme: expected string`},
		{"allowed secret", "[redact]\nallow = ['a', '(']\n", `line 2: redact.allow: entry 2: not a valid regular expression`},
		{"syntax", "[watch]\nsettle = 2s\n", `line 2: not valid TOML`},
		{"over int64", "[models.windows]\nm = 99999999999999999999\n", `line 2: not valid TOML`},
		{"table twice", "[log]\n[watch]\n[log]\n", `line 3: not valid TOML`},
		{"twice", "[watch]\npoll = true\npoll = false\n", `line 3: watch.poll: not valid TOML`},
		{"deep tables", "x = 1\ny = " + strings.Repeat("{b=", 9000) + "1" + strings.Repeat("}", 9000), `line 2: over 4096 bytes`},
		{"deep keys", "[a" + strings.Repeat(".b", 30000) + "]\n", `line 1: over 4096 bytes`},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := load(t, c.text)
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("err = %v\nwant   %s", err, c.want)
			}
		})
	}
}

func TestPrecedenceAndSources(t *testing.T) {
	file := filepath.Join(t.TempDir(), "config.toml")
	text := "[watch]\nsettle = \"3s\"\nmax_wait = \"1m\"\npoll = true\n[models.windows]\n\"my-model-2.5\" = 50000\n[redact.rules]\nacme = 'acme_(.+)'\n"
	testkit.Must(t, os.WriteFile(file, []byte(text), 0o600))
	c, err := Load(file, true, []string{
		"HOME=/home/me", "CCD_CONFIG=/x", "CCD_WATCH_SETTLE=4s", "CCD_WATCH_MAX_WAIT=2m", "CCD_LOG_LEVEL=", "CCD_DEBUG=1",
		"CCD_REDACT_SECRETS=false", "CCD_REDACT_ALLOW=^a+$", "CCD_TRIGGER_THRESHOLD=1000", "CCD_WATCH_IGNORE=a*, b", "CCD_COMPANION_DIR=~/c", "CCD_TRIGGER_PRESSURE=0.5",
	})
	testkit.Must(t, err)
	want := map[string]Value{
		"watch.settle":         {Value: "4s", Source: "environment CCD_WATCH_SETTLE"},
		"watch.max_wait":       {Value: "2m", Source: "environment CCD_WATCH_MAX_WAIT"},
		"watch.poll":           {Value: true, Source: file + ":4"},
		"watch.ignore":         {Value: []string{"a*", "b"}, Source: "environment CCD_WATCH_IGNORE"},
		"watch.scan_interval":  {Value: "60s", Source: "default"},
		"trigger.threshold":    {Value: int64(1000), Source: "environment CCD_TRIGGER_THRESHOLD"},
		"trigger.pressure":     {Value: 0.5, Source: "environment CCD_TRIGGER_PRESSURE"},
		"companion.dir":        {Value: "/home/me/c", Source: "environment CCD_COMPANION_DIR"},
		"companion.max_tokens": {Value: int64(72000), Source: "default"},
		"redact.secrets":       {Value: false, Source: "environment CCD_REDACT_SECRETS"},
		"redact.allow":         {Value: []string{"^a+$"}, Source: "environment CCD_REDACT_ALLOW"},
		"redact.rules":         {Value: map[string]string{"acme": "acme_(.+)"}, Source: file + ":7"},
		"log.level":            {Value: "warn", Source: "default"},
		"archive.min_free":     {Value: "256MB", Source: "default"},
		"archive.max_size":     {Value: "0", Source: "default"},
	}
	seen := 0
	for _, v := range c.Values() {
		if w, ok := want[v.Key]; ok {
			seen++
			w.Key = v.Key
			if diff := cmp.Diff(w, v); diff != "" {
				t.Errorf("%s (-want +got):\n%s", v.Key, diff)
			}
		}
	}
	if seen != len(want) || c.Watch.MaxWait.Duration != 2*time.Minute || c.Path() != file {
		t.Errorf("%d of %d keys, %v, path %q", seen, len(want), c.Watch.MaxWait, c.Path())
	}
	if w := c.Models.Windows; w["my-model-2.5"] != 50000 || w["claude-3"] != 200000 {
		t.Errorf("windows = %v", w)
	}
}

func TestBadEnvironment(t *testing.T) {
	for _, c := range []struct{ env, want string }{
		{"CCD_LIVE=x", `CCD_LIVE: unknown key`},
		{"CCD_WATCH_SETLE=1s", `unknown key "CCD_WATCH_SETLE"; did you mean "CCD_WATCH_SETTLE"`},
		{"CCD_WATCH_SETTLE=1", `CCD_WATCH_SETTLE: must be a duration`},
		{"CCD_WATCH_SETTLE=1ms", `CCD_WATCH_SETTLE: must be 10ms or more`},
		{"CCD_COMPANION_MAX_TOKENS=x", `CCD_COMPANION_MAX_TOKENS: must be 2000 or more`},
		{"CCD_WATCH_ROOTS=/x", `CCD_WATCH_ROOTS: unknown key`},
		{"CCD_AGENTS_REACH=all", `agents.reach cannot be set in the environment`},
		{"CCD_WATCH_POLL=perhaps", `CCD_WATCH_POLL: expected boolean`},
	} {
		if _, err := load(t, "", c.env); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %s", c.env, err, c.want)
		}
	}
}

func TestFileThatIsAskedForMustBeThere(t *testing.T) {
	file := filepath.Join(t.TempDir(), "absent.toml")
	if _, err := Load(file, true, nil); err == nil || err.Error() != "read config "+file+": no such file or directory" {
		t.Errorf("err = %v", err)
	}
	if _, err := Load(t.TempDir(), false, nil); err == nil {
		t.Error("a directory is no config")
	}
}

func TestRoots(t *testing.T) {
	c, err := load(t, "[watch]\n[watch.roots]\nclaude-code = [\"~/a/../b\", \"/srv/x/\"]\n")
	testkit.Must(t, err)
	if diff := cmp.Diff(map[string][]string{"claude-code": {"/home/me/b", "/srv/x"}}, c.Watch.Roots); diff != "" {
		t.Error(diff)
	}
	file := filepath.Join(t.TempDir(), "c.toml")
	testkit.Must(t, os.WriteFile(file, []byte("[companion]\ndir = \"~/c\""), 0o600))
	if _, err := Load(file, true, []string{"HOME=rel"}); err == nil || !strings.Contains(err.Error(), "not set to an absolute path") {
		t.Errorf("err = %v", err)
	}
}

func TestDurations(t *testing.T) {
	for in, want := range map[string]time.Duration{"60s": time.Minute, "1h": time.Hour, "90d": 90 * 24 * time.Hour, "1d12h": 36 * time.Hour, "500ms": 500 * time.Millisecond, "0": 0} {
		var d Duration
		if err := d.UnmarshalText([]byte(in)); err != nil || d.Duration != want || d.shown() != in {
			t.Errorf("%s: %s, shown as %s, %v", in, d.Duration, d.shown(), err)
		}
	}
	for _, bad := range []string{"", "d", "2", "-1s", "1.5d", "1d-1h", "99999999d", "1s2d", "1h d"} {
		if err := new(Duration).UnmarshalText([]byte(bad)); err == nil {
			t.Errorf("%q is taken for a duration", bad)
		}
	}
}

func TestSizes(t *testing.T) {
	for in, want := range map[string]string{"256MB": "256MB", "256 MiB": "256MiB", "20GB": "20GB", "1500000": "1500kB", "0": "0", "1": "1"} {
		var n Bytes
		if err := n.UnmarshalText([]byte(in)); err != nil || n.shown() != want {
			t.Errorf("%s: %s, %v; want %s", in, n.shown(), err, want)
		}
	}
}

func TestPaths(t *testing.T) {
	for _, c := range []struct {
		goos, home string
		env        map[string]string
		want       string
	}{
		{"linux", "/home/me", nil, "/home/me/.local/state/ccd"},
		{"darwin", "/Users/me", nil, "/Users/me/Library/Application Support/ccd"},
		{"darwin", "/Users/me", map[string]string{"XDG_STATE_HOME": "/s"}, "/s/ccd"},
		{"linux", "", map[string]string{"XDG_STATE_HOME": "/s"}, "/s/ccd"},
		{"linux", "/home/me", map[string]string{"XDG_STATE_HOME": "relative"}, "/home/me/.local/state/ccd"},
		{"linux", "", nil, ""},
		{"linux", ".", nil, ""},
	} {
		got, err := stateDir(c.goos, func(k string) string { return c.env[k] }, c.home)
		if got != c.want || (err == nil) != (c.want != "") {
			t.Errorf("%+v: %q, %v", c, got, err)
		}
	}
	getenv := func(k string) string { return map[string]string{"XDG_CONFIG_HOME": "/c"}[k] }
	if got, err := File(getenv, ""); err != nil || got != "/c/ccd/config.toml" {
		t.Errorf("File = %q, %v", got, err)
	}
	if got, err := File(func(string) string { return "" }, ""); err == nil {
		t.Errorf("File without HOME = %q, want an error", got)
	}
}

// Whatever the file holds, reading it ends, in a configuration or in an error with a line.
func FuzzDecode(f *testing.F) {
	f.Add(Example())
	f.Add("[watch]\nroots.codex = [\"/a\"]\n[[log]]\n")
	f.Add("watch = {settle = \"1s\", x.y = 3}\nmodels.windows.\"a.b\" = -1")
	f.Fuzz(func(t *testing.T, text string) {
		c := defaults("")
		if err := c.decode(text, ""); err != nil && (!strings.HasPrefix(err.Error(), "line ") || strings.HasPrefix(err.Error(), "line 0")) {
			t.Fatalf("%q: %v", text, err)
		}
	})
}
