//go:build unix

package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	bolt "go.etcd.io/bbolt"

	"ccd/cmd/ccd/internal/status"
	"ccd/internal/testkit"
	"ccd/internal/words"
)

// damageable is a home with an archive to damage, and what restore printed before.
type damageable struct {
	home, path string
	sound      []byte // the archive
	keys       []int  // offsets of session keys
	restores   []restoreCase
	id         string // of an original in a companion
}

// restoreCase is a restore and the bytes that it must print.
type restoreCase struct {
	args []string
	want []byte
}

// newDamageable returns a home whose sessions were archived as `ccd run --once` does.
func newDamageable(t *testing.T) *damageable {
	t.Helper()
	d := &damageable{home: damageableHome.copy(t)}
	d.path = filepath.Join(stateOf(t, d.home), "archive.db")
	var err error
	if d.sound, err = os.ReadFile(d.path); err != nil {
		t.Fatal(err)
	}
	for at := 0; ; at++ {
		n := bytes.Index(d.sound[at:], []byte("claude-code\x00"))
		if n < 0 {
			break
		}
		at += n
		d.keys = append(d.keys, at)
	}
	d.asks(t)
	return d
}

// damageableHome has so many sessions that their records fill more than a page.
var damageableHome = &fixture{make: func(t *testing.T, home string) {
	configure(t, home, "[trigger]\nthreshold = 1\nmin_savings = 0\n")
	story, _ := newStory()
	put(t, transcriptPath(home, 1), story.buf.String())
	put(t, transcriptPath(home, 2), string(muchTalk()))
	for n := range 40 {
		put(t, transcriptPath(home, 10+n), strings.ReplaceAll(aLine, "parcels", fmt.Sprint("parcels of day ", n)))
	}
	once(t, home)
	outputs(t, home, "compact", "--all")
}}

// asks fills d.restores: whole sessions, records, an ID of a companion and an unknown ID.
func (d *damageable) asks(t *testing.T) {
	t.Helper()
	id := func(n int) string { return fmt.Sprintf("00000000-0000-4000-8000-%012d", n) }
	for _, n := range []int{1, 2, 10, 30, 49} {
		d.add(t, "restore", "--session", id(n))
		d.add(t, "restore", id(n)+"#1")
	}
	companion, _, _ := outputs(t, d.home, "show", id(1))
	ids := regexp.MustCompile(`\[ccd ([0-9a-z]{12}) `).FindAllSubmatch(companion, -1)
	for i := 0; i < len(ids); i += max(1, len(ids)/6) {
		d.id = string(ids[i][1])
		d.add(t, "restore", d.id)
	}
	line, _, _ := outputs(t, d.home, "restore", "--raw", "--info", id(30)+"#1")
	d.add(t, "restore", strings.Fields(string(line))[1])
}

func (d *damageable) add(t *testing.T, args ...string) {
	t.Helper()
	out, talk, code := outputs(t, d.home, args...)
	if code != words.ExitDone || len(out) == 0 {
		t.Fatalf("%v of a sound archive: exit %d: %s", args, code, talk)
	}
	d.restores = append(d.restores, restoreCase{args, out})
}

// damages calls fn for n archives with one damage each, the same ones in each run.
func (d *damageable) damages(t *testing.T, n int, fn func(what string)) {
	t.Helper()
	r := rand.New(rand.NewPCG(6, 779))
	for i := range n {
		bad, what := damageOf(r, d.sound, i)
		if i%2 == 0 { // a session's key, or what stands beside it in its page
			bad, what = bytes.Clone(d.sound), "a flipped bit near a key"
			bad[d.keys[r.IntN(len(d.keys))]/4096*4096+r.IntN(4096)] ^= 1 << r.IntN(8)
		}
		put(t, d.path, string(bad))
		fn(what)
	}
	put(t, d.path, string(d.sound))
}

// A restore from a damaged archive prints the exact bytes or reports damage. "Not found" would be wrong, because the ID
// may be in the damaged part.
func TestRestoreFromADamagedArchive(t *testing.T) {
	d := newDamageable(t)
	n := testkit.Cases(t, 8, 1000) // 8 kinds of damage
	codes := map[int]int{}
	d.damages(t, n, func(what string) {
		for _, c := range d.restores {
			out, talk, code := outputs(t, d.home, c.args...)
			codes[code]++
			switch {
			case code == words.ExitDone && !bytes.Equal(out, c.want):
				t.Errorf("%s: %v gives other bytes", what, c.args)
			case code != words.ExitDone && code != words.ExitDamage:
				t.Errorf("%s: %v: exit %d: %s", what, c.args, code, talk)
			case code == words.ExitDamage && !strings.Contains(talk, "damaged"):
				t.Errorf("%s: %v: exit 4 without a word of damage: %s", what, c.args, talk)
			}
		}
	})
	t.Logf("%d pages, %d restores of each of %d archives: %v", len(d.sound)/4096, len(d.restores), n, codes)
	if codes[words.ExitDamage] == 0 || codes[words.ExitDone] == 0 {
		t.Errorf("exit codes %v: the test sees nothing", codes)
	}
	for _, c := range d.restores {
		if out, talk, code := outputs(t, d.home, c.args...); code != words.ExitDone || !bytes.Equal(out, c.want) {
			t.Errorf("sound again: %v: exit %d: %s", c.args, code, talk)
		}
	}
	if _, talk, code := outputs(t, d.home, "restore", "4tq9c1m7x2ka"); code != words.ExitNotFound {
		t.Errorf("what a sound archive does not have: exit %d: %s", code, talk)
	}
}

// damageSessions damages the records of sessions in a bucket.
func damageSessions(t *testing.T, path, bucket string, sessions ...string) {
	t.Helper()
	db, err := bolt.Open(path, 0o600, nil)
	must(t, err)
	must(t, db.Update(func(tx *bolt.Tx) error {
		b := tx.Bucket([]byte(bucket))
		for _, id := range sessions {
			key := []byte("claude-code\x00" + id)
			record := slices.Clone(b.Get(key))
			record[len(record)-2] ^= 1
			must(t, b.Put(key, record))
		}
		return nil
	}))
	must(t, db.Close())
}

// damagedCase is what a command does when records of sessions are damaged.
type damagedCase struct {
	line     string
	code     int
	out, err string // what stdout and stderr have
}

// tells damages records of sessions in a bucket and checks that commands report it. The control: before that, no command reports damage.
func (d *damageable) tells(t *testing.T, bucket string, sessions []string, cases []damagedCase) {
	t.Helper()
	for _, c := range cases {
		if out, talk, code := outputs(t, d.home, strings.Fields(c.line)...); code == words.ExitDamage || strings.Contains(string(out)+talk, "damaged: ") {
			t.Errorf("%s: exit %d of a sound archive: %s%s", c.line, code, out, talk)
		}
	}
	damageSessions(t, d.path, bucket, sessions...)
	for _, c := range cases {
		out, talk, code := outputs(t, d.home, strings.Fields(c.line)...)
		if code != c.code || !strings.Contains(string(out), c.out) || !strings.Contains(talk, c.err) {
			t.Errorf("%s: exit %d, want %d with %q and %q\n%s%s", c.line, code, c.code, c.out, c.err, out[:min(len(out), 300)], talk)
		}
		if code == words.ExitDamage && !strings.Contains(talk+string(out), "damaged") {
			t.Errorf("%s: exit 4 without a word of damage", c.line)
		}
	}
}

// Commands that list sessions list the sound ones, name the damaged ones and exit 4. Commands about a sound session
// work.
func TestDamagedSessionsAreSkipped(t *testing.T) {
	t.Parallel()
	d := newDamageable(t)
	const other = "00000000-0000-4000-8000-000000000001"
	const bad, badder = "00000000-0000-4000-8000-000000000030", "00000000-0000-4000-8000-000000000031"
	d.tells(t, "sessions", []string{bad, badder}, []damagedCase{
		{"ls", 4, "000000000029", bad},
		{"ls --json", 4, `"damage": "read archive`, bad},
		{"search parcels", 4, "000000000010", bad},
		{"search nowhere-to-be-found", 4, "", bad},
		{"search --session " + other + " the", 0, other, ""},
		{"search --session " + bad + " parcels", 4, "", "not found"},
		{"status --totals", 4, "sessions", bad},
		{"archive verify", 4, bad, ""},
		{"timeline " + other, 0, "#1", ""},
		{"timeline " + bad, 4, "", "not found"},
		{"show " + other, 0, "ccd: 1", ""},
		{"show " + bad, 4, "", "not found"},
		{"diff " + bad, 4, "", "not found"},
		{"resume --dry-run " + bad, 4, "", "damaged"},
		{"restore --session " + other, 0, "sessionId", ""},
		{"restore --session " + bad, 4, "", "not found"},
		{"restore " + bad + "#1", 4, "", "damaged"},
		{"restore 4tq9c1m7x2ka", 4, "", "not found"},
		{"restore --file nowhere/to-be-found", 4, "", "not found"},
		{"status", 4, "degraded", ""},
		{"status --json", 4, `"cause": "read archive`, ""},
	})
}

// TestAdviceEnds: what doctor says of a file that is no archive ends with a new archive, and does not send back to the command
// that sent here. A root that is configured and missing is noted.
func TestAdviceEnds(t *testing.T) {
	t.Parallel()
	home := leakedHome(t)
	file, backup := filepath.Join(home, ".local/state/ccd/archive.db"), filepath.Join(home, "backup.db")
	done(t, home, "archive", "backup", backup)
	for what, text := range map[string]string{"short": "no archive", "long": strings.Repeat("no archive\n", 40_000)} {
		put(t, file, text)
		next := "mv " + file + " " + file + ".damaged-1, then ccd archive import BACKUP or ccd run --once\n"
		for _, line := range []string{"archive verify", "ls"} {
			if _, talk, code := outputs(t, home, strings.Fields(line)...); code != words.ExitDamage || !strings.Contains(talk, "hint: ccd doctor --fix; if that fails, "+next) {
				t.Errorf("%s: %s: %d %s", what, line, code, talk)
			}
		}
		if _, talk, code := outputs(t, home, "archive", "import", backup); code != words.ExitFailed || !strings.HasSuffix(talk, ": not a ccd archive: "+next) {
			t.Errorf("%s: import: %d %s", what, code, talk)
		}
		_, talk, code := outputs(t, home, "run", "--once")
		if code != words.ExitFailed || strings.Count(talk, "\nfailed: ") != 2 || !strings.Contains(talk, "; the same for ") || !strings.Contains(talk, ": not a ccd archive: "+next) {
			t.Errorf("%s: run: %d %s", what, code, talk)
		}
		out, talk, code := outputs(t, home, "doctor", "--fix")
		if code == words.ExitDone || strings.Contains(string(out), "archive verify") || strings.Count(string(out), "wrong  archive") != 1 || !strings.Contains(string(out), "mv "+file) {
			t.Errorf("%s: doctor: %d\n%s%s", what, code, out, talk)
		}
		must(t, os.Rename(file, file+".damaged-1"))
		done(t, home, "archive", "import", backup)
		once(t, home)
		done(t, home, "archive", "verify")
	}
	configure(t, home, "[watch.roots]\nclaude-code = [\""+home+"/nowhere\"]\n")
	if out, _, _ := outputs(t, home, "doctor"); !strings.Contains(string(out), home+"/nowhere does not exist") || strings.Contains(string(out), "not found yet, watched when they appear: "+home) {
		t.Errorf("doctor with a configured root that is missing: %s", out)
	}
}

// If a session's state is damaged, reading commands say so and exit 4, but print everything that needs no state. The
// daemon rebuilds the state, even if the transcript is gone.
func TestDamagedStateIsReported(t *testing.T) {
	d := newDamageable(t)
	const bad = "00000000-0000-4000-8000-000000000001"
	sound := d.session(t, bad)
	d.tells(t, "state", []string{bad}, []damagedCase{
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
	})
	healed := func(how string) {
		t.Helper()
		once(t, d.home)
		done(t, d.home, "archive", "verify")
		if got := d.session(t, bad); got.Project != sound.Project || got.Records != sound.Records || got.Compacted != sound.Compacted || got.Companion == "" || got.Lag != 0 {
			t.Errorf("%s: %+v, want as %+v", how, got, sound)
		}
	}
	healed("with its transcript")
	damageSessions(t, d.path, "state", bad)
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

// damagedHome returns a HOME with three archived sessions and a damaged archive, and the sessions' texts by ID.
func damagedHome(t *testing.T) (home, archive string, texts map[string]string) {
	t.Helper()
	home, texts = t.TempDir(), map[string]string{}
	for n := range 3 {
		text := strings.Repeat(aLine, 1+n*400)
		put(t, transcriptPath(home, n), text)
		texts[strings.TrimSuffix(filepath.Base(transcriptPath(home, n)), ".jsonl")] = text
	}
	once(t, home)
	archive = filepath.Join(home, ".local/state/ccd/archive.db")
	raw := read(t, archive)
	r := rand.New(rand.NewPCG(1, 1))
	for range 100 {
		for range 8 {
			raw[8192+r.IntN(len(raw)-8192)] ^= 1 << r.IntN(8)
		}
		put(t, archive, string(raw))
		if _, _, code := outputs(t, home, "archive", "verify"); code == words.ExitDamage {
			return home, archive, texts
		}
	}
	t.Fatal("verify sees no damage: the test sees nothing")
	return home, archive, texts
}
