//go:build unix

package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/minio/minio-go/v7"
	"github.com/minio/minio-go/v7/pkg/credentials"

	"ccd/internal/remote/pulled"
	"ccd/internal/testkit"
)

// site is a machine, a reader and the store between them, for one fault.
type site struct {
	*server
	t            *testing.T
	desk, reader *home
	hit          atomic.Int32 // requests that met the fault
	mu           sync.Mutex
	old          map[string]*httptest.ResponseRecorder // answers from before the fault
}

// trouble is a fault and how it is reported.
type trouble struct {
	name   string
	answer func(c *site) handler      // of the proxy, while it lasts
	begin  func(c *site) (end func()) // a fault elsewhere
	verb   string                     // the command that meets it; "": two pushes and a pull, which must succeed
	reader bool                       // run by the reader
	seen   bool                       // who has pulled the newest head before
	code   int                        // its exit code
	says   string                     // part of what it prints on stderr
	hint   string                     // the same
	told   string                     // part of what ccd status and ccd remote status print while it lasts
}

// fault answers a request, or forwards it to the server.
type fault = func(w http.ResponseWriter, r *http.Request, forward http.HandlerFunc)

// some meets every other request, all meets each.
func some(f fault) func(c *site) handler {
	return met(func(n int, _ *http.Request) bool { return n%2 == 1 }, f)
}

func all(f fault) func(c *site) handler {
	return met(func(int, *http.Request) bool { return true }, f)
}

// met has a fault meet the requests for which when is true, of which it gets the number.
func met(when func(n int, r *http.Request) bool, f fault) func(c *site) handler {
	return func(c *site) handler {
		return func(n int, w http.ResponseWriter, r *http.Request, forward http.HandlerFunc) {
			if !when(n, r) {
				forward(w, r)
				return
			}
			c.hit.Add(1)
			f(w, r, forward)
		}
	}
}

// unanswered does what is asked, and does not answer.
func unanswered(w http.ResponseWriter, r *http.Request, forward http.HandlerFunc) {
	forward(httptest.NewRecorder(), r)
	cut(w)
}

// erring answers with an S3 error.
func erring(status int, code string) fault {
	return func(w http.ResponseWriter, _ *http.Request, _ http.HandlerFunc) { refuse(w, status, code) }
}

// denying refuses requests of a method.
func denying(method string) func(c *site) handler {
	return met(func(_ int, r *http.Request) bool { return r.Method == method }, erring(403, "AccessDenied"))
}

// stale answers with what was true before the fault, where the path has a text.
func stale(text string) func(c *site) handler {
	return func(c *site) handler {
		old := func(r *http.Request) *httptest.ResponseRecorder {
			c.mu.Lock()
			defer c.mu.Unlock()
			return c.old[r.URL.String()]
		}
		return met(func(_ int, r *http.Request) bool {
			return r.Method == http.MethodGet && strings.Contains(r.URL.String(), text) && old(r) != nil
		}, func(w http.ResponseWriter, r *http.Request, _ http.HandlerFunc) { replay(w, old(r)) })(c)
	}
}

func replay(w http.ResponseWriter, was *httptest.ResponseRecorder) {
	for k, v := range was.Header() {
		w.Header()[k] = v
	}
	w.WriteHeader(was.Code)
	_, _ = w.Write(was.Body.Bytes())
}

// record keeps the answers to GET.
func (c *site) record(_ int, w http.ResponseWriter, r *http.Request, forward http.HandlerFunc) {
	if r.Method != http.MethodGet {
		forward(w, r)
		return
	}
	got := httptest.NewRecorder()
	forward(got, r)
	c.mu.Lock()
	c.old[r.URL.String()] = got
	c.mu.Unlock()
	replay(w, got)
}

// settings changes the machine's stored settings until end.
func (c *site) settings(old, new string) (end func()) {
	file := filepath.Join(c.desk.state(), pulled.SettingsFile)
	was := testkit.Read(c.t, file)
	if !bytes.Contains(was, []byte(old)) {
		c.t.Fatalf("no %q in %s", old, was)
	}
	must(c.t, os.WriteFile(file, bytes.ReplaceAll(was, []byte(old), []byte(new)), 0o600))
	c.hit.Add(1)
	return func() { must(c.t, os.WriteFile(file, was, 0o600)) }
}

// env changes the machine's credentials until end.
func (c *site) env(env ...string) (end func()) {
	was := c.desk.env
	c.desk.env = env
	c.hit.Add(1)
	return func() { c.desk.env = was }
}

// full puts a machine's directory on a full disk until end.
func (c *site) full(h *home) (end func()) {
	dir, copied := h.state(), c.t.TempDir()
	must(c.t, os.CopyFS(copied, os.DirFS(dir)))
	if out, err := exec.Command("mount", "-t", "tmpfs", "-o", "size=8m,mode=0700", "tmpfs", dir).CombinedOutput(); err != nil {
		c.t.Skipf("mount tmpfs: %v: %s", err, out)
	}
	c.t.Cleanup(func() { _ = exec.Command("umount", "-l", dir).Run() })
	must(c.t, os.CopyFS(dir, os.DirFS(copied)))
	h.env = append(h.env, "CCD_ARCHIVE_MIN_FREE=0") // the disk is smaller than what the default leaves free
	filler := filepath.Join(dir, "filler")
	f, err := os.Create(filler)
	must(c.t, err)
	for block := make([]byte, 4096); err == nil; {
		_, err = f.Write(block)
	}
	f.Close()
	c.hit.Add(1)
	return func() { must(c.t, os.Remove(filler)) }
}

// state is the directory of the machine's copy.
func (h *home) state() string {
	if runtime.GOOS == "darwin" {
		return filepath.Join(h.dir, "Library/Application Support/ccd/remote")
	}
	return filepath.Join(h.dir, ".local/state/ccd/remote")
}

// soon runs ccd-remote as ccd does, but so that it gives up soon: TestMain does.
func (h *home) soon(args ...string) (out, talk string, code int) {
	h.t.Helper()
	c := exec.Command(os.Args[0], append([]string{
		"--state=" + h.state(), "--archive=" + filepath.Join(filepath.Dir(h.state()), "archive.db"), "--host=" + h.name,
	}, args...)...)
	c.Dir, c.Env = h.dir, append([]string{impatient + "=1", "HOME=" + h.dir, "PATH=/nonexistent"}, h.env...)
	var stdout, stderr bytes.Buffer
	c.Stdout, c.Stderr = &stdout, &stderr
	var exit *exec.ExitError
	if err := c.Run(); err != nil && !errors.As(err, &exit) {
		h.t.Fatal(err)
	}
	return stdout.String(), stderr.String(), c.ProcessState.ExitCode()
}

const unavailable = "the store is not available"

// troubles are the faults, in the order of the table.
var troubles = []trouble{
	{name: "every other answer takes 0.3 s", answer: some(func(w http.ResponseWriter, r *http.Request, forward http.HandlerFunc) {
		<-time.After(300 * time.Millisecond) // between two looks
		forward(w, r)
	})},
	{name: "every other request: 500", answer: some(erring(500, "InternalError"))},
	{name: "the same: 503 SlowDown", answer: some(erring(503, "SlowDown"))},
	{name: "the same: connection cut before the body", answer: some(func(w http.ResponseWriter, _ *http.Request, _ http.HandlerFunc) { cut(w) })},
	{name: "the same: cut in the middle of the body", answer: some(func(w http.ResponseWriter, r *http.Request, _ http.HandlerFunc) {
		_, _ = io.CopyN(io.Discard, r.Body, r.ContentLength/2)
		cut(w)
	})},
	{name: "the same: cut after the body", answer: some(func(w http.ResponseWriter, r *http.Request, _ http.HandlerFunc) {
		_, _ = io.Copy(io.Discard, r.Body)
		cut(w)
	})},
	{name: "the same: the store gets half of the body", answer: some(func(w http.ResponseWriter, r *http.Request, forward http.HandlerFunc) {
		r.Body = io.NopCloser(io.MultiReader(io.LimitReader(r.Body, r.ContentLength/2), failing{}))
		forward(w, r)
	})},
	{name: "the same: answer lost after success", answer: some(unanswered)},
	{name: "the same: answer cut in the middle", answer: some(func(w http.ResponseWriter, r *http.Request, forward http.HandlerFunc) {
		got := httptest.NewRecorder()
		forward(got, r)
		w.Header().Set("Content-Length", fmt.Sprint(got.Body.Len()+10))
		for k, v := range got.Header() {
			if k != "Content-Length" {
				w.Header()[k] = v
			}
		}
		w.WriteHeader(got.Code)
		_, _ = w.Write(got.Body.Bytes()[:got.Body.Len()/2])
		w.(http.Flusher).Flush()
		cut(w)
	})},
	{name: "every request: 500", answer: all(erring(500, "InternalError")), verb: "push", code: 1, says: unavailable, hint: "nothing is lost"},
	{name: "every request: 503 SlowDown", answer: all(erring(503, "SlowDown")), verb: "push", code: 1, says: unavailable, hint: "nothing is lost"},
	{name: "no answer", answer: all(func(_ http.ResponseWriter, r *http.Request, _ http.HandlerFunc) {
		_, _ = io.Copy(io.Discard, r.Body) // only then the server notices that the client has gone
		<-r.Context().Done()
	}), verb: "push", code: 1, says: unavailable, hint: "nothing is lost"},
	{name: "every answer lost after success", answer: all(unanswered), verb: "push", code: 1, says: unavailable},
	{name: "another server answers (captive portal)", answer: all(func(w http.ResponseWriter, r *http.Request, _ http.HandlerFunc) {
		_, _ = io.Copy(io.Discard, r.Body)
		fmt.Fprint(w, "<html>please log in</html>")
	}), verb: "push", code: 1, says: unavailable},
	{name: "offline: connection refused", begin: func(c *site) func() { return c.settings(c.url, "http://127.0.0.1:1") }, verb: "push", code: 1, says: unavailable, told: "refused"},
	{name: "offline: the name is not found", begin: func(c *site) func() { return c.settings(c.url, "http://store.invalid") }, verb: "push", code: 1, says: unavailable},
	{name: "bucket gone", begin: func(c *site) func() {
		if c.Dir == "" {
			c.t.Skip("the server runs elsewhere")
		}
		dir := filepath.Join(c.Dir, c.Bucket)
		must(c.t, os.Rename(dir, dir+".gone"))
		c.hit.Add(1)
		return func() { must(c.t, os.Rename(dir+".gone", dir)) }
	}, verb: "push", code: 1, says: errBucket.Error(), hint: "check the address"},
	{name: "wrong secret", begin: func(c *site) func() { return c.env("AWS_ACCESS_KEY_ID=key", "AWS_SECRET_ACCESS_KEY=wrong") }, verb: "push", code: 1, says: errKey.Error(), hint: "AWS_SECRET_ACCESS_KEY"},
	{name: "no credentials", begin: func(c *site) func() { return c.env() }, verb: "push", code: 1, says: errNoKey.Error(), hint: "AWS_ACCESS_KEY_ID"},
	{name: "expired credentials", answer: all(erring(403, "ExpiredToken")), verb: "push", code: 1, says: errExpired.Error(), hint: "new credentials"},
	{name: "clock of the machine wrong", answer: all(erring(403, "RequestTimeTooSkewed")), verb: "push", code: 1, says: errClock.Error(), hint: "set the clock"},
	{name: "no right to write", answer: denying("PUT"), verb: "push", code: 1, says: "access denied", hint: "s3:PutObject"},
	{name: "no right to delete", answer: denying("DELETE"), verb: "gc --grace=0s --all", code: 1, says: "not deleted", hint: "s3:DeleteObject"},
	{name: "stale head, to the machine", answer: stale("/heads/"), verb: "push", seen: true, code: 4, says: "it is an old one"},
	{name: "stale head, to a reader that has seen a newer one", answer: stale("heads"), verb: "pull", reader: true, seen: true, code: 4, says: "it is an old one"},
	{name: "stale list without a machine", answer: func(c *site) handler {
		return func(_ int, w http.ResponseWriter, r *http.Request, forward http.HandlerFunc) {
			if !r.URL.Query().Has("list-type") {
				forward(w, r)
				return
			}
			c.hit.Add(1)
			fmt.Fprintf(w, `<ListBucketResult><Name>%s</Name><KeyCount>0</KeyCount><MaxKeys>1000</MaxKeys><IsTruncated>false</IsTruncated></ListBucketResult>`, c.Bucket)
		}
	}, verb: "pull", reader: true, code: 4, says: "it is missing in the store"},
	{name: "stale list without the newest packs", answer: stale("list-type"), verb: "check", code: 4, says: "it is missing"},
	{name: "disk of the machine full", begin: func(c *site) func() {
		for n := range 80 {
			c.desk.write(id(100+n), 1)
		}
		return c.full(c.desk)
	}, verb: "push", code: 1, says: "no space left", told: "-"},
	{name: "disk of the reader full", begin: func(c *site) func() { return c.full(c.reader) }, verb: "pull", reader: true, code: 1, says: "no space left"},
}

type failing struct{}

func (failing) Read([]byte) (int, error) { return 0, errors.New("injected") }

// TestFaults injects each fault into pushes and pulls. While it lasts, the daemon archives and status says what is wrong;
// after it the reader has every byte. docs/RELIABILITY.md lists them.
func TestFaults(t *testing.T) {
	startServer(t)
	for _, f := range troubles {
		t.Run(f.name, func(t *testing.T) {
			t.Parallel()
			f.run(t)
		})
	}
}

func (f trouble) run(t *testing.T) {
	s := startServer(t)
	c := &site{server: s, t: t, desk: newHome(t, s, "desk"), reader: newHome(t, s, "reader"), old: map[string]*httptest.ResponseRecorder{}}
	c.desk.join(c.reader.reader())
	c.desk.talk(id(1), 20)
	c.desk.ok("remote", "push")
	s.inject(c.record)
	c.reader.ok("remote", "pull")
	c.desk.ok("remote", "check", "-q")
	if f.reader || f.seen || f.verb == "check" { // it meets the fault with something to read
		c.desk.talk(id(2), 2000)
		c.desk.ok("remote", "push")
	}
	if s.inject(nil); f.seen {
		c.reader.ok("remote", "pull")
	}
	end := func() {}
	if f.begin != nil {
		end = f.begin(c)
	}
	if f.answer != nil {
		s.inject(f.answer(c))
	}
	c.desk.talk(id(3), 20) // archiving continues
	if want, err := os.ReadFile(c.desk.transcript(id(3))); err != nil || c.desk.ok("restore", "-q", "--session", id(3)) != string(want) {
		t.Errorf("not archived during the fault: %v", err)
	}
	if f.verb == "" {
		c.desk.ok("remote", "push")
		c.desk.talk(id(3), 20)
		c.desk.ok("remote", "push")
		c.reader.ok("remote", "pull")
	} else {
		f.meet(c)
	}
	if c.hit.Load() == 0 {
		t.Error("no request met the fault")
	}
	end()
	s.inject(nil)
	if out := c.desk.ok("remote", "push", "--json"); !strings.Contains(out, `"renewed": ""`) {
		t.Errorf("it has a new name: %s", out)
	}
	if st := c.desk.ok("remote", "status", "--json"); !strings.Contains(st, `"bytes": 0`) || !strings.Contains(st, `"error": ""`) {
		t.Error(st)
	}
	c.reader.ok("remote", "pull")
	c.desk.same(c.reader)
}

// meet runs the command that meets the fault, and checks how it is noticed.
func (f trouble) meet(c *site) {
	h := c.desk
	if f.reader {
		h = c.reader
	}
	_, talk, code := h.soon(strings.Fields(f.verb)...)
	if code != f.code || !strings.Contains(talk, f.says) || !strings.Contains(talk, "hint: ") || !strings.Contains(talk, f.hint) {
		c.t.Errorf("%s: exit %d, want %d with %q and %q: %s", f.verb, code, f.code, f.says, f.hint, talk)
	}
	if f.verb == "push" && f.told != "-" {
		told := f.told
		if told == "" {
			told = f.says
		}
		if got := c.desk.ok("remote", "status"); !strings.Contains(got, "behind   1 session,") || !strings.Contains(got, "failed ") || !strings.Contains(got, told) ||
			!strings.Contains(got, "\nhint     ") {
			c.t.Errorf("ccd remote status: %s", got)
		}
		if got, _, _ := c.desk.run("status"); !strings.Contains(got, "1 session behind") || !strings.Contains(got, told) {
			c.t.Errorf("ccd status: %s", got)
		}
	}
}

// client talks to the server past ccd.
func (s *server) client() *minio.Client {
	s.t.Helper()
	if s.Dir == "" {
		s.t.Skip("it needs buckets of its own, and the server runs elsewhere")
	}
	c, err := minio.New(strings.TrimPrefix(s.Endpoint, "http://"), &minio.Options{Creds: credentials.NewStaticV4(s.Access, s.Secret, ""), Region: "us-east-1"})
	must(s.t, err)
	return c
}

// TestObjectLock: in a bucket that keeps versions, gc deletes the versions, and says that it may not.
func TestObjectLock(t *testing.T) {
	s := startServer(t)
	ctx, c := t.Context(), s.client()
	s.Bucket = "locked"
	must(t, c.MakeBucket(ctx, s.Bucket, minio.MakeBucketOptions{ObjectLocking: true}))
	mode, until := minio.Governance, time.Now().Add(72*time.Hour).Truncate(time.Second)
	s.inject(func(_ int, w http.ResponseWriter, r *http.Request, forward http.HandlerFunc) {
		if r.Method == http.MethodPut && r.Header.Get("Content-Md5") == "" {
			t.Errorf("PUT %s without Content-MD5", r.URL.Path)
		}
		forward(w, r)
	})
	packs := func() (all []minio.ObjectInfo) { // with all versions
		for o := range c.ListObjects(ctx, s.Bucket, minio.ListObjectsOptions{Prefix: "team/ccd2/m/", Recursive: true, WithVersions: true}) {
			must(t, o.Err)
			all = append(all, o)
		}
		return all
	}
	reader, desk := newHome(t, s, "reader"), newHome(t, s, "desk")
	desk.join(reader.reader())
	desk.talk(id(1), 20)
	desk.talk(id(2), 20)
	desk.ok("remote", "push")
	old := packs()
	if out := desk.ok("archive", "forget", "--yes", id(1)); !strings.Contains(out, "copy in object storage s3://locked/team (ccd remote push") {
		t.Errorf("forget: %s", out)
	}
	desk.ok("remote", "push")
	must(t, c.PutObjectRetention(ctx, s.Bucket, old[0].Key, minio.PutObjectRetentionOptions{Mode: &mode, RetainUntilDate: &until, VersionID: old[0].VersionID}))
	_, talk, code := desk.run("remote", "gc", "--grace", "0s")
	if code != 1 || !strings.Contains(talk, "1 object is not deleted") || !strings.Contains(talk, "wait until the bucket's locks end") {
		t.Errorf("under a lock: exit %d: %s", code, talk)
	}
	if all := packs(); len(all) != 2+len(old) || all[0].IsDeleteMarker { // the new pack and a catalogue
		t.Errorf("under a lock: %d versions, before %d", len(all), len(old))
	}
	reader.ok("remote", "pull")
	if _, _, code := reader.run("restore", "--session", id(1), "--machine", "desk"); code != 3 {
		t.Errorf("what was forgotten can be restored: exit %d", code)
	}
	soon := time.Now().Add(2 * time.Second)
	must(t, c.PutObjectRetention(ctx, s.Bucket, old[0].Key, minio.PutObjectRetentionOptions{
		GovernanceBypass: true, Mode: &mode, RetainUntilDate: &soon, VersionID: old[0].VersionID,
	}))
	testkit.Eventually(t, "gc after the lock", func() bool {
		_, _, code := desk.run("remote", "gc", "--grace", "0s")
		return code == 0
	})
	for _, o := range packs() {
		if o.Key == old[0].Key {
			t.Errorf("after the lock there is still %+v", o)
		}
	}
	if out := desk.ok("remote", "check"); !strings.Contains(out, " 0 problems") {
		t.Error(out)
	}
}

// TestKeysOfReaders: a wrong, lost, damaged or rotated key is an error with a way out, and costs nothing.
func TestKeysOfReaders(t *testing.T) {
	s := startServer(t)
	reader, desk, other := newHome(t, s, "reader"), newHome(t, s, "desk"), newHome(t, s, "other")
	first := reader.reader()
	desk.join(first)
	desk.talk(id(1), 20)
	desk.ok("remote", "push")
	refuses := func(h *home, what, says, hint string, args ...string) {
		t.Helper()
		if _, talk, code := h.run(args...); code != 1 || !strings.Contains(talk, says) || !strings.Contains(talk, "hint: "+hint) {
			t.Errorf("%s: exit %d: %s", what, code, talk)
		}
	}
	const wrong, wayOut = "no identity of this reader can decrypt it", "ccd remote pull --identity FILE; after a change of keys, the machine runs ccd remote gc --all"
	second := other.reader()
	refuses(other, "a wrong key", wrong, wayOut, "remote", "pull")
	if _, talk, code := other.run("remote", "check"); code != 4 || !strings.Contains(talk, wrong) {
		t.Errorf("check with a wrong key: exit %d: %s", code, talk)
	}
	file := filepath.Join(reader.state(), identityFile)
	kept := testkit.Read(t, file)
	must(t, os.WriteFile(file, kept[:len(kept)-5], 0o600))
	refuses(reader, "a damaged key", "read identity "+file, "restore the file", "remote", "pull")
	must(t, os.Remove(file))
	refuses(reader, "a lost key", "read identity: open "+file, "ccd remote pull --identity FILE", "remote", "pull")
	if _, talk, code := reader.run("remote", "keys"); code != 0 || !strings.Contains(talk, "it cannot read what was pushed before") {
		t.Errorf("a new key in place of a lost one: exit %d: %s", code, talk)
	}
	refuses(reader, "a new key in place of a lost one", wrong, wayOut, "remote", "pull")
	must(t, os.WriteFile(file, kept, 0o600))
	reader.ok("remote", "pull")
	desk.same(reader)

	desk.ok("remote", "add", s.URL(), "--recipient", second, "-q")
	desk.ok("remote", "add", s.URL(), "-q") // changes nothing else
	var set pulled.Settings
	must(t, json.Unmarshal([]byte(desk.ok("remote", "add", s.URL(), "--json", "-q")), &set))
	if set.Endpoint != s.url || len(set.Recipients) != 1 || set.Recipients[0] != second {
		t.Errorf("settings: %+v", set)
	}
	desk.talk(id(1), 20)
	desk.ok("remote", "push")
	desk.ok("remote", "gc", "--all")
	refuses(reader, "a key that is no recipient any more", wrong, wayOut, "remote", "pull")
	if want, err := os.ReadFile(desk.transcript(id(1))); err != nil || !strings.HasPrefix(string(want), reader.ok("restore", "--session", id(1), "--machine", "desk", "-q")) {
		t.Errorf("what was pulled before: %v", err)
	}
	other.ok("remote", "pull")
	desk.same(other)
}

// TestDaemonBesideAPushThatHangs: a running daemon archives while a push waits for a store that does not answer.
func TestDaemonBesideAPushThatHangs(t *testing.T) {
	s := startServer(t)
	reader, desk := newHome(t, s, "reader"), newHome(t, s, "desk")
	desk.join(reader.reader())
	desk.env = append(desk.env, "CCD_WATCH_SETTLE=50ms", "CCD_WATCH_SCAN_INTERVAL=1s")
	desk.talk(id(1), 20)
	asked := make(chan struct{}, 100)
	s.inject(func(_ int, _ http.ResponseWriter, r *http.Request, _ http.HandlerFunc) {
		_, _ = io.Copy(io.Discard, r.Body)
		asked <- struct{}{}
		<-r.Context().Done()
	})
	daemon, push := desk.command("run"), desk.command("remote", "push", "-q")
	for _, c := range []*exec.Cmd{daemon, push} {
		must(t, c.Start())
		t.Cleanup(func() { _ = syscall.Kill(-c.Process.Pid, syscall.SIGKILL); _ = c.Wait() })
	}
	<-asked
	for n := range 3 {
		desk.write(id(2+n), 20)
		want := testkit.Read(t, desk.transcript(id(2+n)))
		testkit.Eventually(t, "the session is archived", func() bool {
			got, _, code := desk.run("restore", "-q", "--session", id(2+n))
			return code == 0 && got == string(want)
		})
	}
	if got := desk.ok("remote", "status"); !strings.Contains(got, "before the push that is running") {
		t.Errorf("ccd remote status: %s", got)
	}
	if _, talk, code := desk.soon("gc"); code != 1 || !strings.Contains(talk, "another ccd remote is working") || !strings.Contains(talk, "hint: try again when it has ended") {
		t.Errorf("gc beside a push: exit %d: %s", code, talk)
	}
	must(t, push.Process.Signal(syscall.SIGTERM)) // stopped, not failed
	if _ = push.Wait(); push.ProcessState.ExitCode() != 130 {
		t.Errorf("a push that is stopped: %v", push.ProcessState)
	}
	if got := desk.ok("remote", "status"); strings.Contains(got, "failed") || !strings.Contains(got, "pushed   never") {
		t.Errorf("ccd remote status: %s", got)
	}
}
