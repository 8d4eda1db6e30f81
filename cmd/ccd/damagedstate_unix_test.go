//go:build unix

package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"ccd/cmd/ccd/internal/status"
	"ccd/internal/testkit"
	"ccd/internal/words"
)

// If a session's state is damaged, reading commands say so and exit 4, but print everything that needs no state. The
// daemon rebuilds the state, even if the transcript is gone.
func TestDamagedStateIsReported(t *testing.T) {
	d := newDamageable(t)
	const bad = "00000000-0000-4000-8000-000000000001"
	tests := []struct {
		line string
		code int
		out  string // what stdout has
		err  string // expected on stderr if the state is damaged
	}{
		{"archive verify", 4, "session state", "1 damaged"},
		{"status", 4, "session state", ""},
		{"doctor", 1, "session state", ""},
		{"ls", 4, bad, "session state"},
		{"ls --json", 4, `"damage": "read archive`, bad},
		{"search parcels", 4, "000000000010", bad},
		{"show --path " + bad, 4, "", "session state"},
		{"show " + bad, 4, "ccd: 1", "session state"},
		{"restore --session " + bad, 0, "sessionId", ""},
		{"restore " + bad + "#1", 0, "", ""},
		{"restore " + d.id, 0, "", ""},
	}
	for _, tt := range tests {
		if out, talk, code := outputs(t, d.home, strings.Fields(tt.line)...); code == words.ExitDamage || strings.Contains(string(out)+talk, "session state") {
			t.Errorf("%s: exit %d of a sound archive: %s", tt.line, code, talk)
		}
	}
	sound := d.session(t, bad)
	damage := func() {
		t.Helper()
		damageSessions(t, d.path, "state", bad)
	}
	damage()
	for _, tt := range tests {
		out, talk, code := outputs(t, d.home, strings.Fields(tt.line)...)
		if code != tt.code || !strings.Contains(string(out), tt.out) || !strings.Contains(talk, tt.err) {
			t.Errorf("%s: exit %d, want %d with %q and %q\n%s%s", tt.line, code, tt.code, tt.out, tt.err, out[:min(len(out), 300)], talk)
		}
	}
	healed := func(how string) {
		t.Helper()
		once(t, d.home)
		done(t, d.home, "archive", "verify")
		if got := d.session(t, bad); got.Project != sound.Project || got.Records != sound.Records || got.Compacted != sound.Compacted || got.Companion == "" || got.Lag != 0 {
			t.Errorf("%s: %+v, want as %+v", how, got, sound)
		}
	}
	healed("with its transcript")
	damage()
	must(t, os.Remove(transcriptPath(d.home, 1)))
	healed("without its transcript")
	if out, talk, code := outputs(t, d.home, "show", "--path", bad); code != words.ExitDone || !strings.HasPrefix(string(out), stateOf(t, d.home)) {
		t.Errorf("path without the transcript: exit %d: %s%s", code, out, talk)
	}
	if left, _ := filepath.Glob(filepath.Join(filepath.Dir(transcriptPath(d.home, 1)), bad+"*")); len(left) > 0 {
		t.Errorf("left beside the transcript that is gone: %v", left)
	}
}

func (d *damageable) session(t *testing.T, id string) status.Session {
	t.Helper()
	var all []status.Session
	out, _, _ := outputs(t, d.home, "ls", "--json")
	must(t, json.Unmarshal(out, &all))
	for _, s := range all {
		if s.Session == id && s.Damage == "" {
			return s
		}
	}
	t.Fatalf("no session %s in %s", id, out)
	return status.Session{}
}

// An agent can still read its project's sessions with damaged state. It is not told about damage in other projects.
func TestReachOfADamagedState(t *testing.T) {
	testkit.Long(t, "it damages states of two projects")
	p := newProjects(t)
	path := filepath.Join(stateOf(t, p.home), "archive.db")
	sound := read(t, path)
	damageSessions(t, path, "state", sessionA)
	if r := p.run("a", "agent", "show", sessionA); r.code != words.ExitDamage || !strings.Contains(r.out, "ccd: 1") || !strings.Contains(r.err, "session state") {
		t.Errorf("show: %+v", r)
	}
	if r := p.run("a", "agent", "search", "alpha-main"); r.code != words.ExitDamage || !strings.Contains(r.out, sessionA) || !strings.Contains(r.err, "session state") {
		t.Errorf("search: %+v", r)
	}
	if r := p.run("a", "agent", "restore", sessionA+"#1"); r.code != words.ExitDone || r.out == "" {
		t.Errorf("restore: %+v", r)
	}
	put(t, path, string(sound))
	damageSessions(t, path, "state", sessionB)
	for _, args := range [][]string{{"show", sessionB}, {"search", "bravo-main"}, {"restore", sessionB + "#1"}} {
		if r := p.run("a", append([]string{"agent"}, args...)...); r.code != words.ExitNotFound || strings.Contains(r.err, "damaged") {
			t.Errorf("%v of another project: %+v", args, r)
		}
	}
}
