//go:build unix

package doctor

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"ccd/internal/remote/pulled"
	"ccd/internal/testkit"
)

// TestRemote: doctor names what is wrong with the copy in object storage, and what to do; without a remote it says nothing.
func TestRemote(t *testing.T) {
	sound := func(t *testing.T) (*facts, pulled.Settings, pulled.Push) {
		f := soundFacts(t)
		bin := t.TempDir()
		testkit.Must(t, os.WriteFile(filepath.Join(bin, "ccd-remote"), nil, 0o755))
		f.Env.Vars = append(f.Env.Vars, "PATH="+bin)
		testkit.Must(t, os.MkdirAll(filepath.Join(f.StateDir, pulled.Dir), 0o700))
		return f, pulled.Settings{URL: "s3://b/p", Recipients: []string{"age1x"}}, pulled.Push{Pushed: f.Now.Add(-time.Minute), Tried: f.Now}
	}
	for name, c := range map[string]struct {
		spoil       func(f *facts, s *pulled.Settings, p *pulled.Push)
		state, want string
		fix         string
	}{
		"sound":      {func(*facts, *pulled.Settings, *pulled.Push) {}, "ok", "pushed to s3://b/p 1m ago, for 1 recipient", ""},
		"recipients": {func(_ *facts, s *pulled.Settings, _ *pulled.Push) { s.Recipients = nil }, "wrong", "no recipients", "--recipient"},
		"no program": {func(f *facts, _ *pulled.Settings, _ *pulled.Push) {
			f.Env.Vars[len(f.Env.Vars)-1] = "PATH=/nonexistent"
		}, "wrong", "not found beside ccd", "install"},
		"never": {func(_ *facts, _ *pulled.Settings, p *pulled.Push) { *p = pulled.Push{} }, "note", "nothing was pushed", "ccd remote push"},
		"late":  {func(_ *facts, _ *pulled.Settings, p *pulled.Push) { p.Pushed = p.Tried.Add(-2 * time.Hour) }, "note", "last push 2h ago", "cron"},
		"offline": {func(_ *facts, _ *pulled.Settings, p *pulled.Push) {
			p.Pushed, p.Error, p.Exit, p.Behind.Sessions = p.Tried.Add(-2*time.Hour), "not available", 1, 3
		}, "note", "last push 2h ago; the one 0s ago failed, 3 sessions behind: not available", "ccd remote push"},
		"offline for long": {func(_ *facts, _ *pulled.Settings, p *pulled.Push) {
			p.Pushed, p.Error, p.Exit, p.Hint = p.Tried.Add(-50*time.Hour), "there are no credentials", 1, "write them"
		}, "wrong", "no credentials", "write them"},
		"first fails": {func(_ *facts, _ *pulled.Settings, p *pulled.Push) {
			p.Pushed, p.Error, p.Exit = time.Time{}, "denied", 1
		}, "wrong", "the first push failed", "ccd remote push"},
		"head refused": {func(_ *facts, _ *pulled.Settings, p *pulled.Push) { p.Error, p.Exit = "it is missing", 4 }, "wrong", "it is missing", ""},
	} {
		t.Run(name, func(t *testing.T) {
			f, s, p := sound(t)
			c.spoil(f, &s, &p)
			dir := filepath.Join(f.StateDir, pulled.Dir)
			testkit.Must(t, errors.Join(pulled.WriteSettings(dir, s), pulled.WritePush(dir, p)))
			all := f.remote()
			if len(all) != 1 || all[0].State != c.state || !strings.Contains(all[0].Detail, c.want) || !strings.Contains(all[0].Fix, c.fix) {
				t.Errorf("%+v", all)
			}
		})
	}
	f, _, _ := sound(t)
	if all := f.remote(); len(all) != 0 {
		t.Errorf("without a remote: %+v", all)
	}
	write(t, filepath.Join(f.StateDir, pulled.Dir, pulled.SettingsFile), 0o600)
	if all := f.remote(); len(all) != 1 || all[0].State != "wrong" {
		t.Errorf("settings that cannot be read: %+v", all)
	}
}
