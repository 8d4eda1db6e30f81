//go:build rig

package walk

import (
	"os"
	"regexp"
	"strings"
	"time"

	"ccd/internal/testkit"
)

// tries is a script that does what the service has no business to do, and says of each how it went.
const tries = `#!/bin/bash
try() { local name=$1; shift; if ( "$@" ) >/dev/null 2>&1; then echo "$name done"; else echo "$name refused"; fi; }
put() { : >"$1/probe" && rm "$1/probe"; }
dial() { ( exec 3<>/dev/tcp/127.0.0.1/9 ) 2>&1 | grep -q refused; } # nobody listens: only a socket can be refused
try outside put "$HOME"
try system put /srv/everybody
try transcripts put "$HOME/.claude/projects"
try companions put "$HOME/companions"
try state put "$HOME/.local/state/ccd"
try key cat "$HOME/.ssh/id"
try network dial
try namespace unshare --user true
try manager systemd-run --user --quiet --wait true
try system-bus systemctl show --property=Version
try memory put /dev/shm
`

const probe = "/probe"

// probe runs tries in a unit that has the installed service's own settings, with or without its sandbox.
func (w *walk) probe(sandbox bool) map[string]string {
	w.Helper()
	home := w.alice.home()
	text := w.read(home + units + "/ccd.service")
	text = regexp.MustCompile(`(?m)^(ExecStart|ExecReload|Type|NotifyAccess|WatchdogSec|Restart|RestartSec)=.*\n`).ReplaceAllString(text, "")
	text = strings.Replace(text, "[Service]\n", "[Service]\nType=oneshot\nExecStart=/bin/bash "+home+probe+".sh\nStandardOutput=truncate:"+home+probe+".out\n", 1)
	if !sandbox {
		text = regexp.MustCompile(`(?s)# The sandbox limits.*\n\n\[Install\]`).ReplaceAllString(text, "[Install]")
	}
	w.write(w.alice, home+units+"/probe.service", text)
	w.write(w.alice, home+probe+".sh", tries)
	w.must(w.alice, "mkdir", "-p", home+"/companions", home+"/.ssh")
	w.write(w.alice, home+"/.ssh/id", "a key\n")
	w.must(w.alice, "systemctl", "--user", "daemon-reload")
	w.must(w.alice, "systemctl", "--user", "start", "probe.service")
	said := results(w.read(home + probe + ".out"))
	w.must(w.alice, "rm", "-rf", home+units+"/probe.service", home+probe+".sh", home+probe+".out", home+"/.ssh")
	w.must(w.alice, "rmdir", "--ignore-fail-on-non-empty", home+"/companions")
	w.must(w.alice, "systemctl", "--user", "daemon-reload")
	return said
}

func results(text string) map[string]string {
	said := map[string]string{}
	for line := range strings.Lines(text) {
		name, how, _ := strings.Cut(strings.TrimSpace(line), " ")
		said[name] = how
	}
	return said
}

func (w *walk) read(inside string) string {
	w.Helper()
	text, err := os.ReadFile(w.path(inside))
	testkit.Must(w, err)
	return string(text)
}

// sandboxed looks at the sandbox from inside.
func sandboxed(w *walk) {
	w.expect(w.probe(true), "in the sandbox", map[string]string{
		"outside": "refused", "system": "refused", "key": "refused", "network": "refused", "namespace": "refused",
		"transcripts": "done", "state": "done",
		"manager": "refused", "system-bus": "refused", "memory": "refused",
	})
	w.expect(w.probe(false), "in the base layer", map[string]string{
		"outside": "done", "system": "done", "key": "done", "network": "refused", "namespace": "refused", "transcripts": "done",
		"manager": "done", "system-bus": "done", "memory": "done",
	})
	w.write(w.alice, w.alice.home()+"/.ssh/id", "a key\n")
	w.expect(results(w.shell(w.alice, tries, "exec bash")), "in a shell", map[string]string{
		"outside": "done", "system": "done", "key": "done", "network": "done", "namespace": "done", "transcripts": "done",
		"manager": "done", "system-bus": "done", "memory": "done",
	})
	w.must(w.alice, "rm", "-r", ".ssh")
	w.late()
}

// expect compares what was tried with what should have become of it.
func (w *walk) expect(got map[string]string, where string, want map[string]string) {
	w.Helper()
	for name, how := range want {
		if got[name] != how {
			w.Errorf("%s: %s: %s, want it %s", where, name, got[name], how)
		}
	}
}

// late has a root come into being that was not there when the sandbox was made.
func (w *walk) late() {
	w.Helper()
	f := w.alice.home() + "/.codex/archived_sessions/rollout-2026-01-01T10-00-00-00009999-0000-4000-8000-0000000000aa.jsonl"
	if _, err := os.Stat(w.path(f[:strings.LastIndexByte(f, '/')])); err == nil {
		w.Fatal("the late root is there already")
	}
	w.files = append(w.files, f)
	w.write(w.alice, f, string(invented(w, 2001, 200<<10).text))
	took := w.within(30*time.Second, "a companion in a root that came later", func() bool {
		_, err := os.Stat(w.path(strings.TrimSuffix(f, ".jsonl") + ".ccd.md"))
		return err == nil
	})
	w.within(10*time.Second, "the service is ready", func() bool { return w.pid() != 0 })
	w.tell("a later root: companion after %.1f s", took.Seconds())
}

// fallenBack installs where the manager may make no user namespaces, as some distributions have it.
func fallenBack(w *walk) {
	w.write(root, "/etc/systemd/system/user@1001.service.d/walk.conf", "[Service]\nRestrictNamespaces=~user\n")
	w.must(root, "systemctl", "daemon-reload")
	w.must(root, "systemctl", "restart", "user@1001.service")
	defer func() {
		w.must(root, "rm", "-r", "/etc/systemd/system/user@1001.service.d")
		w.must(root, "systemctl", "daemon-reload")
		w.must(root, "systemctl", "restart", "user@1001.service")
	}()
	before := w.belongings(w.bob)
	start := time.Now()
	out, said, err := w.run(w.Context(), w.bob, "", "ccd", "service", "install")
	if err != nil {
		w.Fatalf("ccd service install: %v\n%s%s", err, out, said)
	}
	w.tell("ready after %.1f s", time.Since(start).Seconds())
	w.has(out+said, "sandbox")
	if u := w.unit(w.bob); u["ActiveState"] != "active" {
		w.Errorf("the service is not active: %v", u)
	}
	if strings.Contains(w.read(w.bob.home()+units+"/ccd.service"), "PrivateUsers=") {
		w.Error("the sandbox that cannot work stays")
	}
	w.gone(w.bob)
	w.left(w.bob, before)
}
