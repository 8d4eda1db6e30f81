//go:build rig

package bench

import (
	"bufio"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/cookiejar"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"ccd/internal/testkit/gen"
)

// webIdle is how long an open page is left alone while its server's processor time is counted.
const webIdle = 10 * time.Second

// BenchmarkWeb measures `ccd web` as a browser with its cookie does: times from a request to the last byte, the weight of the
// HTML, memory (resident memory includes the mapped archive), and processor time while a page is open. $CCD_BENCH_SESSIONS is how many sessions the list has
// (2000), $CCD_BENCH_SESSION the size of the large session (100MB).
func BenchmarkWeb(b *testing.B) {
	bin := built(b)
	for b.Loop() {
		var t goals
		n, err := strconv.Atoi(env("CCD_BENCH_SESSIONS", "2000"))
		if err != nil {
			b.Fatal(err)
		}
		benchWebList(b, &t, bin, n)
		benchWebSession(b, &t, bin, env("CCD_BENCH_SESSION", "100MB"))
		b.Log(t.text())
	}
	b.ReportMetric(0, "ns/op")
}

// webServer is a running `ccd web`, and a client that it let in.
type webServer struct {
	b      *testing.B
	cmd    *exec.Cmd
	base   string
	client *http.Client
}

func startWeb(b *testing.B, bin, home string) *webServer {
	b.Helper()
	cmd := exec.Command(bin, "web", "--no-open")
	cmd.Env, cmd.Dir = []string{"HOME=" + home, "PATH=" + os.Getenv("PATH")}, home
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		b.Fatal(err)
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		b.Fatalf("ccd web printed %q: %v", line, err)
	}
	jar, err := cookiejar.New(nil)
	if err != nil {
		b.Fatal(err)
	}
	s := &webServer{b: b, cmd: cmd, client: &http.Client{
		Jar: jar, Timeout: time.Minute,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }, // the first page is measured, not opened here
	}}
	s.base, _, _ = strings.Cut(line, "/?")
	s.get(strings.TrimPrefix(strings.TrimSpace(line), s.base))
	return s
}

func (s *webServer) end() {
	_ = s.cmd.Process.Signal(os.Interrupt)
	_ = s.cmd.Wait()
}

// get returns a page and how long it took.
func (s *webServer) get(path string) (page string, took time.Duration) {
	s.b.Helper()
	begin := time.Now()
	a, err := s.client.Get(s.base + path)
	if err != nil {
		s.b.Fatal(err)
	}
	defer a.Body.Close()
	text, err := io.ReadAll(a.Body)
	if err != nil || a.StatusCode >= 400 {
		s.b.Fatalf("%s: status %d, %v", path, a.StatusCode, err)
	}
	return string(text), time.Since(begin)
}

// times returns the first, the median and the longest time of several requests.
func (s *webServer) times(paths []string) (first, median, longest time.Duration) {
	s.b.Helper()
	var all []time.Duration
	for _, path := range paths {
		_, took := s.get(path)
		all = append(all, took)
	}
	first = all[0]
	slices.Sort(all)
	return first, all[len(all)/2], all[len(all)-1]
}

// idle returns the share of one processor that the server takes while a page asks every two seconds and nothing happens.
func (s *webServer) idle(session string) float64 {
	s.b.Helper()
	page, _ := s.get(session)
	_, records, _ := strings.Cut(page, `data-records="`)
	records, _, _ = strings.Cut(records, `"`)
	before := cpuOf(s.b, s.cmd.Process.Pid)
	for range int(webIdle / (2 * time.Second)) {
		s.get(session + "/part?after=1&records=" + records)
		<-time.After(2 * time.Second)
	}
	return 100 * (cpuOf(s.b, s.cmd.Process.Pid) - before).Seconds() / webIdle.Seconds()
}

// remember adds the peak of the resident memory, which includes the mapped archive, and what is anonymous now.
func (s *webServer) remember(t *goals, what string) {
	status := proc(s.cmd.Process.Pid, "status")
	t.most(what+", peak RSS", 60, float64(status["VmHWM"])*1024/1e6, "MB")
	t.most(what+", of it anonymous now", 60, float64(status["RssAnon"])*1024/1e6, "MB")
}

// benchWebList measures the list of many small sessions.
func benchWebList(b *testing.B, t *goals, bin string, n int) {
	home := smallSessions(b, n)
	ccd(b, bin, home, "run", "--once", "-q")
	what := fmt.Sprintf("list of %d sessions: ", n)
	s := startWeb(b, bin, home)
	defer s.end()
	page, first := s.get("/")
	_, again, _ := s.times(slices.Repeat([]string{"/"}, 9))
	t.most(what+"first page, new server", 150, ms(first), "ms")
	t.most(what+"the same page again", 150, ms(again), "ms")
	t.most(what+"its weight", 150, float64(len(page))/1000, "kB")
	_, typed := s.get("/?q=module+77&titles=1&part=1")
	t.most(what+"search as you type", 150, ms(typed), "ms")
	session := page[strings.Index(page, `class="title" href="`)+len(`class="title" href="`):]
	session, _, _ = strings.Cut(session, `"`)
	t.most(what+"idle processor time with an open page", 1, s.idle(session), "%")
	s.remember(t, what+"memory")
}

// benchWebSession measures the pages of one large session.
func benchWebSession(b *testing.B, t *goals, bin, size string) {
	home := b.TempDir()
	const id = "5d2f7a1e-90c4-4a1b-8a53-0c1d2e3f4a5b"
	path := filepath.Join(home, ".claude", "projects", "-home-me-ledger", id+".jsonl")
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		b.Fatal(err)
	}
	if err := os.Rename(generated(b, gen.Claude, size), path); err != nil {
		b.Fatal(err)
	}
	ccd(b, bin, home, "run", "--once", "-q")
	at := "/s/claude-code/" + id
	var colds, turns []time.Duration
	var early []string
	for range 3 {
		s := startWeb(b, bin, home)
		_, cold := s.get(at)
		colds = append(colds, cold)
		_, deep := s.get(at + "?at=20000") // the index is not complete yet
		turns = append(turns, deep)
		early = append(early, fmt.Sprint(deep.Milliseconds()))
		s.end()
	}
	slices.Sort(colds)
	slices.Sort(turns)
	what := size + " session: "
	t.most(what+"page, new server", 300, ms(colds[1]), "ms")
	t.most(what+"record 20000 right after that", 200, ms(turns[1]), "ms")

	s := startWeb(b, bin, home)
	defer s.end()
	s.get(at)
	soon(b, "the session is indexed", func() bool {
		page, _ := s.get(at)
		return !strings.Contains(page, `id="reading"`)
	})
	var records int
	page, _ := s.get(at)
	_, text, _ := strings.Cut(page, `data-records="`)
	if _, err := fmt.Sscanf(text, "%d", &records); err != nil || records < 1000 {
		b.Fatalf("%d records: %v", records, err)
	}
	var all []string
	for i := range 20 {
		all = append(all, fmt.Sprintf("%s?at=%d", at, 1+(i*7%20)*records/20))
	}
	_, median, longest := s.times(all)
	t.most(what+"any turn, median of 20", 200, ms(median), "ms")
	t.most(what+"any turn, slowest of 20", 200, ms(longest), "ms")
	t.most(what+"idle processor time with an open page", 1, s.idle(at), "%")
	s.remember(t, what+"memory after turns")
	views := map[string]string{
		"conversation": at, "middle of the conversation": all[1], "compaction 1": at + "/compactions/1", "companion": at + "/companion",
		"files": at + "/files", "original": at + "/r/1000", "search": "/?q=the",
	}
	for _, name := range slices.Sorted(maps.Keys(views)) {
		page, took := s.get(views[name])
		t.most(what+name+", weight", 150, float64(len(page))/1000, "kB")
		t.most(what+name+", time", 300, ms(took), "ms")
	}
	s.remember(t, what+"memory after all views")
	b.Logf("%d records; turns at 20000 with an incomplete index: %s ms", records, strings.Join(early, ", "))
}
