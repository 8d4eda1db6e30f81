//go:build rig

package browser

import (
	"bytes"
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"ccd/internal/testkit"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// key presses a key as a keyboard does: a page that handles it prevents that it is written, which chromedp's own events do
// not allow.
func (p *tab) key(key string) {
	p.t.Helper()
	for _, kind := range []input.DispatchKeyEventType{input.DispatchKeyEventTypeKeyDown, input.DispatchKeyEventTypeKeyUp} {
		event := input.DispatchKeyEventParams{Type: kind, Key: key}
		if kind == input.DispatchKeyEventTypeKeyDown {
			event.Text = key
		}
		p.call(func(ctx context.Context) error {
			_, err := chromedp.Call(ctx, input.DispatchKeyEvent, event)
			return err
		})
	}
}

// frames returns the addresses of the frames in the page.
func (p *tab) frames() (all []string) {
	p.t.Helper()
	p.call(func(ctx context.Context) error {
		tree, err := chromedp.Call(ctx, page.GetFrameTree, cdp.Empty{})
		if err != nil {
			return err
		}
		for _, child := range tree.FrameTree.ChildFrames {
			all = append(all, child.Frame.URL)
		}
		return nil
	})
	return all
}

// goals are the elements that can be used.
const goals = `[...document.querySelectorAll('a[href], button, input, select, summary, [tabindex="0"]')].filter(e => e.getAttribute('tabindex') !== '-1' && e.checkVisibility({visibilityProperty: true}))`

// focusSeen describes the element with the focus if its focus cannot be seen: it has no outline, or is outside the window.
// It is 'round' once the focus has been on it before.
const focusSeen = `(() => { const one = document.activeElement, c = getComputedStyle(one), r = one.getBoundingClientRect(), mark = one.querySelector('.mark');
	if (one === document.body) return '';
	if (window.focused.includes(one)) return 'round';
	window.focused.push(one);
	const ring = c.outlineStyle !== 'none' && parseFloat(c.outlineWidth) >= 1 || mark && parseFloat(getComputedStyle(mark).strokeWidth) >= 3;
	const inside = r.bottom > 0 && r.top < innerHeight && r.right > 0 && r.left < innerWidth;
	return ring && inside ? '' : one.outerHTML.slice(0, 120) + (ring ? ' is outside the window' : ' has no ring') })()`

// tabThrough presses Tab until the focus has been everywhere, and returns what it did not reach and what it did not show.
func (p *tab) tabThrough() (missed, unseen []string) {
	p.t.Helper()
	n := eval[int](p, "window.focused = []; ("+goals+").length")
	for range 2*n + 20 { // some links appear only where the focus is
		p.do("press Tab", chromedp.KeyEvent(kb.Tab))
		got := eval[string](p, focusSeen)
		if got == "round" {
			break
		}
		if got != "" {
			unseen = append(unseen, got)
		}
	}
	return eval[[]string](p, "("+goals+").filter(e => !focused.includes(e)).map(e => e.outerHTML.slice(0, 120))"), unseen
}

// TestKeyboard: Tab reaches everything that can be used, and shows where it is.
func TestKeyboard(t *testing.T) {
	s, p := opened(t, story(t), "/")
	ledger := sessionURL(ledgerID)
	for _, path := range []string{"/", ledger + "?at=1", ledger + "/compactions/1", ledger + "/files", ledger + "/file?path=ledger/money.py", ledger + "/r/21"} {
		p.open(s.base + path)
		missed, unseen := p.tabThrough()
		if len(missed) > 0 {
			t.Errorf("%s: Tab does not reach %d: %v", path, len(missed), missed[:min(3, len(missed))])
		}
		if len(unseen) > 0 {
			t.Errorf("%s: the focus cannot be seen on %d: %v", path, len(unseen), unseen[:min(3, len(unseen))])
		}
	}
	other := control(t, "", `<!DOCTYPE html><title>x</title><style>a:focus{outline:none}</style><a href="/1">one</a><div inert><a href="/2">two</a></div><a href="/3" style="position:absolute;left:-9999px">three</a>`)
	p.open(other.loose + "/")
	if _, unseen := p.tabThrough(); len(unseen) < 2 {
		t.Errorf("control: an invisible focus was not noticed: %v", unseen)
	}
}

// TestKeys: n and p go to the next and previous request, also across pages; / goes to the search.
func TestKeys(t *testing.T) {
	s, p := opened(t, story(t), sessionURL(ledgerID)+"?at=1")
	at := func(record string) {
		t.Helper()
		p.await("request #"+record+" has the focus", fmt.Sprintf("document.activeElement.dataset.record === %q", record))
	}
	p.await("the page listens", "document.documentElement.classList.contains('js')")
	p.key("p")
	p.await("there is no earlier request", "document.querySelector('#told').innerText === 'No earlier request'")
	p.key("n")
	first := eval[string](p, "document.activeElement.dataset.record || ''")
	if first != "1" && first != "28" {
		t.Fatalf("n goes to %q", first)
	}
	if first == "1" {
		p.key("n")
	}
	at("28")
	if top := eval[float64](p, "document.activeElement.getBoundingClientRect().top"); top < -1 || top > 100 {
		t.Errorf("the request is at %f px", top)
	}
	p.key("j")
	at("52")
	p.await("the address and the list follow", "location.hash === '#r52' && [...document.querySelectorAll('.turns [aria-current]')].map(e => e.dataset.record).join() === '52'")
	p.key("p")
	at("28")
	p.key("k")
	at("1")
	p.open(s.base + sessionURL(shopID) + "?at=1")
	failed := eval[[]string](p, "document.querySelector('#failed').dataset.records.match(/\\d+/g)")
	p.click("#failed")
	at(failed[0])
	p.key("f")
	at(failed[1])
	p.key("F")
	at(failed[0])
	p.open(s.base + sessionURL(shopID))
	eval[bool](p, "scrollTo(0, 1e6), true")
	p.click("#failed") // there is no later one
	at(failed[len(failed)-1])
	p.click("#matches button:last-child")
	at(failed[0])
	p.await("its place", fmt.Sprintf("document.querySelector('#matches').innerText.startsWith('failure 1 of %d ')", len(failed)))
	p.open(s.base + sessionURL(ledgerID) + "?at=9&mark=money#r9")
	p.await("the matches", "/match \\d+ of \\d+/.test(document.querySelector('#matches').innerText)")
	p.key("m")
	p.await("the next match", "new URLSearchParams(location.search).get('id') && location.search.includes('mark=money')")
	p.await("the matches", "/match 1 of \\d+/.test(document.querySelector('#matches').innerText)")
	p.key("/")
	p.await("the search has the focus", "/^(q|find|within)$/.test(document.activeElement.id)")
	p.key("n")
	if got := eval[string](p, "document.activeElement.value"); got != "n" {
		t.Errorf("a key in the search field writes %q", got)
	}
	p.quiet("keys", s)
}

// TestChart: a click on the curve leads to the record there, or the next one that is shown.
func TestChart(t *testing.T) {
	s, p := opened(t, story(t), sessionURL(shopID)+"?at=1")
	records := eval[int](p, "+document.querySelector('#entries').dataset.records")
	p.click("#chart svg") // its middle
	p.await("the record in the middle", fmt.Sprintf("(() => { const to = document.querySelector('.entry:target, .entry:has(:target)'); return to && Math.abs(to.dataset.record - %d) <= 2 && to.getBoundingClientRect().top < innerHeight })()", records/2))
	p.quiet("chart", s)
}

// TestCopy: a button copies the command that continues the session, or shows it where the browser does not copy.
func TestCopy(t *testing.T) {
	s, p := opened(t, story(t), sessionURL(shopID)+"?at=1")
	eval[bool](p, "Object.defineProperty(navigator, 'clipboard', { value: { writeText: async text => { if (window.copied) throw 'denied'; window.copied = text } } }), true")
	const shown = "document.querySelector('#again').checkVisibility()"
	p.click("[data-copy=again]")
	p.await("it is copied", fmt.Sprintf("window.copied === 'ccd resume %s --run' && !%s", shopID, shown))
	p.click("[data-copy=again]")
	p.await("it is shown and selected", shown+" && getSelection().toString() === window.copied")
	p.quiet("copy", s)
}

// TestExported: nothing of an exported file is hidden below its bar.
func TestExported(t *testing.T) {
	home := story(t)
	if out, err := command(t.Context(), home, "export", "-o", "session.html", ledgerID).CombinedOutput(); err != nil {
		t.Fatalf("ccd export: %v\n%s", err, out)
	}
	p := newTab(t)
	p.open("file://" + filepath.Join(home, "session.html"))
	for _, width := range widths {
		p.size(width, false)
		if over := eval[float64](p, "document.querySelector('.strip').getBoundingClientRect().bottom - document.querySelector('.about').getBoundingClientRect().top"); over > 0 {
			t.Errorf("%d px: the bar hides %f px of the line below it", width, over)
		}
	}
}

// TestWithoutJavaScript: every page can be read, and the search and the filters work.
func TestWithoutJavaScript(t *testing.T) {
	s, p := serve(t, story(t)), newTab(t)
	p.call(func(ctx context.Context) error {
		_, err := chromedp.Call(ctx, emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: true})
		return err
	})
	p.enter(s, "/")
	for _, path := range views() {
		p.open(s.base + path)
		if text := p.text(); len(text) < 150 || eval[bool](p, "document.documentElement.classList.contains('js')") {
			t.Errorf("%s: %q", path, text)
		}
	}
	p.open(s.base + "/")
	p.do("search", chromedp.SendKeys(chromedp.CSS("#find"), "Decimal"+kb.Enter))
	p.await("hits", "document.body.innerText.includes('In conversations')")
	p.follow("a.where", "#21", "no float can hold 482.13")
	if text := p.text(); !strings.Contains(text, "Rejected: Decimal everywhere") || strings.Contains(text, "Keys:") {
		t.Errorf("the session without JavaScript: %.1000s", text)
	}
}

// TestSearchAsYouType: the list follows what is typed, without Enter.
func TestSearchAsYouType(t *testing.T) {
	s, p := opened(t, story(t), "/")
	count := func() int { return eval[int](p, "document.querySelectorAll('.sessions > li:not(.group)').length") }
	all := count()
	if all < 4 {
		t.Fatalf("only %d sessions", all)
	}
	p.do("type", chromedp.SendKeys(chromedp.CSS("#find"), "nightly"))
	p.await("one session", fmt.Sprintf("document.querySelectorAll('.sessions > li:not(.group)').length === 1 && document.querySelector('.sessions').innerText.includes(%q)", ledgerTitle))
	p.do("go through", chromedp.KeyEvent(kb.ArrowDown))
	p.do("open", chromedp.KeyEvent(kb.Enter))
	p.await("the session", "document.querySelector('#requests') !== null")
	eval[bool](p, "(history.back(), true)")
	p.await("what was searched, again", "document.querySelector('#find')?.value === 'nightly' && document.querySelectorAll('.sessions > li:not(.group)').length === 1")
	if eval[bool](p, "document.querySelector('#now') !== null") {
		t.Error("the board, which grows, is above what was found")
	}
	p.open(s.base + "/")
	p.do("type", chromedp.SendKeys(chromedp.CSS("#find"), "nightly"))
	p.await("one session", "document.querySelectorAll('.sessions > li:not(.group)').length === 1")
	p.do("delete", chromedp.SendKeys(chromedp.CSS("#find"), strings.Repeat(kb.Backspace, 7)))
	p.await("all sessions", fmt.Sprintf("document.querySelectorAll('.sessions > li:not(.group)').length === %d", all))
	p.do("type", chromedp.SendKeys(chromedp.CSS("#find"), "no such session"))
	p.await("a message", "document.querySelector('#rows').innerText.includes('No message, output or file contains all these words')")
	p.do("delete", chromedp.SendKeys(chromedp.CSS("#find"), strings.Repeat(kb.Backspace, 15)))
	p.do("type", chromedp.SendKeys(chromedp.CSS("#find"), "no float can hold"))
	p.await("what was said", "document.querySelector('.found .hits .snippet')?.innerText.includes('no float can hold 482.13')")
	p.quiet("search", s)
}

// TestMarked: the record that a hit opens has the words marked.
func TestMarked(t *testing.T) {
	s, p := opened(t, story(t), "/?q=decimal+float")
	p.follow("a.where", "#21", "no float can hold 482.13")
	p.await("the words are marked", "(() => { const all = [...CSS.highlights.get('found')]; return all.length > 1 && all.every(r => /^(decimal|float)$/i.test(r.toString()) && r.startContainer.parentElement.closest('.entry').dataset.record === '21') })()")
	p.quiet("marked", s)
	for _, one := range []struct{ query, record, shown string }{
		{"store_night", "#16", "archived, verified just now"}, // what the conversation leaves out
		{"ruff+-imported", "#26", "Requests"},                 // its output has that
		{"%22find+the+rounding%22", "#22", "Requests"},        // a step of the plan
	} {
		p.open(s.base + "/?q=" + one.query)
		p.await("the words are marked in the list", "CSS.highlights.get('found')?.size > 0")
		p.follow("a.where", one.record, one.shown)
		p.await("the words are marked where it leads", "CSS.highlights.get('found')?.size > 0")
	}
}

// TestOpensWithItsState: a session opens with what was asked and where it stands, above its chart and its last records.
func TestOpensWithItsState(t *testing.T) {
	home := t.TempDir()
	w := &transcript{id: shopID, cwd: "/home/me/shop", branch: "main", model: "claude-opus-4-6", at: time.Now().Add(-72 * time.Hour), step: time.Second, tokens: 20000}
	w.asks("Count the till, week by week.")
	for n := range 80 {
		w.runs(fmt.Sprintf("till --week %d", n), "482 coins", 0)
	}
	w.says("**Nothing** is missing.")
	put(t, home, w.id, w.Bytes())
	once(t, home)
	s, p := opened(t, home, sessionURL(w.id))
	p.await("its state", "scrollY === 0 && /Count the till.*Nothing is missing/s.test(document.querySelector('#state').innerText) && document.querySelector('#state .said strong').getBoundingClientRect().top < innerHeight / 2")
	p.follow("#state a", "newest record", "to 162 of 162")
	p.await("its end", "(() => { const last = [...document.querySelectorAll('.entry')].pop().getBoundingClientRect(); return last.bottom <= innerHeight && last.top > 0 })()")
	p.key("n")
	p.await("there is no later request", "document.querySelector('#told').innerText === 'No later request'")
	p.quiet("state", s)
}

// TestFilter: the filters can be opened on a telephone, are open where one is set, and are in sight elsewhere.
func TestFilter(t *testing.T) {
	s, p := serve(t, story(t)), newTab(t)
	const seen = "document.querySelector('[name=agent]').checkVisibility()"
	p.enter(s, "/")
	p.await("the filters", seen+" && !document.querySelector('.more summary').checkVisibility()")
	p.size(420, false)
	p.open(s.base + "/")
	p.await("no filters", "document.querySelector('.more summary').checkVisibility() && !"+seen)
	p.click(".more summary")
	p.await("the filters", seen)
	p.open(s.base + "/?agent=codex")
	p.await("the filters, one of which is set", seen)
	p.open(s.base + "/?kind=file&q=tax.py")
	p.await("the calls that change the file", "/call Write/.test(document.querySelector('.hits').innerText) && /call Edit/.test(document.querySelector('.hits').innerText) && !/Bash/.test(document.querySelector('.hits').innerText)")
	p.quiet("filter", s)
}

// TestGrowth: a page that is open shows new records, without moving what is read.
func TestGrowth(t *testing.T) {
	home, text := t.TempDir(), ledger(t)
	lines := bytes.SplitAfter(text, []byte("\n"))
	file := put(t, home, ledgerID, bytes.Join(lines[:40], nil))
	once(t, home)
	s := serve(t, home)
	end, begin := newTab(t), newTab(t)
	end.enter(s, sessionURL(ledgerID)+"?to=40")
	begin.enter(serve(t, home), sessionURL(ledgerID)+"?at=1")
	if strings.Contains(end.text(), "also add a regression test") {
		t.Fatal("the page shows what is not written yet")
	}
	eval[bool](end, "(window.first = document.querySelector('.turns li a')).focus({ preventScroll: true }), true")
	testkit.Put(t, file, string(bytes.Join(lines[:50], nil)))
	once(t, home)
	end.await("some are new", "document.querySelector('#grown').innerText.includes('10 new ↓')")
	testkit.Put(t, file, string(text))
	once(t, home)
	end.await("the new records", "document.querySelector('#entries').innerText.includes('also add a regression test') && document.querySelector('#entries').innerText.includes('My summary does not say')")
	end.await("how many are new", "document.querySelector('#grown').innerText.includes('28 new ↓') && document.querySelector('#grown').checkVisibility()")
	if twice := eval[[]string](end, "[...document.querySelectorAll('#entries [id]')].map(e => e.id).filter((id, i, all) => all.indexOf(id) !== i)"); len(twice) > 0 {
		t.Errorf("records are there twice: %v", twice)
	}
	end.await("the head", "document.querySelector('#said').innerText.includes('to 68 of 68') && document.querySelector('#requests').innerText.includes('also add a regression test') && document.querySelector('#about').innerText.includes('68 records')")
	if !eval[bool](end, "document.activeElement === window.first && document.querySelectorAll('.turns li[data-record]').length > 2") {
		t.Error("a request that has the focus is another one now, or none is new")
	}
	if days := eval[[]string](end, "[...document.querySelectorAll('.day')].map(e => e.textContent)"); len(days) > 2 {
		t.Errorf("the days %v", days)
	}
	begin.await("the note", "/new ↓/.test(document.querySelector('#grown').innerText) && document.querySelector('#grown').getBoundingClientRect().bottom < innerHeight")
	if at := eval[float64](begin, "scrollY"); at != 0 {
		t.Errorf("a page that is read has moved to %f", at)
	}
	end.quiet("growth", s)
}

// TestGrowsOnce: what is on a page does not come again while its session's state changes, and the highlight follows what comes.
func TestGrowsOnce(t *testing.T) {
	home := t.TempDir()
	w := &transcript{id: shopID, cwd: "/home/me/shop", branch: "main", model: "claude-opus-4-6", at: time.Now(), step: time.Second, tokens: 20000}
	w.asks("Count the till.")
	w.says("It has 482 coins.")
	file := put(t, home, w.id, w.Bytes())
	once(t, home)
	s, p := opened(t, home, sessionURL(w.id))
	const still = "document.querySelector('#strip').innerText.includes('ccd does not run')"
	const records = "[...document.querySelectorAll('#entries > .entry')].map(e => e.id)"
	p.await("nothing follows the session", still)
	starts(t, home, "run")
	p.await("the daemon", "!"+still)
	if got := eval[[]string](p, records); !slices.Equal(got, []string{"r1", "r2"}) {
		t.Errorf("the same records are shown as %q", got)
	}
	w.asks("And the notes?")
	testkit.Put(t, file, w.String())
	p.await("the new request", "document.querySelector('#r3')")
	if got := eval[[]string](p, records); !slices.Equal(got, []string{"r1", "r2", "r3"}) {
		t.Errorf("after a new record, they are %q", got)
	}
	if got := eval[string](p, "document.querySelector('.turns [aria-current]').dataset.record"); got != "3" || eval[bool](p, "document.querySelector('#grown').checkVisibility()") {
		t.Errorf("a new request is in view, and #%s the current one, or a note says that it is new", got)
	}
	p.quiet("growth", s)
}

// TestEnded: pages that grow say that their server has ended.
func TestEnded(t *testing.T) {
	s := serve(t, story(t))
	list, one, other := newTab(t), newTab(t), serve(t, s.home)
	list.enter(s, "/")
	one.enter(other, sessionURL(ledgerID)+"?at=1")
	const ended = "document.querySelector('#ended').checkVisibility() && document.querySelector('#ended').innerText.startsWith('ccd web has ended; run ccd web')"
	if eval[bool](list, ended) {
		t.Error("it has not ended")
	}
	s.end()
	list.await("the list says so", ended)
	if eval[bool](one, ended) {
		t.Error("another server has not ended")
	}
	other.end()
	eval[int](one, "scrollTo(0, 600), 0")
	one.await("the session says so, where it can be seen", ended+" && document.querySelector('#ended').getBoundingClientRect().top === 0")
}

// TestNow: what a person sees of a session in which the agent waits with a question.
func TestNow(t *testing.T) {
	home := t.TempDir()
	w := &transcript{id: shopID, cwd: "/home/me/shop", branch: "main", model: "claude-opus-4-6", at: time.Now(), step: time.Second, tokens: 20000}
	w.asks("Count the till.")
	w.edits(w.cwd+"/till.py", "sum(coins)", "sum(coins) + sum(notes)")
	w.runs("git checkout -- till.py", "", 0)
	w.add("queue-operation", map[string]any{"operation": "enqueue", "content": "and count the notes"})
	w.add("queue-operation", map[string]any{"operation": "dequeue"})
	w.asks("and count the notes")
	w.calls("TaskCreate", map[string]any{"subject": "Sum the notes"}, "Task #1 created successfully: Sum the notes", false)
	w.calls("TaskUpdate", map[string]any{"taskId": "1", "status": "in_progress"}, "Updated task #1 status", false)
	question := func(text string, options ...string) map[string]any {
		var all []any
		for _, o := range options {
			all = append(all, map[string]any{"label": o, "description": "of the " + o})
		}
		return map[string]any{"questions": []any{map[string]any{"question": text, "options": all}}}
	}
	w.calls("AskUserQuestion", question("Which till?", "left", "right"), "User has answered your questions: \"Which till?\"=\"right\". You can now continue with the user's answers in mind.", false)
	w.runs("python <<'END'\nprint(count())\nEND", "482 coins", 0)
	result := w.n
	w.answers(map[string]any{"type": "tool_use", "id": "toolu_ask", "name": "AskUserQuestion", "input": question("Which notes?", "fives", "tens", "twenties", "fifties", "hundreds")})
	put(t, home, w.id, w.ending(time.Now()).Bytes())
	once(t, home)
	s := serve(t, home)
	p := newTab(t)
	p.enter(s, "/")
	const still = "ccd does not run, so nothing new appears here"
	if text := p.text(); !strings.Contains(text, "of the hundreds") || eval[bool](p, "[...document.querySelectorAll('.card .md')].some(e => e.scrollHeight > e.clientHeight)") || !strings.Contains(text, still) || strings.Contains(text, "sum(coins)") {
		t.Errorf("the board:\n%s", text)
	}
	if title := eval[string](p, "document.title"); title != "(1) Now · ccd" {
		t.Errorf("the title is %q", title)
	}
	const behind = `(() => { window.Notification = class { static permission = 'granted'; constructor(text) { window.told = text } }; ` +
		`Object.defineProperty(document, 'hidden', { value: true }); badge(); const before = window.told; waits = 0; badge(); return [before, window.told] })()`
	if told := eval[[]string](p, behind); told[0] != "" || told[1] == "" {
		t.Errorf("a page behind others notifies %q", told)
	}
	p.do("a low window", chromedp.EmulateViewport(1280, 300))
	p.open(fmt.Sprintf("%s%s?at=%d#r%d", s.base, sessionURL(w.id), result, result))
	if text := p.text(); !strings.Contains(text, "python <<'END'…") || !strings.Contains(text, "print(count())\nEND") || !strings.Contains(text, "482 coins") || !strings.Contains(text, still) {
		t.Errorf("the result:\n%s", text)
	}
	if !strings.Contains(eval[string](p, "document.querySelector('.strip').innerText"), still) {
		t.Error("no note beside the state that ccd does not run")
	}
	if over := eval[float64](p, "document.querySelector('.strip').getBoundingClientRect().bottom - document.querySelector(':target').closest('.entry').getBoundingClientRect().top"); over > 1 {
		t.Errorf("the strip hides %f px of the entry with the result", over)
	}
	p.open(s.base + sessionURL(w.id))
	if got := eval[[]string](p, "[...document.querySelectorAll('.badge')].map(e => e.textContent)"); !slices.Equal(got, []string{"exit 0", "exit 0", "waiting for you"}) {
		t.Errorf("marked %q", got)
	}
	if text := eval[string](p, "document.querySelector('#life').innerText"); strings.Contains(text, "print(count())") || !strings.Contains(text, "You, typed while the agent worked: and count the notes") || !strings.Contains(text, "▸ Sum the notes") || !strings.Contains(text, "· an answer") || !strings.Contains(text, "✓ right: of the right") || strings.Contains(text, `?"="`) {
		t.Errorf("the session:\n%s", text)
	}
	p.open(s.base + sessionURL(w.id) + "/file?path=till.py")
	if text := p.text(); !strings.Contains(text, "restored by git at #5") {
		t.Errorf("the file:\n%s", text)
	}
	p.open(s.base + sessionURL(w.id))
	p.size(420, false)
	if got := eval[int](p, "[...document.querySelectorAll('.entry .rec')].filter(e => !e.checkVisibility({opacityProperty: true})).length"); got > 0 {
		t.Errorf("%d numbers of records cannot be seen", got)
	}
	p.click(".entry details:not([open]) summary")
	p.await("what was clicked is open", "document.querySelector('.entry:hover details').open")
	p.open(s.base + sessionURL(w.id) + "?at=99999")
	if text := p.text(); !strings.Contains(text, "of the hundreds") {
		t.Errorf("behind the end:\n%s", text)
	}
	p.open(s.base + "/")
	starts(t, home, "run")
	p.await("the daemon", fmt.Sprintf("!document.body.innerText.includes(%q)", still))
	put(t, home, secretID, leaky(time.Now()).Bytes())
	p.await("a new session in the list", "document.querySelectorAll('#rows .title').length === 2")
	p.quiet("now", s)
}

// TestQuestions finds the answers to a user's questions with links only, from the first page.
func TestQuestions(t *testing.T) {
	s, p := serve(t, story(t)), newTab(t)
	home := func() { p.enter(s, "/") }
	has := func(question string, answers ...string) {
		t.Helper()
		text := p.text()
		for _, answer := range answers {
			if !strings.Contains(text, answer) {
				t.Errorf("%s: %s does not say %q:\n%.2500s", question, p.path(), answer, text)
			}
		}
	}

	home()
	p.follow(".board a", shopTitle, shopTitle)
	has("which session needs attention", "waiting for you")

	home()
	p.follow(".sessions a", ledgerTitle, "Requests")
	p.follow(".tabs a", "Compactions", "What was dropped")
	has("what was forgotten at the compaction", "pytest -q tests/test_money.py", "ledger/float_compat.py")

	home()
	p.follow(".sessions a", shopTitle, "Requests")
	p.follow(".tabs a", "Files", "tax.py")
	p.follow("main a", "shop/tax.py", "Versions")
	has("what was the last edit", shopLastEdit)
	versions := eval[[]string](p, "[...document.querySelectorAll('.versions a')].filter(a => a.textContent.startsWith('file after this edit')).map(a => a.getAttribute('href'))")
	if len(versions) < 3 {
		t.Fatalf("the file has %d whole versions", len(versions))
	}
	p.click(fmt.Sprintf(".versions a[href=%q]", versions[1]))
	p.await("the version", fmt.Sprintf("document.querySelector('#text') && document.querySelector('#text').innerText.includes(%q)", shopBefore))
	if text := eval[string](p, "document.querySelector('#text').innerText"); strings.Contains(text, shopLastEdit) || !strings.Contains(text, `"""Taxes of an order."""`) {
		t.Errorf("what the file looked like before its last edit: %s", text)
	}
	p.quiet("questions", s)
}
