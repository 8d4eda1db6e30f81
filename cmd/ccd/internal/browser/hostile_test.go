//go:build rig

package browser

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// attacks are texts that run something, or deceive, where a page takes them for markup. What runs sets window.ran.
var attacks = []string{
	`<script>window.ran=1</script>`, `"><script>window.ran=1</script>`, `<img src=x onerror="window.ran=1">`, `"><img src=x onerror=window.ran=1>`, `' autofocus onfocus='window.ran=1`,
	`<svg onload="window.ran=1"></svg>`, `<svg><a xlink:href="javascript:window.ran=1"><text y="20">click</text></a></svg>`, `<a href="javascript:window.ran=1">click</a>`, `javascript:window.ran=1`,
	`[click](javascript:window.ran=1)`, `<a href="data:text/html,<script>opener.ran=1</script>">click</a>`, `<iframe srcdoc="<script>parent.ran=1</script>"></iframe>`,
	`</title></pre></main><script>window.ran=1</script>`, `</script><script>window.ran=1</script>`, `<style>body{display:none}</style>`, `<base href="http://evil.example/">`,
	`<meta http-equiv="refresh" content="0;url=http://evil.example/">`, `<form action="http://evil.example/"><button>Send</button></form>`, `<link rel=stylesheet href="http://evil.example/x.css">`,
	"<details open ontoggle=window.ran=1>", "${window.ran=1}", "{{constructor.constructor('window.ran=1')()}}", "\x1b[31mred\x1b[0m\x1b]8;;http://evil.example\x07link\x1b]8;;\x07",
	"invoice\u202egnp.exe", "\u2066isolated\u2069 zero\u200bwidth", "\x00\x07\x08\x7f\u0085",
}

// everything is one text with all attacks.
func everything() string { return strings.Join(attacks, " ") }

// hostile returns a session in which every text is an attack: titles, directories, tools, arguments, outputs, models, and a
// line of 10 MB.
func hostile(now time.Time) *transcript {
	w := &transcript{id: hostileID, cwd: "/home/" + attacks[2], branch: attacks[0], model: attacks[3], at: now.Add(-time.Hour), step: time.Second, tokens: 20000}
	w.add("summary", map[string]any{"summary": everything(), "leafUuid": "x"})
	w.asks(everything())
	for _, text := range attacks {
		w.says(text)
		w.calls(text, map[string]any{"command": text, "file_path": text, "prompt": text}, text, true)
		w.runs(text, text, 1)
		w.writes("/home/me/"+text, text)
		w.asks(text)
	}
	w.compacts(everything())
	w.runs("cat big", strings.Repeat("x", 5<<20)+everything()+strings.Repeat("<b>", 5<<20/3), 0)
	w.asks([]any{map[string]any{"type": "image", "source": map[string]any{"type": "base64", "media_type": "image/svg+xml", "data": "PHN2ZyB4bWxucz0iaHR0cDovL3d3dy53My5vcmcvMjAwMC9zdmciPjxzY3JpcHQ+d2luZG93LnJhbj0xPC9zY3JpcHQ+PC9zdmc+"}}})
	w.says(everything())
	return w
}

// hidden are the characters that no page may contain as they are.
const hidden = `/[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\u200b-\u200f\u202a-\u202e\u2066-\u2069\ufeff]/`

// strange lists what a page must not contain: handlers, scripts and frames that are not ccd's, and links that leave.
const strange = `(() => { const bad = [];
	for (const e of document.querySelectorAll('*')) {
		for (const a of e.attributes) if (/^on/i.test(a.name) || a.name === 'srcdoc' || a.name === 'style') bad.push(e.tagName + ' ' + a.name);
		if (/^(iframe|object|embed|base|style)$/i.test(e.tagName) || /^script$/i.test(e.tagName) && e.src !== location.origin + '/assets/app.js') bad.push(e.tagName);
		for (const to of [e.href, e.src, e.action]) { const text = to && (to.baseVal === undefined ? String(to) : to.baseVal); if (text && !text.startsWith(location.origin + '/') && !text.startsWith('/') && !text.startsWith('#')) bad.push(e.tagName + ' ' + text.slice(0, 60)) }
	}
	return bad.slice(0, 5).join('; ') })()`

// poke opens, focuses and clicks what a user may touch, except links that lead away from the page.
const poke = `(() => { for (const e of document.querySelectorAll('details')) e.open = true;
	for (const e of document.querySelectorAll('a, img, summary, svg, pre, p')) { for (const kind of ['mouseover', 'focus', 'toggle', 'error']) e.dispatchEvent(new Event(kind)); }
	for (const e of document.querySelectorAll('a')) { const to = e.getAttribute('href') || e.getAttribute('xlink:href') || ''; if (/^\s*(javascript|data):/i.test(to)) e.dispatchEvent(new MouseEvent('click', {bubbles: true, cancelable: true})) }
	return true })()`

// TestHostileSession opens every page of a session that attacks, and pages that list it.
func TestHostileSession(t *testing.T) {
	home, now := t.TempDir(), time.Now()
	put(t, home, hostileID, hostile(now).Bytes())
	once(t, home)
	s := serve(t, home)
	p := newTab(t)
	p.enter(s, "/")
	at := sessionURL(hostileID)
	pages := []string{
		"/", "/?q=window.ran", "/?q=%22%3E%3Cscript%3Ewindow.ran%3D1%3C%2Fscript%3E", "/?agent=%3Cscript%3Ewindow.ran=1%3C/script%3E", at, at + "?at=1", at + "?at=40", at + "/compactions", at + "/compactions/1",
		at + "/companion", at + "/files", at + "/r/2", at + "/r/3", "/%3Cscript%3Ewindow.ran=1%3C/script%3E",
	}
	links := eval[[]string](p, `fetch('`+at+`/files').then(r => r.text()).then(t => [...new DOMParser().parseFromString(t, 'text/html').querySelectorAll('table a')].map(a => a.getAttribute('href')).filter(h => h.includes('/file?')))`)
	if len(links) < 5 {
		t.Errorf("only %d files", len(links))
	}
	pages = append(pages, links[:min(6, len(links))]...)
	big := eval[string](p, `fetch('`+at+`').then(r => r.text()).then(t => { const a = [...new DOMParser().parseFromString(t, 'text/html').querySelectorAll('a.id')].map(a => a.getAttribute('href')).filter(h => h.startsWith('/o/')); return a[a.length - 1] || '' })`)
	if big != "" {
		pages = append(pages, big, big+"/exact")
	}
	visible := 0
	for _, path := range pages {
		p.open(s.base + path)
		eval[bool](p, poke)
		problems, requests := p.taken()
		if p.dialogs > 0 || eval[bool](p, "'ran' in window") {
			t.Errorf("%s: a script of the session ran", path)
		}
		if got := eval[string](p, strange); got != "" && !strings.HasSuffix(path, "/exact") {
			t.Errorf("%s: has %s", path, got)
		}
		if eval[bool](p, hidden+".test(document.documentElement.outerHTML)") && !strings.HasSuffix(path, "/exact") {
			t.Errorf("%s: has a control character as it is", path)
		}
		if text := p.text(); strings.Contains(text, `\xe2\x80\xae`) && strings.Contains(text, `\x1b[31m`) {
			visible++
		}
		for _, one := range problems {
			if !strings.Contains(one, "status of 40") { // of the pages that do not exist
				t.Errorf("%s: %s", path, one)
			}
		}
		for _, one := range requests {
			if !strings.HasPrefix(one, s.base+"/") {
				t.Errorf("%s: it asks for %s", path, one)
			}
		}
		p.size(320, false)
		if over := eval[int](p, "document.documentElement.scrollWidth - innerWidth"); over > 0 && !strings.HasSuffix(path, "/exact") {
			t.Errorf("%s: the page scrolls sideways by %d px: %s", path, over, eval[string](p, wide))
		}
		p.size(1400, false)
	}
	if visible < 3 {
		t.Errorf("only %d pages show control characters", visible)
	}
}

// TestHostileSessionCanFail: the same texts run in a page that takes them for markup.
func TestHostileSessionCanFail(t *testing.T) {
	ran := 0
	for _, text := range []string{attacks[0], attacks[2], attacks[5], attacks[7], attacks[11], attacks[19]} {
		other := control(t, "", "<!DOCTYPE html><title>x</title><body>"+text)
		p := newTab(t)
		p.open(other.loose + "/")
		eval[bool](p, poke)
		p.await(fmt.Sprintf("%s runs", text), "'ran' in window")
		ran++
		if got := eval[string](p, strange); got == "" {
			t.Errorf("nothing strange in %s", text)
		}
	}
	other := control(t, "", "<!DOCTYPE html><title>x</title><body>a\u202eb")
	p := newTab(t)
	p.open(other.loose + "/")
	if !eval[bool](p, hidden+".test(document.documentElement.outerHTML)") {
		t.Error("a control character was not noticed")
	}
}
