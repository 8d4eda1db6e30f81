//go:build rig

package clients

import (
	"crypto/sha256"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"ccd/internal/testkit/remotetest"
)

// TestAnotherMachineContinues: the sessions of a machine are found, restored and continued on another one after the
// first is gone. A real S3 server has the copy.
func TestAnotherMachineContinues(t *testing.T) {
	t.Parallel()
	all := []agent{claudeAgent.found(t), codexAgent.found(t)}
	s := remotetest.Start(t)
	desk, lap := newMachine(t, s, "desk"), newMachine(t, s, "lap")
	recipient := lap.ccd("remote", "keys", "--quiet")
	desk.ccd("remote", "add", s.URL(), "--endpoint", s.Endpoint, "--recipient", recipient)
	stop := desk.daemon()
	ids, whole := map[string]string{}, map[string]string{}
	for _, a := range all {
		_, id := desk.grown(a, 8, 0)
		ids[a.name], whole[a.name] = id, desk.read(desk.transcript(a, id))
	}
	stop()
	desk.ccd("run", "--once") // what was written after the daemon's last look
	id := markerID.FindStringSubmatch(desk.ccd("show", ids["claude-code"]))
	if id == nil {
		t.Fatal("the companion names no ID")
	}
	original := desk.must(desk.ccdPath(), "restore", id[1])
	desk.ccd("remote", "push")
	if err := os.Rename(filepath.Dir(desk.home), filepath.Dir(desk.home)+"-gone"); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(filepath.Dir(desk.home) + "-gone") })

	lap.ccd("remote", "add", s.URL(), "--endpoint", s.Endpoint)
	if r := lap.run(lap.ccdPath(), "search", "--everywhere", "Never round cents"); r.code == 0 {
		t.Errorf("the control: found before it was pulled: %s", r.out)
	}
	lap.ccd("remote", "pull")
	var listed []struct{ Session string }
	lap.decode(&listed, "ls", "--machine", "desk", "--json")
	if len(listed) != len(all) {
		t.Errorf("ls --machine desk: %+v, want %d sessions", listed, len(all))
	}
	if got := lap.must(lap.ccdPath(), "restore", id[1]); got != original {
		t.Errorf("%s restores to %d bytes, want %d", id[1], len(got), len(original))
	}
	for _, a := range all {
		session := ids[a.name]
		if found := lap.ccd("search", "--everywhere", "Never round cents"); !strings.Contains(found, "desk "+session) {
			t.Errorf("%s: search --everywhere does not find it:\n%s", a.title, found)
		}
		if got := lap.must(lap.ccdPath(), "restore", "--session", session); sha256.Sum256([]byte(got)) != sha256.Sum256([]byte(whole[a.name])) {
			t.Errorf("%s: the session restores to %d bytes, want the %d of the transcript", a.title, len(got), len(whole[a.name]))
		}
		made := lap.resume("--machine", "desk", session)
		if path, err := filepath.Rel(lap.home, made.Path); err != nil || !filepath.IsLocal(path) {
			t.Errorf("%s: the copy is %s, not below this home", a.title, made.Path)
		}
		asked := lap.goOn(a, made.clientID(), "Go on.", append(a.working(30, 2), says("done"))...)
		moved := "What is in `" + desk.project + "` in its messages is in `" + lap.project + "` here"
		for _, words := range []string{"Never round cents.", finished, "Go on.", moved} {
			if !asked[0].holds(words) {
				t.Errorf("%s: the request on the other machine does not hold %q", a.title, words)
			}
		}
		desk.proved("case h: %s: a session of %d bytes from a lost machine was found and restored on another one, and continued there with %d requests", a.title, len(whole[a.name]), len(asked))
	}
}

// newMachine makes a home with a host name and the credentials of the server.
func newMachine(t *testing.T, s remotetest.Server, name string) *place {
	t.Helper()
	p := newPlace(t)
	link(t, filepath.Join(filepath.Dir(os.Getenv(binary)), "ccd-remote"), filepath.Join(p.bin(), "ccd-remote"))
	p.write(filepath.Join(p.home, ".config/ccd/config.toml"), "[companion]\nhost = \""+name+"\"\n")
	p.write(filepath.Join(p.home, ".aws/credentials"), "[default]\naws_access_key_id = "+s.Access+"\naws_secret_access_key = "+s.Secret+"\n")
	return p
}
