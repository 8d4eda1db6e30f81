//go:build rig

package browser

import (
	"bufio"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"ccd/internal/testkit"
)

// unguarded is a server that has the guard of `ccd web` not, for controls and as the other site of an attack.
type unguarded struct {
	base  string // with a content security policy, "" for none
	loose string // without one
	port  string
}

// control serves a page. It allows what `ccd web` refuses: every host, every origin, frames.
func control(t testing.TB, policy, page string) *unguarded {
	t.Helper()
	answer := func(policy string) string {
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if policy != "" {
				w.Header().Set("Content-Security-Policy", policy)
			}
			w.Header().Set("Access-Control-Allow-Origin", r.Header.Get("Origin"))
			w.Header().Set("Access-Control-Allow-Credentials", "true")
			w.Header().Set("Content-Type", "text/html; charset=utf-8")
			fmt.Fprint(w, page)
		}))
		t.Cleanup(s.Close)
		return s.URL
	}
	u := &unguarded{base: answer(policy), loose: answer("")}
	u.port = u.loose[strings.LastIndex(u.loose, ":")+1:]
	return u
}

// private is a text that only a page of a session has.
const private = "keep it integer cents everywhere"

func (s *site) port() string { return s.base[strings.LastIndex(s.base, ":")+1:] }

// TestRebinding: a name that a hostile name server resolves to this machine reaches no session.
func TestRebinding(t *testing.T) {
	s, other := serve(t, story(t)), control(t, "", "<p>"+private)
	p := newTab(t)
	p.open("http://" + foreign + ":" + other.port + "/")
	if text := p.text(); !strings.Contains(text, private) {
		t.Errorf("control: the name does not reach this machine: %s", text)
	}
	for _, path := range []string{"/", sessionURL(ledgerID), "/assets/app.js"} {
		address := "http://" + foreign + ":" + s.port() + path
		p.open(address)
		if status, text := p.status(address), p.text(); status != http.StatusForbidden || strings.Contains(text, "nightly") || !strings.Contains(text, "--allow-host") {
			t.Errorf("%s: status %d, %.300s", address, status, text)
		}
	}
	// The same with the cookie, past the browser.
	if status := ask(t, s.port(), "127.0.0.1:"+s.port()); status != http.StatusForbidden {
		t.Errorf("control: without the cookie, status %d", status)
	}
	for _, host := range []string{foreign, foreign + ":" + s.port(), "127.0.0.1", ""} {
		if status := ask(t, s.port(), host); status != http.StatusForbidden && status != http.StatusBadRequest {
			t.Errorf("Host %q: status %d", host, status)
		}
	}
	if status := ask(t, other.port, foreign); status != http.StatusOK {
		t.Errorf("control: Host %s without the guard: status %d", foreign, status)
	}
}

// ask sends a request over TCP and returns the status of the answer.
func ask(t testing.TB, port, host string) (status int) {
	t.Helper()
	c, err := net.DialTimeout("tcp", "127.0.0.1:"+port, patience)
	testkit.Must(t, err)
	defer c.Close()
	testkit.Must(t, c.SetDeadline(time.Now().Add(patience)))
	fmt.Fprintf(c, "GET / HTTP/1.1\r\nHost: %s\r\nConnection: close\r\n\r\n", host)
	r, err := http.ReadResponse(bufio.NewReader(c), nil)
	testkit.Must(t, err)
	defer r.Body.Close()
	return r.StatusCode
}

// attack is what another site tries, with the browser that has the cookie.
const attack = `(async () => {
	const to = %q, got = {};
	const event = (e, on) => new Promise(done => { e.onload = () => done('loaded'); e.onerror = () => done('refused'); on(e); setTimeout(() => done('nothing'), 4000) });
	got.read = await fetch(to, {credentials: 'include'}).then(r => r.text()).then(t => t.includes(%q) ? 'read' : 'other text', () => 'refused');
	got.script = await event(document.createElement('script'), e => { e.src = to; document.head.append(e) });
	got.frame = await event(document.createElement('iframe'), e => { e.src = to; document.body.append(e) });
	try { got.framed = document.querySelector('iframe').contentWindow.length === 0 && document.querySelector('iframe').contentDocument === null ? 'closed' : 'open' } catch (e) { got.framed = 'closed' }
	return JSON.stringify(got) })()`

// TestOtherSites: a page of another origin reads nothing of a session, also in a browser that has the cookie.
func TestOtherSites(t *testing.T) {
	s, p := serve(t, story(t)), newTab(t)
	page := sessionURL(ledgerID) + "?at=1"
	p.enter(s, page)
	other, victim := control(t, "", "<!DOCTYPE html><title>other</title><body>"), control(t, "", "<p>"+private)
	for _, name := range []string{"127.0.0.1", "localhost", foreign} {
		from := "http://" + name + ":" + other.port + "/"
		p.open(from)
		if got := eval[string](p, fmt.Sprintf(attack, victim.loose+"/", private)); !strings.Contains(got, `"read":"read"`) {
			t.Errorf("control: %s cannot read an unguarded page: %s", from, got)
		}
		p.open(from)
		got := eval[string](p, fmt.Sprintf(attack, s.base+page, private))
		if !strings.Contains(got, `"read":"refused"`) || !strings.Contains(got, `"script":"refused"`) {
			t.Errorf("%s: %s", from, got)
		}
		if status := p.status(s.base + page); status != http.StatusForbidden {
			t.Errorf("%s: status %d", from, status)
		}
	}
	// The cookie still works: it was the other site that was refused.
	p.open(s.base + page)
	if text := p.text(); !strings.Contains(text, private) {
		t.Errorf("control: the cookie does not work any more: %.300s", text)
	}
}

// TestFrames: no page is shown in a frame, not even in one of its own origin.
func TestFrames(t *testing.T) {
	s, p := opened(t, story(t), "/?agent=claude-code")
	victim := control(t, "", "<p>"+private)
	framing := func(address string) (text string) {
		other := control(t, "", `<!DOCTYPE html><title>other</title><iframe id="f" src="`+address+`"></iframe>`)
		p.open(other.loose + "/")
		return strings.Join(p.frames(), " ")
	}
	if got := framing(victim.loose + "/"); !strings.Contains(got, victim.loose) {
		t.Errorf("control: an unguarded page is not in the frame: %s", got)
	}
	if got := framing(s.base + sessionURL(ledgerID)); strings.Contains(got, s.base) || !strings.Contains(got, "chrome-error:") {
		t.Errorf("in a frame of another page: %s", got)
	}
	p.taken()
	p.open(s.base + "/?agent=claude-code")
	eval[bool](p, `(() => { const f = document.createElement('iframe'); f.src = '/'; document.body.append(f); return true })()`)
	p.await("the frame is refused", "document.querySelector('iframe')")
	if problems, _ := p.taken(); !strings.Contains(strings.Join(problems, "\n"), "frame") {
		p.await("the frame is refused", "false")
	}
}
