package web

import (
	"bytes"
	"html/template"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/renderer"
	"github.com/yuin/goldmark/renderer/html"
	"github.com/yuin/goldmark/util"

	"ccd/internal/mark"
)

// newMarkdown renders what an agent writes. The parser knows no HTML, no attributes, no checkboxes and no bare addresses, so a
// text becomes no tags but those of paragraphs, lists, tables, emphasis and code. A link is text that says where it leads.
func newMarkdown() goldmark.Markdown {
	return goldmark.New(
		goldmark.WithParser(parser.NewParser(
			parser.WithBlockParsers(
				util.Prioritized(parser.NewThematicBreakParser(), 200), util.Prioritized(parser.NewListParser(), 300),
				util.Prioritized(parser.NewListItemParser(), 400), util.Prioritized(parser.NewCodeBlockParser(), 500),
				util.Prioritized(parser.NewATXHeadingParser(), 600), util.Prioritized(parser.NewFencedCodeBlockParser(), 700),
				util.Prioritized(parser.NewBlockquoteParser(), 800), util.Prioritized(parser.NewParagraphParser(), 1000)),
			parser.WithInlineParsers(
				util.Prioritized(parser.NewCodeSpanParser(), 100), util.Prioritized(parser.NewLinkParser(), 200),
				util.Prioritized(parser.NewEmphasisParser(), 500)))),
		goldmark.WithExtensions(extension.NewTable(extension.WithTableCellAlignMethod(extension.TableCellAlignNone)), extension.Strikethrough),
		goldmark.WithRendererOptions(html.WithHardWraps(), renderer.WithNodeRenderers(util.Prioritized(links{}, 1))),
	)
}

// maxMarkdown is the longest text that is rendered, because nested brackets and lists take time that grows faster than they do.
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

// links renders links and images.
type links struct{}

// RegisterFuncs implements renderer.NodeRenderer.
func (links) RegisterFuncs(r renderer.NodeRendererFuncRegisterer) {
	r.Register(ast.KindLink, func(w util.BufWriter, _ []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
		return pointing(w, n.(*ast.Link).Destination, entering)
	})
	r.Register(ast.KindImage, func(w util.BufWriter, _ []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
		return pointing(w, n.(*ast.Image).Destination, entering)
	})
}

func pointing(w util.BufWriter, to []byte, entering bool) (ast.WalkStatus, error) {
	tag := "</span>"
	if entering {
		tag = `<span class="to" title="` + template.HTMLEscapeString(string(to)) + `">`
	}
	_, err := w.WriteString(tag)
	return ast.WalkContinue, err
}
