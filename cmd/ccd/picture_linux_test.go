package main

import (
	"bytes"
	"fmt"
	"html"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"ccd/cmd/ccd/internal/table"
	"ccd/internal/words"
)

// shown is a command in docs/picture.svg, or what somebody said. only selects lines of the output (nil: all).
type shown struct {
	who  string // the name before a text that the command prints; "": the command is shown before its output
	line string
	only *regexp.Regexp
}

const pictureColumns = 92

// screens are the commands of docs/LOOK.md, which are shown as terminals of 80 and 120 columns show them.
var screens = []string{"ls", "show 5d2f7a1e", "timeline 5d2f7a1e", "diff 5d2f7a1e", "search Decimal"}

var pictured = []shown{
	{"you", "ccd restore 5d2f7a1e#67", nil},
	{"agent", "ccd restore 5d2f7a1e#68", nil},
	{"", "ccd search Decimal", regexp.MustCompile(`#21 |exporter truncates|Rejected|ms against 41|41 ms o`)},
	{"what an agent that is connected reads after the compaction", "ccd hook SessionStart --agent claude-code", regexp.MustCompile("^#21 ")},
}

// TestDocsPicture checks that the pictures show what the commands print on a terminal for invented sessions, of which an agent
// compacted one.
func TestDocsPicture(t *testing.T) {
	home := t.TempDir()
	for path, parts := range map[string][]string{
		".claude/projects/-home-me-ledger/5d2f7a1e-90c4-4a1b-8a53-0c1d2e3f4a5b.jsonl":                       {"story/ledger.jsonl", "story/compaction.jsonl"},
		".codex/sessions/2025/09/14/rollout-2025-09-14T08-00-01-019a4c00-7b1e-7c20-9f00-5a0b6c7d8e01.jsonl": {"../../internal/agent/registry/testdata/story/codex.jsonl"},
		".pi/agent/sessions/--home-me-shop--/2025-01-02T10-00-00-000Z_a-name-of-its-own.jsonl":              {"../../internal/agent/registry/testdata/story/pi.jsonl"},
	} {
		var session []byte
		for _, part := range parts {
			session = append(session, read(t, part)...)
		}
		path = filepath.Join(home, path)
		session = bytes.ReplaceAll(session, []byte(`"2026-`), []byte(`"2020-`))
		put(t, path, string(session))
	}
	once(t, home)
	// The sessions are of 2020, which has the weekdays of 2026, so that their ages are dates on any day.
	screen := func(columns uint16, line string) string {
		line, _, _ = strings.Cut(strings.TrimPrefix(line, "ccd "), " #")
		return strings.ReplaceAll(onScreen(t, home, columns, strings.Fields(line)), "2020", "2026")
	}
	place := hookPlace{t: t, home: home, path: filepath.Join(home, ".claude/projects/-home-me-ledger/5d2f7a1e-90c4-4a1b-8a53-0c1d2e3f4a5b.jsonl")}
	var scenes [][]string
	for _, s := range pictured {
		if strings.HasPrefix(s.line, "ccd hook ") {
			scenes = append(scenes, s.text(place.hookContext()))
			continue
		}
		scenes = append(scenes, s.text(screen(pictureColumns, s.line)))
	}
	golden(t, "../../docs/picture.svg", svg(pictureColumns, scenes))
	for _, columns := range []int{80, 120} {
		var all []string
		fits(t, screen(uint16(columns), "status")+screen(uint16(columns), "status --totals"), columns)
		for _, line := range screens {
			text := screen(uint16(columns), line)
			if line != "show 5d2f7a1e" {
				fits(t, text, columns)
			}
			all = append(all, shown{line: "ccd " + line}.text(text)...)
		}
		golden(t, fmt.Sprintf("../../docs/screens-%d.svg", columns), svg(columns, [][]string{all}))
	}
}

// fits checks that no line is wider than the terminal.
func fits(t *testing.T, screen string, columns int) {
	t.Helper()
	for line := range strings.SplitSeq(sgr.ReplaceAllString(screen, ""), "\n") {
		if table.CellsOf(line) > columns {
			t.Errorf("%d cells on a terminal of %d: %s", table.CellsOf(line), columns, line)
		}
	}
}

// text returns the command after a prompt or who speaks, the output and an empty line.
func (s shown) text(screen string) []string {
	text, left := []string{"\x1b[1m$ " + s.line + "\x1b[0m"}, false
	switch {
	case s.who != "" && s.only != nil:
		text, left = []string{"\x1b[36m" + s.who + ":\x1b[0m"}, true
	case s.who != "":
		return []string{fmt.Sprintf("\x1b[36m%-7s\x1b[0m%s", s.who+":", strings.TrimSpace(screen)), ""}
	}
	for line := range strings.SplitSeq(strings.TrimRight(screen, "\n"), "\n") {
		if s.only != nil && !s.only.MatchString(line) {
			if !left {
				text = append(text, "…")
			}
			left = true
			continue
		}
		text, left = append(text, line), false
	}
	return append(text, "")
}

// onScreen returns what a command prints on a terminal.
func onScreen(t *testing.T, home string, columns uint16, args []string) string {
	t.Helper()
	c, _, seen := startOnTerminal(t, home, columns, 60, []string{"TZ=UTC", "LC_ALL=C.UTF-8", "CCD_COMPANION_HOST=forge"}, nil, args...)
	if code := exitOf(t, c, seen); code != words.ExitDone {
		t.Fatalf("ccd %s: exit %d: %s", strings.Join(args, " "), code, seen)
	}
	return cleared.ReplaceAllString(strings.ReplaceAll(seen.String(), "\r\n", "\n"), "")
}

// cleared matches a cleared progress line.
var cleared = regexp.MustCompile(`(?m)^.*\x1b\[K`)

var sgr = regexp.MustCompile(`\x1b\[([0-9;]*)m`)

// styles maps terminal codes to SVG attributes.
var styles = map[string]string{
	"1": `font-weight="bold"`, "2": `fill="#8b949e"`, "31": `fill="#ff7b72"`, "32": `fill="#7ee787"`, "33": `fill="#e3b341"`,
	"34": `fill="#79c0ff"`, "35": `fill="#d2a8ff"`, "36": `fill="#76e3ea"`, "90": `fill="#8b949e"`,
}

// svg draws commands and what they print, with their colors, one command after the other. All of it can be read at any time:
// a picture that moves only dims what comes later.
func svg(columns int, scenes [][]string) string {
	const cell, row, margin, lasts = 9, 20, 20, 2.5 // lasts: seconds
	var rows [][]string
	n := 0
	for i, lines := range scenes {
		rows = append(rows, nil)
		for _, line := range lines {
			rows[i] = append(rows[i], wrapped(line, columns)...)
		}
		n += len(rows[i])
	}
	width, height := columns*cell+2*margin, (n-1)*row+2*margin
	var b strings.Builder
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" viewBox="0 0 %[1]d %[2]d" role="img">
<title>ccd in a terminal: made by make picture</title>
<rect width="100%%" height="100%%" rx="8" fill="#0d1117"/>
<g fill="#e6edf3" font-family="ui-monospace,SFMono-Regular,Menlo,Consolas,'DejaVu Sans Mono',monospace" font-size="14">
`, width, height)
	y := margin + 14
	for i, lines := range rows {
		b.WriteString("<g>")
		if i > 0 {
			fmt.Fprintf(&b, `<set attributeName="opacity" to="0.4" begin="1s" dur="%gs"/>`, float64(i)*lasts)
		}
		b.WriteByte('\n')
		for _, line := range lines {
			if line != "" {
				fmt.Fprintf(&b, "<text x=\"%d\" y=\"%d\" xml:space=\"preserve\">%s</text>\n", margin, y, spans(line))
			}
			y += row
		}
		b.WriteString("</g>\n")
	}
	b.WriteString("</g>\n</svg>\n")
	return b.String()
}

// spans converts the color codes of a line to elements.
func spans(line string) string {
	var b strings.Builder
	style := ""
	for line != "" {
		text, code := line, ""
		if at := sgr.FindStringSubmatchIndex(line); at != nil {
			text, code, line = line[:at[0]], line[at[2]:at[3]], line[at[1]:]
		} else {
			line = ""
		}
		switch {
		case text != "" && style != "":
			fmt.Fprintf(&b, "<tspan %s>%s</tspan>", style, html.EscapeString(text))
		default:
			b.WriteString(html.EscapeString(text))
		}
		style = ""
		for n := range strings.SplitSeq(code, ";") {
			style = strings.TrimSpace(style + " " + styles[n])
		}
	}
	return b.String()
}

// wrapped splits a line into rows of so many columns, between words where it can.
func wrapped(line string, columns int) []string {
	var rows []string
	column, start, space := 0, 0, 0
	for i := 0; i < len(line); {
		if at := sgr.FindStringIndex(line[i:]); at != nil && at[0] == 0 {
			i += at[1]
			continue
		}
		if column == columns {
			end := i
			if space > start {
				end = space
			}
			rows, start = append(rows, line[start:end]), end
			column = utf8.RuneCountInString(sgr.ReplaceAllString(line[end:i], ""))
		}
		_, size := utf8.DecodeRuneInString(line[i:])
		if i, column = i+size, column+1; line[i-1] == ' ' {
			space = i
		}
	}
	return append(rows, line[start:])
}

// TestReadmeExamples: on a terminal, each command of README prints the lines below it, here far from the time zone in which they are shown.
func TestReadmeExamples(t *testing.T) {
	home := t.TempDir()
	year := strings.NewReplacer("2026-11-", "2020-11-") // as in TestDocsPicture
	put(t, filepath.Join(home, ".claude/projects/-home-me-ledger/5d2f7a1e-90c4-4a1b-8a53-0c1d2e3f4a5b.jsonl"), year.Replace(ledger(t)))
	once(t, home)
	local, seen := strings.NewReplacer("2020-11-20 09:1", "2020-11-20 04:1", "2020-11-20 11:36", "2020-11-20 06:36", "20 Nov ", "2020-11-20 "), 0
	text, _, _ := strings.Cut(year.Replace(string(read(t, "../../README.md"))), "## Connect") // what follows prints nothing
	for _, example := range strings.Split(strings.Join(block.FindAllString(text, -1), "\n"), "    $ ccd ")[1:] {
		lines := strings.Split(strings.TrimSpace(example), "\n")
		line, _, _ := strings.Cut(lines[0], "  #")
		if line = strings.TrimSpace(line); line == "top" || line == "web" { // they run until somebody ends them
			continue
		}
		c, _, out := startOnTerminal(t, home, 400, 60, []string{"TZ=America/New_York"}, nil, strings.Fields(line)...)
		if code := exitOf(t, c, out); code != words.ExitDone {
			t.Errorf("ccd %s: exit %d: %s", line, code, out)
		}
		has := strings.Join(strings.Fields(sgr.ReplaceAllString(out.String(), "")), " ")
		for _, want := range lines[1:] {
			for part := range strings.SplitSeq(local.Replace(want), "…") {
				if seen++; !strings.Contains(has, strings.Join(strings.Fields(part), " ")) {
					t.Errorf("ccd %s prints no %q: %s", line, part, out)
				}
			}
		}
	}
	if seen < 10 {
		t.Errorf("%d lines seen", seen)
	}
}
