package form

import (
	"fmt"
	"html"
	"strings"

	"ccd/compactor/sidecar"
	"ccd/internal/mark"
	"ccd/internal/transcript"
)

// HTML converts a companion to one self-contained page without scripts or network access, in which all transcript text is
// escaped. Each ID is an anchor (`#ID`) and is listed at the end with the command that restores it. known is as for JSON. It
// fails if the front matter is invalid.
func HTML(p sidecar.Parsed, known []transcript.Pointer) ([]byte, error) {
	f, err := p.Front()
	if err != nil {
		return nil, err
	}
	w := page{seen: map[mark.ID]bool{}}
	title := html.EscapeString(mark.Inline(f.Agent+" "+f.Session, 0))
	w.f(pageHead, title, style, title)
	w.front(p, f)
	w.f("<p class=lead>%s</p>\n", html.EscapeString(strings.TrimSpace(p.Lead)))
	for _, s := range p.Sections {
		w.f("<section>\n<h2 id=\"%s\">%[1]s</h2>\n", html.EscapeString(s.Name))
		w.body(s.Body)
		w.f("</section>\n")
	}
	w.originals(pointers(p, known))
	w.f("</main>\n</body>\n</html>\n")
	return []byte(w.String()), nil
}

// pageHead begins the page. Its content security policy keeps a browser from loading or running anything.
const pageHead = `<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="referrer" content="no-referrer">
<title>%s</title>
<style>%s</style>
</head>
<body>
<main>
<h1>%s</h1>
`

const style = `
:root { --text: #1b1b1b; --back: #ffffff; --soft: #5a5a5a; --line: #d5d5d5; --quote: #f5f5f3; --link: #0b57a4 }
@media (prefers-color-scheme: dark) {
  :root { --text: #e4e4e4; --back: #161616; --soft: #a3a3a3; --line: #3a3a3a; --quote: #212121; --link: #8ab8ee }
}
body { color: var(--text); background: var(--back); font: 15px/1.5 system-ui, sans-serif; margin: 0 }
main { max-width: 60rem; margin: 0 auto; padding: 1rem }
h1 { font-size: 1.2rem; overflow-wrap: anywhere }
h2 { font-size: 1.1rem; border-bottom: 1px solid var(--line); margin-top: 2rem }
h3 { font-size: 1rem; overflow-wrap: anywhere }
p { margin: .3rem 0; white-space: pre-wrap; overflow-wrap: anywhere }
.lead, th { color: var(--soft) }
pre { background: var(--quote); border-left: 3px solid var(--line); margin: .3rem 0; padding: .4rem .7rem; white-space: pre-wrap; overflow-wrap: anywhere; font: 13px/1.45 ui-monospace, monospace }
table { border-collapse: collapse; font-size: 13px }
th, td { text-align: left; vertical-align: top; padding: .15rem .8rem .15rem 0; overflow-wrap: anywhere; font-weight: normal }
a { color: var(--link); text-decoration: none }
a:hover, a:focus { text-decoration: underline }
a.id, code { font-family: ui-monospace, monospace; font-size: 13px }
code { user-select: all }
:target { outline: 2px solid var(--link) }
`

// page builds the HTML.
type page struct {
	strings.Builder
	seen map[mark.ID]bool // IDs that have an anchor
}

func (w *page) f(format string, args ...any) { fmt.Fprintf(w, format, args...) }

// front writes the front matter as a table, in its order.
func (w *page) front(p sidecar.Parsed, f sidecar.Front) {
	w.f("<table>\n")
	for _, key := range []string{"manual", "parent", "source", "covers", "model", "context_window", "pressure", "level", "tokens", "key_information", "missing", "redacted", "verified", "reason"} {
		if value := p.Fields[key]; value != "" {
			w.f("<tr><th>%s</th><td>%s</td></tr>\n", strings.ReplaceAll(key, "_", " "), html.EscapeString(mark.Inline(value, 0)))
		}
	}
	w.f("<tr><th>options</th><td>%s, rules %s</td></tr>\n</table>\n", html.EscapeString(f.Options), html.EscapeString(p.Fields["rules"]))
}

// body writes a section: quoted lines unquoted, headings, and other lines with links for their IDs.
func (w *page) body(text string) {
	var quote []string
	flush := func() {
		if quote != nil { // a browser drops a line end right after the tag
			w.f("<pre>\n%s</pre>\n", html.EscapeString(strings.Join(quote, "\n")))
			quote = nil
		}
	}
	for line := range strings.Lines(text) {
		line = strings.TrimSuffix(line, "\n")
		bare := strings.TrimLeft(line, " ")
		if more, ok := strings.CutPrefix(bare, ">+ "); ok && quote != nil {
			quote[len(quote)-1] += more
			continue
		}
		if said, ok := strings.CutPrefix(bare, ">"); ok && (said == "" || said[0] == ' ') {
			quote = append(quote, strings.TrimPrefix(said, " "))
			continue
		}
		flush()
		if title, ok := strings.CutPrefix(line, "### "); ok {
			w.f("<h3>%s</h3>\n", w.marked(title))
		} else if bare != "" {
			w.f("<p>%s</p>\n", w.marked(line))
		}
	}
	flush()
}

// marked returns one of ccd's lines with its IDs linked to the list of originals. The first occurrence of an ID is its anchor.
func (w *page) marked(line string) string {
	const begin = "[ccd "
	var b strings.Builder
	for {
		i := strings.Index(line, begin)
		if i < 0 {
			b.WriteString(html.EscapeString(line))
			return b.String()
		}
		i += len(begin)
		b.WriteString(html.EscapeString(line[:i]))
		line = line[i:]
		if len(line) <= mark.IDLen || !mark.IsID(line[:mark.IDLen]) || line[mark.IDLen] != ' ' && line[mark.IDLen] != ']' {
			continue
		}
		id := mark.ID(line[:mark.IDLen])
		anchor := ""
		if !w.seen[id] {
			w.seen[id] = true
			anchor = fmt.Sprintf(" id=\"%s\"", id)
		}
		fmt.Fprintf(&b, "<a class=id%s href=\"#restore-%s\">%[2]s</a>", anchor, id)
		line = line[mark.IDLen:]
	}
}

// originals lists every ID with the command that restores it.
func (w *page) originals(all []pointer) {
	if len(all) == 0 {
		return
	}
	w.f("<section>\n<h2 id=\"Originals\">Originals</h2>\n<table>\n")
	for _, p := range all {
		where := ""
		switch {
		case p.Last > p.Record:
			where = fmt.Sprintf("#%d to #%d", p.Record, p.Last)
		case p.Record > 0:
			where = fmt.Sprintf("#%d", p.Record)
		}
		what := p.Kind
		if p.Note != "" && p.Note != p.Kind {
			what = strings.TrimSpace(what + " " + p.Note)
		}
		w.f("<tr id=\"restore-%s\"><td><a class=id href=\"#%[1]s\">%[1]s</a></td><td><code>ccd restore %[1]s</code></td><td>%s</td><td>%s</td></tr>\n",
			p.ID, where, html.EscapeString(mark.Inline(what, 200)))
	}
	w.f("</table>\n</section>\n")
}
