//go:build rig

package browser

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"ccd/internal/testkit"
)

// views are the addresses of every kind of page.
func views() []string {
	ledger := sessionURL(ledgerID)
	return []string{
		"/", "/?q=Decimal", "/?q=nothinglikethis", "/?agent=claude-code", ledger, ledger + "?at=1", sessionURL(shopID), ledger + "/compactions", ledger + "/compactions/1",
		ledger + "/companion", ledger + "/files", ledger + "/file?path=ledger/money.py", sessionURL(shopID) + "/file?path=shop/tax.py&v=2",
		ledger + "/r/21", "/o/w1sm843qvd19", sessionURL(secretID) + "/r/3",
	}
}

var widths = []int64{320, 800, 1400}

// finding is a rule of axe that a page breaks.
type finding struct {
	ID     string
	Impact string
	Help   string
	Nodes  []struct {
		Target         []any
		FailureSummary string
	}
}

// axe runs axe-core in the page and returns what is serious or critical. It comes through the debugger, so the page keeps
// its policy.
func (p *tab) axe(source string) (all []finding) {
	p.t.Helper()
	if !eval[bool](p, "!!window.axe") {
		eval[bool](p, source+"; true")
	}
	text := eval[string](p, `axe.run(document, {resultTypes: ['violations'], preload: false}).then(r => JSON.stringify(r.violations.filter(v => v.impact === 'serious' || v.impact === 'critical')))`)
	testkit.Must(p.t, json.Unmarshal([]byte(text), &all))
	return all
}

func axeSource(t testing.TB) string {
	t.Helper()
	return string(testkit.Read(t, filepath.Join(tools, "node_modules", "axe-core", "axe.min.js")))
}

// wide lists the elements that reach beyond the right edge of the page.
const wide = `[...document.querySelectorAll('body *')].filter(e => { const r = e.getBoundingClientRect(); if (r.width === 0 || r.right <= innerWidth + 1) return false;
	for (let up = e.parentElement; up; up = up.parentElement) { const o = getComputedStyle(up).overflowX; if (o !== 'visible') return false } return true })
	.slice(0, 4).map(e => e.tagName + '.' + e.getAttribute('class') + ' ' + e.textContent.slice(0, 40)).join('; ')`

// TestViews opens every page in three widths, in light and dark.
func TestViews(t *testing.T) {
	s, source := serve(t, story(t)), axeSource(t)
	p := newTab(t)
	p.enter(s, "/")
	for _, path := range views() {
		p.open(s.base + path)
		found := map[string]bool{} // reported for this page
		for _, width := range widths {
			for _, dark := range []bool{false, true} {
				p.size(width, dark)
				where := fmt.Sprintf("%s, %d px, dark %t", path, width, dark)
				if over := eval[int](p, "document.documentElement.scrollWidth - innerWidth"); over > 0 {
					t.Errorf("%s: the page scrolls sideways by %d px: %s", where, over, eval[string](p, wide))
				}
				if dark != eval[bool](p, "getComputedStyle(document.documentElement).backgroundColor.match(/\\d+/)[0] < 100") {
					t.Errorf("%s: the background is of the other scheme", where)
				}
				p.quiet(where, s) // before axe, whose own styles the policy refuses
				if width == 800 && dark {
					continue // rules of colour and of width have been checked at this width, and in this scheme
				}
				for _, f := range p.axe(source) {
					if !found[f.ID] {
						t.Errorf("%s: %s (%s): %s, in %d places: %v %s", where, f.ID, f.Impact, f.Help, len(f.Nodes), f.Nodes[0].Target, f.Nodes[0].FailureSummary)
					}
					found[f.ID] = true
				}
				p.taken()
			}
		}
	}
}

// TestViewsCanFail: a page that breaks each of these rules is noticed.
func TestViewsCanFail(t *testing.T) {
	p := newTab(t)
	other := control(t, "default-src 'none'", `<!DOCTYPE html><title>x</title><div style="width:2000px">wide</div><script>window.ran=1</script><script src="http://127.0.0.1:1/x.js"></script><button></button><p style="color:#ddd">faint`)
	p.open(other.base + "/")
	if problems, _ := p.taken(); !strings.Contains(strings.Join(problems, "\n"), "Content Security Policy") {
		t.Errorf("no violation was noticed: %v", problems)
	}
	p.open(other.loose + "/")
	p.size(320, false)
	if eval[int](p, "document.documentElement.scrollWidth - innerWidth") <= 0 || eval[string](p, wide) == "" {
		t.Error("a wide page was not noticed")
	}
	problems, requests := p.taken()
	if !strings.Contains(strings.Join(requests, "\n"), "127.0.0.1:1/") || !strings.Contains(strings.Join(problems, "\n"), "ERR_") {
		t.Errorf("a request to another host was not noticed: %v, %v", requests, problems)
	}
	if found := p.axe(axeSource(t)); len(found) < 2 {
		t.Errorf("axe found only %v", found)
	}
}
