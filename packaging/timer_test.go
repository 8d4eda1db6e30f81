package packaging

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func timerOn(t *testing.T, o Options, goos string, f *fake) (*Timer, *bytes.Buffer) {
	t.Helper()
	var out bytes.Buffer
	o.Out = &out
	timer, err := newTimer(o, host{goos: goos, uid: 501, etc: filepath.Join(o.Home, "etc"), run: f.run, lingers: func(string) bool { return false }})
	if err != nil {
		t.Fatal(err)
	}
	return timer, &out
}

// TestTimerText compares the timer's files: those that install writes, and the unit that packages ship.
func TestTimerText(t *testing.T) {
	for name, goos := range map[string]string{"remote.service": "linux", "remote.plist": "darwin"} {
		timer, _ := timerOn(t, options("/home/sam"), goos, &fake{})
		files := timer.s.mgr.layers[0]
		golden(t, name, string(files[len(files)-1].text))
	}
	text, err := pushUnitOf("Part of ccd's package; `ccd remote timer` replaces it with a unit for your directories", Options{Executable: "/usr/bin/ccd"}, "%h/.local/state/ccd/remote/remote.json")
	if err != nil {
		t.Fatal(err)
	}
	golden(t, filepath.Join("..", pushUnit), string(text))
	if !strings.Contains(string(text), "\nExecStart=/usr/bin/ccd remote push --quiet\n") || strings.Contains(string(text), "Environment=") {
		t.Errorf("it is for one machine:\n%s", text)
	}
	plist, err := plistWords(must(timerOn(t, options("/home/sam"), "darwin", &fake{})).s.mgr.layers[0][0].text)
	if err != nil || !slices.Contains(plist, "StartInterval") || !slices.Contains(plist, "300") || slices.Contains(plist, "KeepAlive") {
		t.Errorf("the plist: %q, %v", plist, err)
	}
	if !bytes.Contains(timerText, []byte("\nOnUnitInactiveSec=5min\n")) {
		t.Error("systemd's interval is another one")
	}
}

func must(timer *Timer, _ *bytes.Buffer) *Timer { return timer }

// TestTimerVerbs: installing twice and removing twice ask the manager in order and leave nothing; uninstall removes it, too.
func TestTimerVerbs(t *testing.T) {
	for goos, want := range map[string]struct{ install, remove string }{
		"linux": {
			"show --property=Version; daemon-reload; enable ccd-remote.timer; restart ccd-remote.timer",
			"show --property=Version; stop ccd-remote.timer ccd-remote.service; disable ccd-remote.timer; daemon-reload; reset-failed ccd-remote.service",
		},
		"darwin": {
			"print gui/501; bootout gui/501/ccd-remote; enable gui/501/ccd-remote; bootstrap gui/501 HOME/Library/LaunchAgents/ccd-remote.plist",
			"print gui/501; bootout gui/501/ccd-remote; disable gui/501/ccd-remote",
		},
	} {
		f := &fake{}
		o := options(t.TempDir())
		timer, out := timerOn(t, o, goos, f)
		asked := func() string {
			text := strings.ReplaceAll(strings.Join(f.asked, "; "), o.Home, "HOME")
			f.asked = nil
			return strings.NewReplacer("systemctl --user ", "", "launchctl ", "").Replace(text)
		}
		if err := timer.Remove(t.Context()); err != nil || asked() != "" {
			t.Errorf("%s: remove nothing: %v", goos, err)
		}
		for range 2 {
			if err := timer.Install(t.Context()); err != nil || !timer.Installed() {
				t.Errorf("%s: install: %v", goos, err)
			}
			if got := asked(); got != want.install {
				t.Errorf("%s: install asks %s", goos, got)
			}
		}
		if !strings.Contains(out.String(), "pushes every 5 minutes") {
			t.Error(out)
		}
		if drift, err := timer.Drift(); err != nil || len(drift) > 0 {
			t.Errorf("%s: %q, %v", goos, drift, err)
		}
		if err := timer.Remove(t.Context()); err != nil || timer.Installed() || asked() != want.remove {
			t.Errorf("%s: remove: %v", goos, err)
		}
		if err := timer.Install(t.Context()); err != nil {
			t.Error(err)
		}
		f.answer = func(string) (string, error) { return "", errors.New("no manager") }
		service, _ := serviceOn(t, o, goos, 501, f)
		if err := service.Uninstall(t.Context()); err != nil || timer.Installed() {
			t.Errorf("%s: uninstall: %v, files %q", goos, err, timer.s.Files())
		}
		if entries, _ := os.ReadDir(filepath.Join(o.Home, ".config")); len(entries) > 0 {
			t.Errorf("%s: %v stay", goos, entries)
		}
	}
	if _, err := newTimer(options("/home/sam"), host{goos: "windows"}); err == nil || !strings.Contains(err.(*hintError).Hint(), "ccd remote push -q") {
		t.Errorf("without a manager: %v", err)
	}
}
