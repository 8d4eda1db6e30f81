//go:build unix

package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"html"
	"io"
	"net"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"ccd/cmd/ccd/internal/cli"
	"ccd/internal/testkit"
	"ccd/internal/words"
)

// pageCSP is the policy of every page.
const pageCSP = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'self'"

const (
	ledgerID  = "5d2f7a1e-90c4-4a1b-8a53-0c1d2e3f4a5b"
	ledgerURL = "/s/claude-code/" + ledgerID
)

// site is a running `ccd web` and a browser that was let in.
type site struct {
	t       *testing.T
	home    string
	address string // with the token
	base    string
	browser *http.Client
	stop    context.CancelCauseFunc
	ended   chan int // the exit code
}

// TestTheWeekOnTheFirstPage: the first page has what ccd week adds up, and the files that were changed last.
func TestTheWeekOnTheFirstPage(t *testing.T) {
	t.Parallel()
	yesterday := time.Now().AddDate(0, 0, -1).UTC().Format(time.DateOnly)
	text := regexp.MustCompile(`2026-11-20T\d\d:`).ReplaceAllString(ledger(t), yesterday+"T00:")
	sessions := map[string]string{ledgerID: strings.Replace(text, `"output_tokens":120}},"requestId":"req_0002"`, `"output_tokens":4}},"requestId":"req_0002"`, 1)}
	sessions["7a000000-0000-4000-8000-000000000000"] = string(webLine("assistant", 0, []any{map[string]any{"type": "text", "text": "a warm-up"}}))
	for n := range 7 {
		id := fmt.Sprintf("5d2f7a1e-0000-4000-8000-00000000000%d", n)
		sessions[id] = fmt.Sprintf(`{"type":"user","uuid":%q,"sessionId":%q,"cwd":"/home/me/p%d","timestamp":"%sT01:00:0%dZ","message":{"role":"user","content":"hello %d"}}`+"\n", id, id, n, yesterday, n, n)
	}
	s := serveWeb(t, webHome(t, sessions))
	var page string
	testkit.Eventually(t, "the week is added up", func() bool {
		page = s.want(http.StatusOK, "/")
		return strings.Contains(page, "Last 7 days")
	})
	if strings.Contains(page, `>~2`) {
		t.Error("a context of no size has a size")
	}
	for _, want := range []string{
		"8 sessions · 11 requests · 7 changed files<br>724K tokens in, 713K of them cached, 2.9K out",
		`<a href="/?project=%2fhome%2fme%2fledger" title="/home/me/ledger">ledger</a> <span class="soft">4 requests</span> <span class="soft">724K</span>`, `>p4</a> <span class="soft">1 request</span> <span class="soft"></span></li></ul><details><summary>and 2 more projects</summary>`,
		`Sessions <span class="soft">8 of <a href="/?all=1">9</a>; the others are copies`,
		"Output tokens are too low: of 1 of 26 replies, the transcript has only the count that the stream began with",
		`file?path=%2fhome%2fme%2fledger%2ftests%2ftest_money.py">tests/test_money.py</a>`,
	} {
		if !strings.Contains(strings.ToLower(page), strings.ToLower(want)) {
			t.Errorf("no %s in\n%s", want, page)
		}
	}
}

// webHome returns a home with these transcripts of Claude Code, archived.
func webHome(t *testing.T, transcripts map[string]string) string {
	t.Helper()
	home := t.TempDir()
	dir := filepath.Join(home, ".claude", "projects", "-home-me-ledger")
	for id, text := range transcripts {
		put(t, filepath.Join(dir, id+".jsonl"), text)
	}
	once(t, home)
	return home
}

// serveWeb starts `ccd web` in a home and opens its address.
func serveWeb(t *testing.T, home string, args ...string) *site {
	t.Helper()
	s := unopenedWeb(t, home, args...)
	s.want(http.StatusOK, s.address)
	return s
}

// unopenedWeb starts ccd web. Its token is not used yet.
func unopenedWeb(t *testing.T, home string, args ...string) *site {
	t.Helper()
	ctx, stop := context.WithCancelCause(t.Context())
	s := &site{t: t, home: home, stop: stop, ended: make(chan int, 1)}
	out, in := io.Pipe()
	var said bytes.Buffer
	go func() {
		code := run(ctx, append([]string{"web", "--no-open"}, args...), std(strings.NewReader(""), in, &said), []string{"HOME=" + home})
		in.Close()
		s.ended <- code
	}()
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatalf("ccd web printed %q (exit %d): %s", line, <-s.ended, said.String())
	}
	t.Cleanup(s.end)
	s.address = strings.TrimSpace(line)
	s.base = regexp.MustCompile(`^http://[^/]+`).FindString(s.address)
	s.browser = newBrowser(t)
	return s
}

func newBrowser(t *testing.T) *http.Client {
	t.Helper()
	jar, err := cookiejar.New(nil)
	must(t, err)
	return &http.Client{Jar: jar, Timeout: time.Minute}
}

// end ends the server as Ctrl-C does.
func (s *site) end() {
	s.stop(cli.ErrInterrupted)
	select {
	case code := <-s.ended:
		s.ended <- code
		if code != words.ExitInterrupted && code != words.ExitDone { // it may have ended before
			s.t.Errorf("ccd web: exit %d after Ctrl-C", code)
		}
	case <-time.After(20 * time.Second):
		s.t.Error("ccd web does not end")
	}
}

// ask sends a request. Header lines are "Name: value".
func (s *site) ask(client *http.Client, method, address string, headers ...string) (*http.Response, string) {
	s.t.Helper()
	if strings.HasPrefix(address, "/") {
		address = s.base + address
	}
	r, err := http.NewRequestWithContext(s.t.Context(), method, address, nil)
	must(s.t, err)
	for _, h := range headers {
		name, value, _ := strings.Cut(h, ": ")
		if r.Header.Set(name, value); name == "Host" {
			r.Host = value
		}
	}
	a, err := client.Do(r)
	must(s.t, err)
	defer a.Body.Close()
	body, err := io.ReadAll(a.Body)
	must(s.t, err)
	return a, string(body)
}

// want gets a page as the browser and checks its status.
func (s *site) want(status int, address string, headers ...string) string {
	s.t.Helper()
	a, body := s.ask(s.browser, http.MethodGet, address, headers...)
	if a.StatusCode != status {
		s.t.Fatalf("%s: status %d, want %d: %.2000s", address, a.StatusCode, status, body)
	}
	return body
}

// has checks that a page has texts.
func (s *site) has(address string, texts ...string) string {
	s.t.Helper()
	body := s.want(http.StatusOK, address)
	for _, text := range texts {
		if !strings.Contains(body, text) {
			s.t.Errorf("%s: no %q in\n%.3000s", address, text, body)
		}
	}
	return body
}

func TestWebTokenWorksOnce(t *testing.T) {
	s := serveWeb(t, webHome(t, map[string]string{ledgerID: ledger(t)}))
	stranger := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	a, body := s.ask(stranger, http.MethodGet, s.address)
	if a.StatusCode != http.StatusForbidden || !strings.Contains(body, "ccd web /") || len(a.Cookies()) > 0 {
		t.Errorf("a spent token: status %d, cookies %v, %.500s", a.StatusCode, a.Cookies(), body)
	}
	a, body = s.ask(stranger, http.MethodGet, ledgerURL+"?at=3")
	if a.StatusCode != http.StatusForbidden || !strings.Contains(body, "ccd web &#39;"+ledgerURL+"?at=3&#39;") || strings.Contains(body, "Decimal") {
		t.Errorf("without a cookie: status %d, %.2000s", a.StatusCode, body)
	}
	a, _ = s.ask(stranger, http.MethodGet, "/?token=x.y")
	if a.StatusCode != http.StatusForbidden {
		t.Errorf("an invented token: status %d", a.StatusCode)
	}
	a, _ = s.ask(stranger, http.MethodGet, "/", "Cookie: "+"ccd_"+s.port()+"=")
	if a.StatusCode != http.StatusForbidden {
		t.Errorf("an empty cookie: status %d", a.StatusCode)
	}

	a, _ = s.ask(&http.Client{CheckRedirect: stranger.CheckRedirect, Jar: s.browser.Jar}, http.MethodGet, "/o/x?token=y") // of one who has access
	if a.StatusCode != http.StatusSeeOther || a.Header.Get("Location") != "/o/x" || len(a.Cookies()) != 1 {
		t.Fatalf("a token: status %d to %q", a.StatusCode, a.Header.Get("Location"))
	}
	if c := a.Cookies()[0]; !c.HttpOnly || c.SameSite != http.SameSiteStrictMode || c.Path != "/" || len(c.Value) < 26 {
		t.Errorf("the cookie: %v", c)
	}
	if second := serveWeb(t, s.home, ledgerID[:8]); second.port() == s.port() || !strings.HasPrefix(second.address, second.base+ledgerURL+"?token=") {
		t.Errorf("a second ccd web, with SESSION: %q", second.address)
	}
}

func (s *site) port() string {
	u, err := url.Parse(s.base)
	must(s.t, err)
	return u.Port()
}

func TestWebAnswersOnlyItsOwnNames(t *testing.T) {
	s := serveWeb(t, webHome(t, map[string]string{ledgerID: ledger(t)}), "--allow-host", "box.example")
	u, err := url.Parse(s.base)
	must(t, err)
	cookie := s.browser.Jar.Cookies(u)[0].String()
	for host, want := range map[string]int{
		"127.0.0.1:" + s.port(): 200, "localhost:" + s.port(): 200, "[::1]:" + s.port(): 200, "LOCALHOST:" + s.port(): 200, "box.example": 200, "box.example:" + s.port(): 200,
		"evil.example": 403, "evil.example:" + s.port(): 403, "127.0.0.1:1": 403, "localhost": 403, "localhost.evil.example:" + s.port(): 403, "127.0.0.1:" + s.port() + ".evil": 403,
	} {
		for _, path := range []string{"/", ledgerURL, ledgerURL + "/part?after=1", "/assets/app.js", "/nothing"} {
			if want == 200 && path == "/nothing" {
				continue
			}
			a, body := s.ask(&http.Client{}, http.MethodGet, path, "Host: "+host, "Cookie: "+cookie)
			if a.StatusCode != want || want == 403 && !strings.Contains(body, "--allow-host NAME") {
				t.Errorf("Host %s, %s: status %d, want %d", host, path, a.StatusCode, want)
			}
		}
	}
}

func TestWebRefusesOtherSites(t *testing.T) {
	s := serveWeb(t, webHome(t, map[string]string{ledgerID: ledger(t)}))
	for header, want := range map[string]int{
		"Origin: http://evil.example": 403, "Origin: null": 403, "Origin: " + s.base: 200, "Origin: http://127.0.0.1:1": 403,
		"Sec-Fetch-Site: cross-site": 403, "Sec-Fetch-Site: same-site": 403, "Sec-Fetch-Site: same-origin": 200, "Sec-Fetch-Site: none": 200,
	} {
		if a, _ := s.ask(s.browser, http.MethodGet, ledgerURL, header); a.StatusCode != want {
			t.Errorf("%s: status %d, want %d", header, a.StatusCode, want)
		}
	}
	// A link in another page, with a token: the page moves on by itself, because a redirect would come without the cookie.
	s = unopenedWeb(t, s.home, "/o/x")
	if a, _ := s.ask(&http.Client{}, http.MethodGet, s.address, "Sec-Fetch-Site: cross-site", "Sec-Fetch-Mode: no-cors", "Sec-Fetch-Dest: image"); a.StatusCode != 403 {
		t.Errorf("a token in an image's address: status %d", a.StatusCode)
	}
	a, body := s.ask(&http.Client{}, http.MethodGet, s.address, "Sec-Fetch-Site: cross-site", "Sec-Fetch-Mode: navigate", "Sec-Fetch-Dest: document")
	if a.StatusCode != 200 || !strings.Contains(body, `content="0; url=/o/x"`) || len(a.Cookies()) != 1 {
		t.Errorf("a link with a token: status %d, %s", a.StatusCode, body)
	}
}

func TestWebOnlyReads(t *testing.T) {
	s := serveWeb(t, webHome(t, map[string]string{ledgerID: ledger(t)}))
	for _, method := range []string{"POST", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "PROPFIND"} {
		a, _ := s.ask(s.browser, method, ledgerURL)
		if a.StatusCode != http.StatusMethodNotAllowed || a.Header.Get("Allow") != "GET, HEAD" {
			t.Errorf("%s: status %d", method, a.StatusCode)
		}
	}
	if a, body := s.ask(s.browser, http.MethodHead, ledgerURL); a.StatusCode != 200 || body != "" || a.ContentLength < 1000 {
		t.Errorf("HEAD: status %d, %d bytes announced", a.StatusCode, a.ContentLength)
	}
	if a, _ := s.ask(s.browser, http.MethodGet, "/", "X-Long: "+strings.Repeat("x", 64<<10)); a.StatusCode != http.StatusRequestHeaderFieldsTooLarge {
		t.Errorf("a header of 64 KB: status %d", a.StatusCode)
	}
}

func TestWebHeaders(t *testing.T) {
	s := serveWeb(t, webHome(t, map[string]string{ledgerID: ledger(t)}))
	for _, path := range slices.Concat(pagesOf(ledgerURL), []string{"/", "/?q=Decimal", "/nothing", "/o/zzzz", "/assets/style.css", "/assets/app.js"}) {
		a, _ := s.ask(s.browser, http.MethodGet, path)
		for name, want := range map[string]string{
			"Content-Security-Policy": pageCSP, "X-Content-Type-Options": "nosniff", "Referrer-Policy": "no-referrer", "Cache-Control": "no-store",
			"Access-Control-Allow-Origin": "", "Access-Control-Allow-Credentials": "", "Server": "",
		} {
			if got := a.Header.Get(name); got != want {
				t.Errorf("%s: %s is %q", path, name, got)
			}
		}
	}
}

// pagesOf returns the pages of a session that every session has.
func pagesOf(session string) []string {
	return []string{session, session + "?at=1", session + "?to=3", session + "/part?after=2", session + "/companion", session + "/files", session + "/r/1"}
}

func TestWebListensOnLoopbackOnly(t *testing.T) {
	home := t.TempDir()
	for _, addr := range []string{"0.0.0.0:0", ":0", "[::]:0", "192.0.2.1:80", "example.com:80", "nonsense"} {
		if code, _, said := ccdIn(home, "", "web", "--no-open", "--addr", addr); code != words.ExitUsage || !strings.Contains(said, "loopback") {
			t.Errorf("--addr %s: exit %d, %s", addr, code, said)
		}
	}
	s := serveWeb(t, home, "--addr", "localhost:0")
	if host, _, err := net.SplitHostPort(strings.TrimPrefix(s.base, "http://")); err != nil || !net.ParseIP(strings.Trim(host, "[]")).IsLoopback() {
		t.Errorf("it listens on %s", s.base)
	}
	port := s.port()
	serveWeb(t, home, "--addr", "localhost:0") // on another port, which is not the next one's
	s.end()
	if again := serveWeb(t, home, "--addr", "localhost:0"); again.port() != port {
		t.Errorf("port %s, want that of last time, %s", again.port(), port)
	}
}

func TestWebReachesNoFile(t *testing.T) {
	s := serveWeb(t, webHome(t, map[string]string{ledgerID: ledger(t)}))
	secret := filepath.Join(s.home, "secret.txt")
	put(t, secret, "the secret of the house")
	up := strings.Repeat("../", 20)
	for _, path := range []string{
		"/s/claude-code/" + url.PathEscape(up+secret), "/s/" + url.PathEscape(up) + "/x", "/s/claude-code/%00", "/s/claude-code/" + ledgerID + "%2f..%2f..",
		"/assets/" + url.PathEscape(up+secret), "/assets/..%2f..%2fserver.go", "/assets/templates/base.html", "/o/" + url.PathEscape(up+secret), "/o/..%2fexact", "/o/5d2f7a1e%231",
		ledgerURL + "/r/-1", ledgerURL + "/r/x", ledgerURL + "/r/99999999", ledgerURL + "/r/1?id=" + url.QueryEscape(secret), ledgerURL + "/compactions/99", ledgerURL + "/compactions/x",
		ledgerURL + "/file?path=" + url.QueryEscape(secret), ledgerURL + "/file?path=" + url.QueryEscape(up+"etc/passwd"), ledgerURL + "/file",
	} {
		a, body := s.ask(s.browser, http.MethodGet, path)
		if a.StatusCode != http.StatusNotFound && a.StatusCode != http.StatusBadRequest || strings.Contains(body, "the secret of") || strings.Contains(body, "root:") {
			t.Errorf("%s: status %d, %.600s", path, a.StatusCode, body)
		}
	}
	a, _ := s.ask(&http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }, Jar: s.browser.Jar},
		http.MethodGet, s.base+"//evil.example/%5Cevil?token=x")
	if to := a.Header.Get("Location"); strings.HasPrefix(to, "//") || strings.Contains(to, ":") {
		t.Errorf("it redirects to %q", to)
	}
}

// part is the address that an open page of the session asks for what is new behind a record.
func (s *site) part(after int) string {
	shown := regexp.MustCompile(`data-seen="([^"]*)"`).FindStringSubmatch(s.want(http.StatusOK, ledgerURL))
	return fmt.Sprintf("%s/part?after=%d&seen=%s", ledgerURL, after, url.QueryEscape(shown[1]))
}

func TestWebEndsWhenIdle(t *testing.T) {
	s := serveWeb(t, webHome(t, map[string]string{ledgerID: ledger(t)}), "--idle", "500ms")
	again := s.part(68)
	for begun := time.Now(); time.Since(begun) < 1500*time.Millisecond; {
		s.want(http.StatusNoContent, again) // as an open page asks
	}
	go func() { // who has no access does not keep it alive
		for t.Context().Err() == nil {
			for _, path := range []string{"/", "/nothing", "/assets/none", "/?token=x"} {
				if r, err := http.Get(s.base + path); err == nil {
					r.Body.Close()
				}
			}
		}
	}()
	select {
	case code := <-s.ended:
		if s.ended <- code; code != words.ExitDone {
			t.Errorf("exit %d", code)
		}
	case <-time.After(20 * time.Second):
		t.Fatal("it does not end")
	}
}

// TestWebViews opens every page of a session, and every link in them.
func TestWebViews(t *testing.T) {
	home := webHome(t, map[string]string{ledgerID: ledger(t)})
	done(t, home, "compact", ledgerID, "--max-tokens", "20000", "-q") // a companion with IDs
	s := serveWeb(t, home)
	s.has("/", "The nightly export", "claude-code", `href="`+ledgerURL+`"`)
	s.has("/?q=Decimal", "In conversations", "Rejected: `Decimal` everywhere", ledgerURL+"?at=21&amp;id=w1sm843qvd19&amp;mark=Decimal#r21", "<title>Decimal · search · ccd</title>")
	s.has(ledgerURL+"?at=16", "… 4,054 more characters")
	s.has("/?q=-Decimal", "Type a word to look for")
	s.has("/?q=%22+*", "Type a word to look for")
	s.has("/?q=nightly+-oats&titles=1&part=1", `id="rows"`, "The nightly export")
	s.has("/?q=nightly+-export&titles=1&part=1", "Searching what was said")
	if body := s.has("/?agent=codex"); strings.Contains(body, ledgerID) {
		t.Error("the filter of the agent lets another's session pass")
	}
	s.has(ledgerURL, "also add a regression test", `id="chart"`, "<svg", `/compactions/1`, "data-records=")
	s.has(ledgerURL+"?at=1", `id="r1"`, "Find out why and fix it", "Don&#39;t touch the schema")
	failed := regexp.MustCompile(`<a class="bad" href="([^"]*)#r(\d+)">\d+ failed</a>`).FindStringSubmatch(s.has(ledgerURL))
	if failed == nil || !regexp.MustCompile(`(?s) failed" id="r`+failed[2]+`".*?exit 1`).MatchString(s.has(failed[1])) {
		t.Errorf("the failures of a request: %q", failed)
	}
	s.has(ledgerURL+"?at=64", `id="r63"`, `<span id="r64">`) // a result is shown with its call
	s.has(ledgerURL+"/compactions", "What was kept", "What its own summary kept", "What ccd would add", "ccd setup", "What was dropped", "pytest -q tests/test_money.py", "/r/60?id=b5jhdk8gkjct")
	s.has(ledgerURL+"/companion", "Handover", `href="/o/`)
	s.has(ledgerURL+"/files", "money.py")
	s.has(ledgerURL+"/file?path=ledger/money.py", "Versions", "/home/me/ledger/ledger/money.py")
	s.has(ledgerURL+"/file?path=ledger/money.py&v=3&with=1", `<option value="1" selected>`, `<span class="add">`)
	s.has("/o/w1sm843qvd19", "archived, verified just now", "w1sm843qvd19", "no float can hold 482.13", "/o/w1sm843qvd19/exact")
	s.has(ledgerURL+"/r/21", "archived, verified just now", "SHA-256")
	seen := map[string]bool{}
	for _, page := range slices.Concat(pagesOf(ledgerURL), []string{"/", ledgerURL + "/compactions/1"}) {
		for _, link := range regexp.MustCompile(`(?:href|src)="(/[^"#]*)`).FindAllStringSubmatch(s.want(http.StatusOK, page), -1) {
			if to := strings.ReplaceAll(link[1], "&amp;", "&"); !seen[to] {
				seen[to] = true
				s.want(http.StatusOK, to)
			}
		}
	}
	if len(seen) < 100 {
		t.Errorf("only %d links", len(seen))
	}
}

// TestWebLeadsOn: a page that is not there says so in a sentence and leads to the list, and the beginning of an ID to its session.
func TestWebLeadsOn(t *testing.T) {
	t.Parallel()
	gone, twin := "6e3a8b2f-0000-4000-8000-000000000001", "5d2f0000-0000-4000-8000-000000000001"
	home := webHome(t, map[string]string{ledgerID: ledger(t), gone: ledger(t), twin: string(webLine("user", 0, "hello"))})
	done(t, home, "archive", "forget", "--yes", gone, "-q")
	s := serveWeb(t, home)
	for path, want := range map[string]string{
		"/nothing":                   "There is no page /nothing.",
		"/s/claude-code/nope":        "The archive has no session nope of claude-code.",
		"/s/claude-code/" + gone:     "The archive has no session " + gone + " of claude-code. It was forgotten on " + time.Now().Format("2006-"),
		"/s/claude-code/5d2f":        "Several sessions have this name.",
		ledgerURL + "/r/999":         "This session has no record 999.",
		ledgerURL + "/compactions/9": "This session has 1 compaction.",
		ledgerURL + "/file?path=no":  "This session read and changed no file no.",
		"/o/zzzzzzzzzzzz":            "The archive has no original zzzzzzzzzzzz.",
	} {
		if body := s.want(http.StatusNotFound, path); !strings.Contains(body, want) || !strings.Contains(body, `<a href="/">All sessions</a>`) {
			t.Errorf("%s: no %q in\n%s", path, want, body)
		}
	}
	if body := s.want(http.StatusNotFound, "/s/claude-code/5d2f"); !strings.Contains(body, `href="`+ledgerURL+`"`) || !strings.Contains(body, `href="/s/claude-code/`+twin+`"`) {
		t.Errorf("which sessions may be meant is not told: %s", body)
	}
	for _, path := range []string{"", "/compactions/1", "/r/21?id=w1sm843qvd19", "/r/21/exact"} {
		a, _ := s.ask(s.browser, http.MethodGet, "/s/claude-code/"+ledgerID[:8]+path)
		if got := a.Request.URL.RequestURI(); a.StatusCode != http.StatusOK || got != ledgerURL+path {
			t.Errorf("the beginning of an ID with %s: status %d at %s", path, a.StatusCode, got)
		}
	}
}

// TestWebGrows: an open page that asks again gets nothing while its session is the same, and then the new part.
func TestWebGrows(t *testing.T) {
	text := ledger(t)
	lines := strings.SplitAfter(text, "\n")
	home := webHome(t, map[string]string{ledgerID: strings.Join(lines[:40], "")})
	s := serveWeb(t, home)
	if page := s.has(ledgerURL, "What fills the context", "<strong>Task </strong>("); !regexp.MustCompile(`All results, ~[\d.]+K? of [\d.]+K tokens in the context(?s:.*)<td class="rec">.*>#5</a></td><td class="num">~2.6K<`).MatchString(page) {
		t.Error("what filled the context is not told")
	}
	again := s.part(40)
	s.want(http.StatusNoContent, again)
	path := filepath.Join(home, ".claude", "projects", "-home-me-ledger", ledgerID+".jsonl")
	put(t, path, text)
	s.has("/?q=sabretooth", "No message, output or file contains all these words.", " KiB not archived yet: <code>ccd run --once</code>")
	once(t, home)
	s.has(again, "also add a regression test", `data-after="`)
	if body := s.want(http.StatusOK, again); strings.Contains(body, `id="r40"`) {
		t.Error("the part has entries that are not new")
	}
}

// hostileWeb is a session whose texts try to become markup, links, or controls.
func hostileWeb() string {
	var all []byte
	for i, text := range hostileTexts {
		all = append(all, webLine("user", i, text)...)
		all = append(all, webLine("assistant", i, []any{
			map[string]any{"type": "text", "text": text},
			map[string]any{"type": "tool_use", "id": fmt.Sprint("t", i), "name": text, "input": map[string]any{"command": text, "file_path": text}},
		})...)
		all = append(all, webLine("user", i, []any{map[string]any{"type": "tool_result", "tool_use_id": fmt.Sprint("t", i), "content": text, "is_error": true}})...)
	}
	return string(all)
}

var hostileTexts = []string{
	`<script>alert(1)</script>`, `"><img src=x onerror=alert(1)>`, `' onmouseover='alert(1)`, `javascript:alert(1)`, `[x](javascript:alert(1))`,
	`data:text/html,<script>alert(1)</script>`, `<svg onload=alert(1)><a xlink:href="javascript:alert(1)">`, `</pre></details></main><iframe src=//evil.example>`,
	`</title><meta http-equiv=refresh content="0;url=//evil.example">`, "\x1b[31mred\x1b]8;;http://evil.example\x07link", "a\u202ereversed\u2066b\u200bc\ufeff", "{{.Secret}} {{define \"x\"}}",
	`[ccd w1sm843qvd19 file]`, `<base href="//evil.example/">`, "`${alert(1)}`", `<style>*{display:none}</style>`, `&lt;script&gt;`, `![x](javascript:alert(1))`, `<https://evil.example/>`, "&#x202e;reversed &#27;[31m",
	"```\" onmouseover=alert(1)\nx\n```", "[x][y]\n\n[y]: //evil.example", "# x {onclick=alert(1) style=display:none}", "|a|b|\n|:-:|-:|\n|<b onclick=alert(1)>|[x](data:text/html,y)|", "[x](/o/w1sm843qvd19)",
	"\x00\x01\x7f\u0085",
}

func webLine(kind string, n int, content any) []byte {
	line, err := json.Marshal(map[string]any{
		"type": kind, "uuid": fmt.Sprintf("u%s%d", kind, n), "sessionId": "bad00000-0000-4000-8000-000000000bad", "cwd": hostileTexts[1], "gitBranch": hostileTexts[0],
		"timestamp": time.Date(2026, 2, 1, 9, n/60%60, n%60, 0, time.UTC), "message": map[string]any{"role": kind, "model": hostileTexts[2], "content": content},
	})
	if err != nil {
		panic(err)
	}
	return append(line, '\n')
}

var (
	webTag       = regexp.MustCompile(`(?s)<[a-zA-Z!/][^>]*>`)
	webAttribute = regexp.MustCompile(`\s([a-zA-Z-]+)=("[^"]*"|'[^']*'|[^\s>]+)`)
	webControl   = regexp.MustCompile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\u0080-\u009f\u200b-\u200f\u202a-\u202e\u2066-\u2069\ufeff]")
)

// harmlessPage checks the markup of a page: no script but ccd's, no handler, no style, no link that leaves, no control character.
func harmlessPage(t *testing.T, page, body string, static bool) {
	t.Helper()
	if c := webControl.FindString(body); c != "" {
		t.Errorf("%s: has the control character %q", page, c)
	}
	for _, tag := range webTag.FindAllString(body, -1) {
		name := strings.ToLower(regexp.MustCompile(`^</?([a-zA-Z0-9]*)`).FindStringSubmatch(tag)[1])
		switch {
		case name == "script" && tag != `<script src="/assets/app.js" defer>` && tag != "</script>", slices.Contains([]string{"iframe", "base", "object", "embed", "image"}, name),
			name == "style" && !static, name == "script" && static, name == "meta" && strings.Contains(tag, "refresh"):
			t.Errorf("%s: has %s", page, tag)
		}
		for _, a := range webAttribute.FindAllStringSubmatch(tag, -1) {
			key, value := strings.ToLower(a[1]), strings.Trim(a[2], `"'`)
			switch {
			case strings.HasPrefix(key, "on"), key == "style", key == "srcdoc", strings.Contains(key, "xlink"):
				t.Errorf("%s: has the attribute %s in %s", page, key, tag)
			case (key == "href" || key == "src" || key == "action") && value != "" && !regexp.MustCompile(`^(/[^/]|/$|#|\?)`).MatchString(value), static && key == "src":
				t.Errorf("%s: leads to %q in %s", page, value, tag)
			}
		}
	}
}

// TestWebHostileTranscript: no text of a transcript becomes markup, a link, a style or a control.
func TestWebHostileTranscript(t *testing.T) {
	home := webHome(t, map[string]string{"bad00000-0000-4000-8000-000000000bad": hostileWeb(), ledgerID: ledger(t), "bad00001": string(webLine("user", 0, "a\u202eb"))})
	s := serveWeb(t, home)
	bad := "/s/claude-code/bad00000-0000-4000-8000-000000000bad"
	pages := append(pagesOf(bad), "/", "/?q=alert", "/?q="+url.QueryEscape(hostileTexts[1]), "/?agent="+url.QueryEscape(hostileTexts[1]), "/?project="+url.QueryEscape(hostileTexts[2]), "/nothing/"+url.PathEscape(hostileTexts[0]))
	for i := range hostileTexts {
		pages = append(pages, fmt.Sprint(bad, "/r/", 3*i+1), fmt.Sprint(bad, "/r/", 3*i+2))
		pages = append(pages, bad+"/file?path="+url.QueryEscape(hostileTexts[i]))
	}
	for _, page := range pages {
		_, body := s.ask(s.browser, http.MethodGet, page)
		harmlessPage(t, page, body, false)
	}
	s.has(bad, "&lt;script&gt;alert(1)&lt;/script&gt;", `\xe2\x80\xae`)
	s.has("/s/claude-code/bad00001", `<title>a\xe2\x80\xaeb ·`, `<h1 title="a\xe2\x80\xaeb">a\xe2\x80\xaeb</h1>`)
	s.has(bad+"?at=28", `>red\x1b]8;;http`, `b\xe2\x80\x8bc`) // no colour, but what else deceives
	if body := s.has(bad); strings.Contains(body, `href="/o/w1sm843qvd19`) {
		t.Error("a marker in a transcript became a link")
	}
	_, out, _ := ccdIn(home, "", "export", "bad00000")
	harmlessPage(t, "export", out, true)
	if len(out) < 10_000 {
		t.Errorf("export: %.500s", out)
	}
}

// TestWebSecretsNeedAClick: a secret is only in the exact original.
func TestWebSecretsNeedAClick(t *testing.T) {
	secret := "ghp_" + "16C7e42F292c6912E7710c838347Ae178B4a"
	text := string(webLine("user", 0, "my token is "+secret+", use it")) + string(webLine("assistant", 1, []any{map[string]any{"type": "text", "text": "I use " + secret}}))
	text += string(webLine("assistant", 2, []any{map[string]any{"type": "tool_use", "id": "t1", "name": "Write", "input": map[string]any{"file_path": "/w/my_key.env", "content": secret}}})) +
		string(webLine("user", 3, []any{map[string]any{"type": "tool_result", "tool_use_id": "t1", "content": "File created successfully at: /w/my_key.env"}})) +
		string(webLine("assistant", 4, []any{map[string]any{"type": "tool_use", "id": "t2", "name": "Bash", "input": map[string]any{"command": "rm /w/my_key.env"}}})) +
		string(webLine("user", 5, []any{map[string]any{"type": "tool_result", "tool_use_id": "t2", "content": ""}}))
	home := webHome(t, map[string]string{"bad00000-0000-4000-8000-000000000bad": text})
	s := serveWeb(t, home)
	bad := "/s/claude-code/bad00000-0000-4000-8000-000000000bad"
	if a, body := s.ask(s.browser, http.MethodGet, bad+"/file/exact?path=/w/my_key.env&v=1&record=4"); body != secret || a.Header.Get("Content-Disposition") != `attachment; filename="my_key.env"` {
		t.Errorf("the exact file: %v, %.300s", a.Header, body)
	}
	s.want(http.StatusNotFound, bad+"/file/exact?path=/w/my_key.env&v=0&record=4")
	s.want(http.StatusNotFound, bad+"/file/exact?path=/w/my_key.env&v=2&record=6")
	if body := s.has(bad+"/file?path=/w/my_key.env&v=2", "Version 2, deleted", "no file"); strings.Contains(body, "/exact") {
		t.Error("a deleted file has a link to download it")
	}
	for _, page := range append(pagesOf(bad), "/", "/?q=token", bad+"/export", bad+"/file?path=/w/my_key.env&v=1") {
		if body := s.want(http.StatusOK, page); strings.Contains(body, secret) {
			t.Errorf("%s shows the secret", page)
		}
	}
	if _, out, _ := ccdIn(home, "", "export", "bad00000"); strings.Contains(out, secret) || !strings.Contains(out, "[redacted ") {
		t.Error("export shows the secret")
	}
	a, body := s.ask(s.browser, http.MethodGet, bad+"/r/1/exact?download=1")
	if !strings.Contains(body, secret) || !strings.HasPrefix(a.Header.Get("Content-Type"), "text/plain") || a.Header.Get("X-Content-Type-Options") != "nosniff" ||
		!strings.HasPrefix(a.Header.Get("Content-Disposition"), "attachment; filename=") || !strings.Contains(a.Header.Get("Content-Security-Policy"), "sandbox") {
		t.Errorf("exact: %v, %.300s", a.Header, body)
	}
	link := regexp.MustCompile(regexp.QuoteMeta(bad) + `/r/1\?id=([0-9a-z]+)`).FindString(s.want(http.StatusOK, bad))
	if body := s.has(link, "Left out here: 1 secret"); strings.Contains(body, secret) {
		t.Error("the original shows the secret")
	}
	if body := s.want(http.StatusOK, strings.Replace(link, "?", "/exact?", 1)); body != "my token is "+secret+", use it" {
		t.Errorf("the exact original: %q", body)
	}
}

// TestWebRawLines: a session of an unknown format shows its lines without secrets and gives its exact bytes; its ID is escaped once.
func TestWebRawLines(t *testing.T) {
	t.Parallel()
	secret := "ghp_" + "16C7e42F292c6912E7710c838347Ae178B4a"
	id, text := "odd\xff", strings.Repeat(`{"when":1,"what":{"token":"`+secret+"\"}}\n", 60)
	s := serveWeb(t, webHome(t, map[string]string{id: text}))
	at := regexp.MustCompile(`/s/claude-code/[^"]*odd%FF`).FindString(s.want(http.StatusOK, "/?all=1"))
	page := s.has(at, "{&#34;when&#34;:1", "Records 13 to 60", `odd\xff</code>`)
	if strings.Contains(page, secret) || strings.Contains(page, `\x5cxff`) {
		t.Error("it shows a secret, or escapes the ID twice")
	}
	if got := s.want(http.StatusOK, at+"/exact"); got != text {
		t.Errorf("the transcript: %.200q", got)
	}
}

// TestWebHiddenFailure: a check that printed errors has a badge also where a pipe hides its status; a warning is no error.
func TestWebHiddenFailure(t *testing.T) {
	t.Parallel()
	text := string(webLine("user", 0, "check it"))
	for i, ran := range [][2]string{{"go test ./... | tail -5", "--- FAIL: TestSum (0.00s)\nFAIL"}, {"go test ./... | tail -5", "ok  \tmill\t0.1s"}, {"cargo build 2>&1 | tail", "warning: unused"}} {
		id := fmt.Sprint("t", i)
		text += string(webLine("assistant", 2*i+1, []any{map[string]any{"type": "tool_use", "id": id, "name": "Bash", "input": map[string]any{"command": ran[0]}}})) +
			string(webLine("user", 2*i+2, []any{map[string]any{"type": "tool_result", "tool_use_id": id, "content": ran[1]}}))
	}
	s := serveWeb(t, webHome(t, map[string]string{"bad00000-0000-4000-8000-000000000bad": text}))
	page := s.has("/s/claude-code/bad00000-0000-4000-8000-000000000bad", `data-records="[2]"`)
	if n := strings.Count(page, `<span class="badge bad">exit hidden, prints errors</span>`); n != 1 {
		t.Errorf("%d calls have the badge", n)
	}
}

// TestWebImages: an image is sent as its bytes say, in a sandbox; anything else is not sent.
func TestWebImages(t *testing.T) {
	png := "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
	picture := func(media, data string) any {
		return []any{map[string]any{"type": "image", "source": map[string]any{"type": "base64", "media_type": media, "data": data}}}
	}
	text := string(webLine("user", 0, "see")) + string(webLine("user", 1, picture("image/png", png))) + string(webLine("user", 2, picture("image/svg+xml", "PHN2ZyBvbmxvYWQ9YWxlcnQoMSk+")))
	s := serveWeb(t, webHome(t, map[string]string{"bad00000-0000-4000-8000-000000000bad": text}))
	bad := "/s/claude-code/bad00000-0000-4000-8000-000000000bad"
	all := regexp.MustCompile(regexp.QuoteMeta(bad)+`/r/(\d)/image\?id=[0-9a-z]+`).FindAllStringSubmatch(s.want(http.StatusOK, bad), -1)
	if len(all) != 2 {
		t.Fatalf("images: %q", all)
	}
	for _, one := range all {
		a, body := s.ask(s.browser, http.MethodGet, one[0])
		if one[1] == "2" && (a.Header.Get("Content-Type") != "image/png" || !strings.Contains(a.Header.Get("Content-Security-Policy"), "sandbox") || !strings.HasPrefix(body, "\x89PNG")) {
			t.Errorf("the picture: status %d, %v", a.StatusCode, a.Header)
		}
		if one[1] == "3" && a.StatusCode != http.StatusNotFound {
			t.Errorf("an SVG: status %d, %s", a.StatusCode, a.Header.Get("Content-Type"))
		}
	}
}

func TestExport(t *testing.T) {
	home := webHome(t, map[string]string{ledgerID: ledger(t)})
	file := filepath.Join(home, "session.html")
	done(t, home, "export", "-o", file, ledgerID[:8])
	text := string(read(t, file))
	harmlessPage(t, "export", text, true)
	wants(t, text, "default-src &#39;none&#39;", "What its own summary kept", "pytest -q tests/test_money.py", `id="r52"`, "money.py", "b5jhdk8gkjct", "</html>")
	if page := serveWeb(t, home).want(http.StatusOK, ledgerURL+"/export"); page != text {
		t.Error("the page gives another file")
	}
	ids := map[string]bool{}
	for _, m := range regexp.MustCompile(` id="([^"]+)"`).FindAllStringSubmatch(text, -1) {
		if ids[m[1]] {
			t.Errorf("two elements have the id %s", m[1])
		}
		ids[m[1]] = true
	}
	if strings.Contains(text, "<script") || regexp.MustCompile(`(href|src)="(/|http)`).MatchString(text) {
		t.Error("the file refers to something outside of it")
	}
	if code, _, said := ccdIn(home, "", "export", "-o", file, ledgerID[:8]); code == words.ExitDone || !strings.Contains(said, "--force") {
		t.Errorf("a second time: exit %d, %s", code, said)
	}
}

// TestWebClaimsNoMoreThanIsInstalled: what ccd could do at a compaction depends on what is installed for the agent.
func TestWebClaimsNoMoreThanIsInstalled(t *testing.T) {
	t.Parallel()
	home := webHome(t, map[string]string{ledgerID: ledger(t)})
	put(t, filepath.Join(home, ".pi", "agent", "sessions", "--home-ada-shop--", "2026-09-14T08-00-00-000Z_019a4d00-2222-7000-8000-000000000009.jsonl"),
		string(read(t, filepath.Join("..", "..", "internal", "agent", "registry", "testdata", "story", "pi.later.jsonl"))))
	put(t, filepath.Join(home, ".cursor", "projects", "shop", "agent-transcripts", ledgerID, ledgerID+".jsonl"), `{"role":"user","message":{"content":[{"type":"text","text":"List the files"}]}}`+"\n")
	once(t, home)
	s := serveWeb(t, home)
	pi := "/s/pi/019a4d00-2222-7000-8000-000000000009/compactions"
	has := func(page, want string) {
		t.Helper()
		body := s.has(page, want)
		for _, claim := range []string{"ccd's hook adds it", "added by ccd", "; ccd adds", "dropped, ccd adds"} {
			if strings.Contains(html.UnescapeString(body), claim) {
				t.Errorf("%s: it claims %q", page, claim)
			}
		}
	}
	has(ledgerURL+"/compactions", "run <code>ccd setup</code>, ccd's hook is not")
	has(ledgerURL+"/export", "ccd would add")
	has(pi, "ccd can write the context of this agent's compactions: run <code>ccd setup</code>")
	s.has(strings.TrimSuffix(pi, "/compactions"), "ccd resume 019a4d00-2222-7000-8000-000000000009 --run")
	s.has("/s/cursor/"+ledgerID, "ccd resume "+ledgerID+" --agent cursor --as claude --run")
	done(t, home, "agents", "install", "pi", "-q")
	has(pi, "nothing")
	done(t, home, "agents", "install", "claude", "-q")
	s.has(ledgerURL+"/compactions", "ccd's hook adds it")
}

// TestWebCompaction: facts stand with the newest first, a long one says that it is cut, and what is encrypted is not
// said to show anything.
func TestWebCompaction(t *testing.T) {
	t.Parallel()
	text := strings.Replace(ledger(t), "keep it integer cents everywhere", "keep it integer cents everywhere "+strings.Repeat("with a pasted log ", 60), 1)
	home := webHome(t, map[string]string{ledgerID: text})
	id := "019a4c00-7b1e-7c20-9f00-5a0b6c7d8e0a"
	put(t, filepath.Join(home, ".codex", "sessions", "2026", "09", "14", "rollout-2026-09-14T10-00-00-"+id+".jsonl"), `{"timestamp":"2026-09-14T10:00:00.000Z","type":"session_meta","payload":{"id":"`+id+`","timestamp":"2026-09-14T10:00:00.000Z","cwd":"/home/me/mill","originator":"codex_cli_rs","cli_version":"0.169.0","source":"cli"}}
{"timestamp":"2026-09-14T10:00:01.000Z","type":"response_item","payload":{"type":"message","role":"assistant","content":[{"type":"output_text","text":"The mill is ready."}]}}
{"timestamp":"2026-09-14T10:00:02.000Z","type":"compacted","payload":{"message":"","replacement_history":[{"type":"compaction","encrypted_content":"abc"}]}}
`)
	once(t, home)
	s := serveWeb(t, home)
	page := s.has(ledgerURL + "/compactions/1")
	if !regexp.MustCompile(`pasted log [^<]*…</td>`).MatchString(page) {
		t.Error("a long message does not say that it is cut")
	}
	for _, class := range strings.Split(s.has(ledgerURL+"/compactions/1", "What was kept</h3> <span class=\"soft\">7 facts"), `<table class="ledger">`)[1:] {
		last := 999
		for _, m := range regexp.MustCompile(`<td class="rec"><a[^>]*>#(\d+)<`).FindAllStringSubmatch(class, -1) {
			record, _ := strconv.Atoi(m[1])
			if record > last {
				t.Errorf("#%d stands behind #%d", record, last)
			}
			last = record
		}
	}
	if page := s.has("/s/codex/"+id+"/compactions/1", "Nothing to compare", "encrypted"); strings.Contains(page, "shows every fact") {
		t.Error("what is encrypted shows every fact")
	}
}
