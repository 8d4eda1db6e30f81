//go:build rig

package browser

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"ccd/internal/testkit"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
)

// patience is how long a state may take to appear.
const patience = 20 * time.Second

// foreign is a name that the browser resolves to this machine, as a hostile name server would. All other names fail.
const foreign = "evil.example"

var (
	tools  string                                           // CCD_BROWSER
	binary string                                           // ccd
	chrome = func() context.Context { panic("no browser") } // the context of the one browser
)

func TestMain(m *testing.M) { os.Exit(play(m)) }

// play starts the browser once for all tests; each tab has its own cookies.
func play(m *testing.M) int {
	tools = os.Getenv("CCD_BROWSER")
	shell, err := exec.LookPath("chromium-headless-shell")
	if tools == "" || err != nil {
		fmt.Println("--- SKIP: no browser: cmd/ccd/internal/browser/run installs one and sets CCD_BROWSER")
		return 0
	}
	dir, err := os.MkdirTemp("", "ccd-browser")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	binary = filepath.Join(dir, "ccd")
	if out, err := exec.Command("go", "build", "-o", binary, "ccd/cmd/ccd").CombinedOutput(); err != nil {
		fmt.Fprintf(os.Stderr, "build: %v\n%s", err, out)
		return 1
	}
	options := append(slices.Clone(chromedp.DefaultExecAllocatorOptions[:]),
		chromedp.ExecPath(shell), chromedp.UserDataDir(filepath.Join(dir, "profile")), chromedp.Env("HOME="+dir), chromedp.Flag("hide-scrollbars", true),
		chromedp.Flag("host-resolver-rules", "MAP "+foreign+" 127.0.0.1, MAP * ~NOTFOUND, EXCLUDE 127.0.0.1, EXCLUDE localhost"), chromedp.Flag("no-proxy-server", true))
	if os.Getuid() == 0 {
		options = append(options, chromedp.NoSandbox) // Chromium's sandbox refuses to run as root
	}
	all, stop := chromedp.NewExecAllocator(context.Background(), options...)
	defer stop()
	ctx, end := chromedp.NewContext(all)
	defer end()
	if err := chromedp.Do(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "start the browser:", err)
		return 1
	}
	chrome = func() context.Context { return ctx }
	return m.Run()
}

func command(ctx context.Context, home string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, binary, args...)
	cmd.Env, cmd.Dir = []string{"HOME=" + home, "PATH=" + os.Getenv("PATH"), "TZ=UTC"}, home
	return cmd
}

// once archives the transcripts of a home.
func once(t testing.TB, home string) {
	t.Helper()
	if out, err := command(t.Context(), home, "run", "--once", "-q").CombinedOutput(); err != nil {
		t.Fatalf("ccd run --once: %v\n%s", err, out)
	}
}

// site is a running `ccd web`.
type site struct {
	home string
	base string // http://127.0.0.1:PORT
	end  func()

	token string // "" when it was used
}

// starts runs a command in a home until the test ends or end is called, and returns its first line.
func starts(t testing.TB, home string, args ...string) (line string, end func()) {
	t.Helper()
	ctx, stop := context.WithCancel(context.Background())
	cmd := command(ctx, home, args...)
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = patience
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		stop()
		t.Fatal(err)
	}
	end = sync.OnceFunc(func() {
		stop()
		_ = cmd.Wait() // it ends by Ctrl-C
	})
	t.Cleanup(end)
	line, err = bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatalf("ccd %q printed %q: %v", args, line, err)
	}
	return line, end
}

// serve starts `ccd web`.
func serve(t testing.TB, home string) *site {
	t.Helper()
	line, end := starts(t, home, "web", "--no-open")
	s := &site{home: home, end: end}
	s.base, s.token, _ = strings.Cut(strings.TrimSpace(line), "/?token=")
	return s
}

// opened returns a server of a home, and a page of it in a tab of its own.
func opened(t testing.TB, home, path string) (*site, *tab) {
	t.Helper()
	s, p := serve(t, home), newTab(t)
	p.enter(s, path)
	return s, p
}

// tab is a page of the browser with cookies of its own. It notes what a user would not see.
type tab struct {
	t   testing.TB
	run func(steps ...chromedp.Action[chromedp.Void]) error // with a time limit
	in  func(do func(context.Context) error) error

	mu       sync.Mutex
	problems []string // errors on the console and violations of the policy
	requests []string // every address that was asked for
	answers  map[string]int64
	dialogs  int
}

func newTab(t testing.TB) *tab {
	t.Helper()
	p := &tab{t: t, answers: map[string]int64{}}
	ctx, end := chromedp.NewContext(chrome(), chromedp.WithNewBrowserContext(), chromedp.WithListener(p.hear))
	t.Cleanup(end)
	p.in = func(do func(context.Context) error) error {
		limited, stop := context.WithTimeout(ctx, patience)
		defer stop()
		return do(limited)
	}
	p.run = func(steps ...chromedp.Action[chromedp.Void]) error {
		return p.in(func(ctx context.Context) error { return chromedp.Do(ctx, steps...) })
	}
	if err := chromedp.Do(ctx); err != nil { // without a limit: the tab lives as long as this context
		t.Fatal(err)
	}
	p.size(1400, false)
	return p
}

func (p *tab) hear(event any) {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch e := event.(type) {
	case *log.EventEntryAdded:
		if e.Entry.Level == log.EntryLevelError || e.Entry.Source == log.EntrySourceSecurity || e.Entry.Source == log.EntrySourceViolation {
			p.problems = append(p.problems, fmt.Sprintf("%s: %s (%s)", e.Entry.Source, e.Entry.Text, e.Entry.URL))
		}
	case *runtime.EventConsoleAPICalled:
		if e.Type == runtime.ConsoleAPICalledTypeError || e.Type == runtime.ConsoleAPICalledTypeWarning {
			p.problems = append(p.problems, fmt.Sprintf("console.%s", e.Type))
		}
	case *runtime.EventExceptionThrown:
		p.problems = append(p.problems, "exception: "+e.ExceptionDetails.Text)
	case *network.EventRequestWillBeSent:
		p.requests = append(p.requests, e.Request.URL)
	case *network.EventResponseReceived:
		p.answers[e.Response.URL] = e.Response.Status
	case *page.EventJavascriptDialogOpening:
		p.dialogs++
	}
}

// call runs a command of the protocol.
func (p *tab) call(do func(context.Context) error) {
	p.t.Helper()
	testkit.Must(p.t, p.in(do))
}

func (p *tab) do(what string, steps ...chromedp.Action[chromedp.Void]) {
	p.t.Helper()
	if err := p.run(steps...); err != nil {
		p.t.Fatalf("%s: %v", what, err)
	}
}

// eval returns the value of a JavaScript expression. The page's policy does not apply to it.
func eval[T any](p *tab, js string) (v T) {
	p.t.Helper()
	p.call(func(ctx context.Context) (err error) {
		v, err = chromedp.Run(ctx, chromedp.Evaluate[T](js, chromedp.EvalAwaitPromise))
		return err
	})
	return v
}

// await waits until an expression is true.
func (p *tab) await(what, js string) {
	p.t.Helper()
	var last any
	tick := time.NewTicker(30 * time.Millisecond)
	defer tick.Stop()
	for end := time.Now().Add(patience); time.Now().Before(end); <-tick.C {
		var ok bool
		last = p.in(func(ctx context.Context) (err error) { // it fails while the page changes
			ok, err = chromedp.Run(ctx, chromedp.Evaluate[bool]("!!("+js+")"))
			return err
		})
		if ok {
			return
		}
	}
	p.mu.Lock()
	requests := strings.Join(p.requests, "\n")
	p.mu.Unlock()
	p.t.Fatalf("not within %s: %s (%v) at %s, hidden %t, after\n%s\n%.2000s", patience, what, last, eval[string](p, "location.href"), eval[bool](p, "document.hidden"), requests, p.text())
}

func (p *tab) open(address string) {
	p.t.Helper()
	p.do("open "+address, chromedp.Navigate(address))
}

// enter opens a page of a site: the first time with its token, which one tab can use.
func (p *tab) enter(s *site, path string) {
	p.t.Helper()
	if s.token != "" {
		with := "?"
		if strings.Contains(path, "?") {
			with = "&"
		}
		path, s.token = path+with+"token="+s.token, ""
	}
	p.open(s.base + path)
}

// size sets the width and the colour scheme.
func (p *tab) size(width int64, dark bool) {
	p.t.Helper()
	scheme := "light"
	if dark {
		scheme = "dark"
	}
	p.call(func(ctx context.Context) error {
		_, err := chromedp.Call(ctx, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}}})
		return err
	})
	p.do("set the size", chromedp.EmulateViewport(width, 900))
}

func (p *tab) text() string { return eval[string](p, "document.body ? document.body.innerText : ''") }

func (p *tab) path() string { return eval[string](p, "location.pathname + location.search") }

// click clicks the first visible element that matches, with the mouse.
func (p *tab) click(selector string) {
	p.t.Helper()
	p.do("click "+selector, chromedp.Click(chromedp.CSS(selector)))
}

// follow clicks the link, button or summary whose text begins so, with the mouse, and waits for another page
// that has a text.
func (p *tab) follow(within, text, then string) {
	p.t.Helper()
	found := eval[bool](p, fmt.Sprintf(`(() => {
		const e = [...document.querySelectorAll(%q)].find(e => e.offsetParent !== null && e.textContent.trim().startsWith(%q));
		for (const old of document.querySelectorAll('[data-test]')) old.removeAttribute('data-test');
		if (e) e.setAttribute('data-test', '');
		return !!e })()`, within, text))
	if !found {
		p.t.Fatalf("%s has no %s that begins with %q:\n%.3000s", p.path(), within, text, p.text())
	}
	p.click("[data-test]")
	p.await(fmt.Sprintf("a page with %q", then), fmt.Sprintf("!document.querySelector('[data-test]') && document.body && document.readyState === 'complete' && document.body.innerText.includes(%q)", then))
}

// taken returns what was noted since the last call.
func (p *tab) taken() (problems, requests []string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	problems, requests = p.problems, p.requests
	p.problems, p.requests = nil, nil
	return problems, requests
}

// quiet checks that the page reported no error and asked nothing of another host.
func (p *tab) quiet(where string, s *site) {
	p.t.Helper()
	problems, requests := p.taken()
	for _, one := range problems {
		p.t.Errorf("%s: %s", where, one)
	}
	for _, address := range requests {
		if !strings.HasPrefix(address, s.base+"/") && !strings.HasPrefix(address, "data:") {
			p.t.Errorf("%s: it asks for %s", where, address)
		}
	}
}

// status returns the status of the last answer for an address, 0 if there was none.
func (p *tab) status(address string) int64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.answers[address]
}
