package web

import (
	"net/url"
	"strings"
	"testing"

	"ccd/cmd/ccd/internal/dropped"
	"ccd/cmd/ccd/internal/status"
	"ccd/internal/session"
)

// TestChart: the context falls at a compaction, which has a mark; a session without sizes has no chart.
func TestChart(t *testing.T) {
	one := status.Session{Records: 101, Window: 208_000, Step: 20, Curve: []int64{1000, 90_000, 180_000, 10_000, 12_000}}
	c := newChart(one, []dropped.Compaction{{Bound: session.Bound{Before: 190_000}, N: 1, Record: 51, After: 9000}})
	if c.Highest != 190_000 || len(c.Marks) != 1 || c.Marks[0].X != 500 || c.Window <= 0 || strings.Count(c.Line, "L500.0 ") != 2 || strings.Count(c.Line, "L") != 7 {
		t.Errorf("highest %d, marks %v, window at %.1f, line %s", c.Highest, c.Marks, c.Window, c.Line)
	}
	if c := newChart(status.Session{Records: 3}, nil); c.Line != "" {
		t.Error("a chart without a size")
	}
}

func TestPageOfIsALocalPath(t *testing.T) {
	for address, want := range map[string]string{
		"http://h/s/a/b?at=3&token=x": "/s/a/b?at=3", "http://h//evil.example?token=x": "/evil.example", `http://h/\evil.example`: "/%5Cevil.example", "http://h?token=x": "/",
		"http://h/s/a/b%2Fc": "/s/a/b%2Fc",
	} {
		u, err := url.Parse(address)
		if err != nil {
			t.Fatal(err)
		}
		if got := pageOf(u); got != want {
			t.Errorf("%s: %s, want %s", address, got, want)
		}
	}
}

// TestMarkdownIsInert: a text becomes markup of a few kinds, and nothing that leads away, runs or deceives.
func TestMarkdownIsInert(t *testing.T) {
	l := newLook(false)
	for text, want := range map[string]string{
		"**a** `b<i>`\n1. c":                    "<p><strong>a</strong> <code>b&lt;i&gt;</code></p>\n<ol>\n<li>c</li>\n</ol>\n",
		"<script>x</script>":                    "<p>&lt;script&gt;x&lt;/script&gt;</p>\n",
		`[a](javascript:x "t")`:                 "<p>[a](javascript:x &quot;t&quot;)</p>\n",
		`![a]("><b>)`:                           "<p>![a](&quot;&gt;&lt;b&gt;)</p>\n",
		"&#x202e;a":                             `<p>\xe2\x80\xaea</p>` + "\n",
		"# a {onclick=x}":                       "<h1>a {onclick=x}</h1>\n",
		"|a|\n|:-:|\n|b|":                       "<table>\n<thead>\n<tr>\n<th>a</th>\n</tr>\n</thead>\n<tbody>\n<tr>\n<td>b</td>\n</tr>\n</tbody>\n</table>\n",
		strings.Repeat("> - ", 1+maxMarkdown/4): "<pre>" + strings.Repeat("&gt; - ", 1+maxMarkdown/4) + "</pre>",
	} {
		if got := string(l.markdown(text)); got != want {
			t.Errorf("%.40q: %.300q, want %.300q", text, got, want)
		}
	}
}

// TestQuotesHaveNoLinks: an ID and the number of a record are links only in a line of ccd, not in quoted text.
func TestQuotesHaveNoLinks(t *testing.T) {
	all := blocks("/s/a/b", "### Title\nline [ccd w1sm843qvd19 file] and [ccd nothing], \"PR #7\" `#8` #12\n> quoted [ccd w1sm843qvd19 file] #12\n>+ more\n")
	if len(all) != 3 || all[0].Kind != "heading" || len(all[1].Parts) != 6 || all[1].Parts[1].ID != "w1sm843qvd19" || all[1].Parts[2].Text != " file] and [ccd nothing], \"PR #7\" " || all[1].Parts[5].Record != "/s/a/b?at=12#r12" || all[2].Text != "quoted [ccd w1sm843qvd19 file] #12more" {
		t.Errorf("%+v", all)
	}
}
