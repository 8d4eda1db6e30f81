package web

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"fmt"
	"html/template"
	"net/url"
	"reflect"
	"strings"
	"time"

	"github.com/dustin/go-humanize"
	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/renderer/html"
	"github.com/yuin/goldmark/util"

	"ccd/cmd/ccd/internal/dropped"
	"ccd/cmd/ccd/internal/reader"
	"ccd/cmd/ccd/internal/status"
	"ccd/cmd/ccd/internal/table"
	"ccd/internal/agent/registry"
	"ccd/internal/lazy"
	"ccd/internal/mark"
	"ccd/internal/words"
)

//go:embed assets/style.css assets/app.js assets/icon.svg templates/*.html
var files embed.FS

// look is how pages look: the templates.
type look struct {
	*template.Template
	goldmark goldmark.Markdown
}

// newLook parses the templates. Static pages link only to themselves.
func newLook(static bool) *look {
	l := &look{template.New(""), newMarkdown()}
	l.Funcs(template.FuncMap{
		"static": func() bool { return static },
		"style":  func() template.CSS { return template.CSS(asset("style.css")) }, // ccd's own file
		"policy": filePolicy,
		"url":    address, "visible": visible, "inline": inline, "cut": cut, "shorten": table.Cut, "base": words.Directory,
		"local":  words.Local,
		"ago":    func(t time.Time) string { return words.Ago(t, time.Now()) },
		"kind":   func(what string) string { return cmp.Or(kinds[what], what) },
		"clock":  func(t time.Time) string { return words.Format(t.Local(), "15:04") },
		"day":    func(t time.Time) string { return words.Format(t.Local(), "Monday, 2 January 2006") },
		"iso":    func(t time.Time) string { return t.UTC().Format(time.RFC3339) },
		"tokens": words.Tokens, "comma": func(n any) string { return humanize.Comma(reflect.ValueOf(n).Int()) }, "bytes": func(n int64) string { return humanize.IBytes(uint64(max(0, n))) }, "count": words.Count,
		"class": func(c dropped.Class) string { return cmp.Or(classNames[c], string(c)) }, "add": func(a, b int) int { return a + b },
		"sub": func(a, b int) int { return a - b },
		"mul": func(a, b float64) float64 { return a * b }, "down": func(share float64) float64 { return 1 - share },
		"share": func(a, b int) string { return fmt.Sprintf("%.1f", 100*float64(a)/float64(max(1, b))) }, "blocks": blocks, "markdown": l.markdown, "sort": diffKind, "called": func(e *reader.Entry) string { return status.Of(e).Called() }, "step": func(status string) string { return cmp.Or(steps[status], "○") },
		"shell": words.Argument, "exact": words.Exact,
		"short": registry.Table{}.Short, "lines": strings.Lines, "way": func(how string) string { return ways[how] }, "plain": func(text string) string { return strings.ReplaceAll(text, "**", "") }, "pause": words.Short,
		"args": func(all ...any) []any { return all }, "has": strings.Contains, "words": func(name string) string { return strings.ReplaceAll(name, "_", " ") }, "below": below,
		"first": func(text string) string { line, _, _ := strings.Cut(text, "\n"); return line },
	})
	template.Must(l.ParseFS(files, "templates/*.html"))
	return l
}

func asset(name string) string {
	data, err := files.ReadFile("assets/" + name)
	if err != nil {
		panic(err) // the names are constants
	}
	return string(data)
}

// filePolicy is the content security policy of an exported file: it may show its own style, and nothing else.
func filePolicy() string {
	sum := sha256.Sum256([]byte(asset("style.css")))
	return "default-src 'none'; style-src 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'; img-src data:; base-uri 'none'; form-action 'none'"
}

func (l *look) text(name string, data any) ([]byte, error) {
	var b bytes.Buffer
	if err := l.ExecuteTemplate(&b, name, data); err != nil {
		return nil, fmt.Errorf("make page: %w", err)
	}
	return b.Bytes(), nil
}

// address joins the parts of a path, each escaped as one segment.
func address(parts ...any) string {
	var b strings.Builder
	for _, p := range parts {
		b.WriteString("/" + url.PathEscape(fmt.Sprint(p)))
	}
	return b.String()
}

// visible is a text as a page shows it: without colours, and with what else controls a terminal or deceives made visible.
func visible(text string) string { return mark.Visible(uncoloured(text)) }

func inline(text string) string { return cut(text, 0) }

func cut(text string, most int) string { return mark.Inline(uncoloured(text), most) }

// colours matches what gives a terminal a colour or a weight.
var colours = lazy.Regexp("\x1b\\[[0-9;:]*m")

func uncoloured(text string) string {
	if !strings.Contains(text, "\x1b") {
		return text
	}
	return colours().ReplaceAllString(text, "")
}

// below is a path without the directory that it is in.
func below(dir, path string) string {
	if rest, ok := strings.CutPrefix(path, strings.TrimRight(dir, `/\`)+"/"); ok && dir != "" {
		return rest
	}
	return path
}

// classNames are what people call the classes of facts.
var classNames = map[dropped.Class]string{
	dropped.Asked: "What you asked", dropped.Decisions: "Your answers and refusals", dropped.Files: "Changed files", dropped.Failures: "Failures",
	dropped.Checks: "Checks, as last run", dropped.Commits: "Commits",
}

// kinds are what the page of a session calls what a search finds.
var kinds = map[string]string{"human": "you", "thinking": "reasoning"}

// ways say how a person spoke within a request. A command of theirs is no message.
var ways = map[string]string{reader.Queued: "typed while the agent worked", reader.Refusal: "at a refusal", reader.Answer: "an answer"}

// steps are the signs of the steps of a plan.
var steps = map[string]string{"completed": "✓", "in_progress": "▸"}

// newMarkdown renders what an agent writes. The parser knows no HTML, no links, no attributes, no checkboxes and no bare addresses, so
// a text becomes no tags but those of paragraphs, lists, tables, emphasis and code. A link stands as it was written.
func newMarkdown() goldmark.Markdown {
	return goldmark.New(
		goldmark.WithParser(parser.NewParser(
			parser.WithBlockParsers(
				util.Prioritized(parser.NewThematicBreakParser(), 200), util.Prioritized(parser.NewListParser(), 300),
				util.Prioritized(parser.NewListItemParser(), 400), util.Prioritized(parser.NewCodeBlockParser(), 500),
				util.Prioritized(parser.NewATXHeadingParser(), 600), util.Prioritized(parser.NewFencedCodeBlockParser(), 700),
				util.Prioritized(parser.NewBlockquoteParser(), 800), util.Prioritized(parser.NewParagraphParser(), 1000)),
			parser.WithInlineParsers(util.Prioritized(parser.NewCodeSpanParser(), 100), util.Prioritized(parser.NewEmphasisParser(), 500)))),
		goldmark.WithExtensions(extension.NewTable(extension.WithTableCellAlignMethod(extension.TableCellAlignNone)), extension.Strikethrough),
		goldmark.WithRendererOptions(html.WithHardWraps()),
	)
}

// maxMarkdown is the longest text that is rendered, because nested lists and quotes take time that grows faster than they do.
const maxMarkdown = 32 << 10

// markdown returns a text as HTML. Characters that deceive are made visible, also those that entities stand for.
func (l *look) markdown(text string) template.HTML {
	var b bytes.Buffer
	text = visible(text)
	if len(text) > maxMarkdown || l.goldmark.Convert([]byte(text), &b) != nil {
		return template.HTML("<pre>" + template.HTMLEscapeString(text) + "</pre>")
	}
	return template.HTML(mark.Visible(b.String()))
}
