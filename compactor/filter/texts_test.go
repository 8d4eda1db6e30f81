package filter

import (
	"fmt"
	"strings"
)

// replyText is about n bytes of what agents write: paragraphs, bullets, names, figures.
func replyText(n int) string {
	const part = "I looked at `parseFeed` in src/importer/feed.go:120 and the bug is there: RowBuffer drops the last row when flush_rows" +
		" runs twice for part %d. The fix was to keep a cursor, because the mirror reports %d retries in 12 seconds. We decided to" +
		" leave the old importer alone, as nobody has looked at it since spring and its tests are slow.\n\n- tests pass now\n- the docs" +
		" still say v1.2.%d\n\nNext I would look at https://example.org/mill/%d and the timeout of the grpc client. That is a larger" +
		" change, and it can wait until the release is out; what matters first is that the nightly run is green again.\n\n"
	var b strings.Builder
	for i := 0; b.Len() < n; i++ {
		fmt.Fprintf(&b, part, i, i%90, i%7, i)
	}
	return b.String()[:n]
}

// logText is about n bytes of what tools print.
func logText(n int) string {
	var b strings.Builder
	for i := 0; b.Len() < n; i++ {
		fmt.Fprintf(&b, "2026-03-04 09:%02d:%02d INFO src/mill/gate%d.go:%d: opened gate %d in %d ms\n", i/60%60, i%60, i%13, i%400, i, i%90)
	}
	return b.String()[:n]
}

// hardTexts are texts that made other engines slow, each about n bytes.
func hardTexts(n int) map[string]string {
	return map[string]string{
		"replies":        replyText(n),
		"logs":           logText(n),
		"no full stop":   strings.Repeat("the mill and the wheel and ", n/27+1)[:n],
		"base64":         strings.Repeat("aGVsbG8gd29ybGQsIGhvdyBhcmUgeW91IHRvZGF5P", n/41+1)[:n],
		"ab-ab":          strings.Repeat("ab-", n/3+1)[:n],
		"dots":           strings.Repeat("a. ", n/3+1)[:n],
		"dollars":        strings.Repeat("$ a", n/3+1)[:n],
		"backslashes":    strings.Repeat(`\a`, n/2+1)[:n],
		"selects":        strings.Repeat("SELECT ", n/7+1)[:n],
		"blank lines":    strings.Repeat("\n", n),
		"spaces":         strings.Repeat(" ", n),
		"short lines":    strings.Repeat("a\n", n/2+1)[:n],
		"fences":         strings.Repeat("```\na\n", n/6+1)[:n],
		"open braces":    strings.Repeat("{", n),
		"quotes":         strings.Repeat(`"a": `, n/5+1)[:n],
		"phrases":        strings.Repeat("as a result that is not it follows that ", n/40+1)[:n],
		"pairs of digit": strings.Repeat("500 ", n/4+1)[:n],
		"capitals":       strings.Repeat("Aa Bb ", n/6+1)[:n],
		"wide":           strings.Repeat("水車は動く。", n/18+1)[:n/18*18],
	}
}

// shipped are the options as shipped.
func shipped() Options { return Options{Dedup: true, SummaryChars: 600, LongCap: "off"} }
