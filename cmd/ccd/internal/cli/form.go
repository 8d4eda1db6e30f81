package cli

import (
	"fmt"
	"io"
	"strings"

	"ccd/archive"
	"ccd/cmd/ccd/internal/form"
	"ccd/cmd/ccd/internal/reader"
	"ccd/cmd/ccd/internal/resume"
	"ccd/cmd/ccd/internal/web"
	"ccd/compactor"
	"ccd/compactor/companion"
	"ccd/compactor/limits"
)

// PrintForm prints a companion, or one section of it.
func (a *App) PrintForm(c reader.Companion, name, only string) error {
	if only == "" && (name == AsMarkdown || name == "") {
		return a.Print(string(c.Text))
	}
	p, err := companion.Parse(c.Text)
	if err != nil {
		return err
	}
	if only != "" {
		if err := keepSection(&p, only); err != nil {
			return err
		}
	}
	switch name {
	case asJSON:
		d, err := form.JSON(p, c.Known)
		if err != nil {
			return err
		}
		return a.PrintJSON(d)
	case asHTML:
		return a.Shown(func(w io.Writer) error { return web.Companion(p, w) })
	case AsMessages:
		o := c.Made.Options.Part(int64(limits.Chars(int(c.Made.Header.Tokens.Original))))
		list, err := resume.List(p.Fields["agent"], c.Records, resume.Handover{
			Lead: companion.Lead(c.Made.Options.Host, p.Fields["session"], 0), Sections: p.Sections, Budget: limits.Chars(o.MaxTokens),
		})
		if err != nil {
			return err
		}
		return a.Print(string(list))
	}
	text := p.Sections[0].Body
	if rest := strings.TrimSpace(compactor.RestLine); !a.Agent {
		text = strings.Replace(text, "\n"+rest, "\n"+strings.ReplaceAll(rest, "ccd agent", "ccd"), 1)
	}
	return a.PrintWrapped("## " + p.Sections[0].Name + "\n" + text)
}

func keepSection(p *companion.Parsed, name string) error {
	var names []string
	for _, s := range p.Sections {
		if strings.EqualFold(s.Name, name) {
			p.Sections = p.Sections[:0:0]
			p.Sections = append(p.Sections, s)
			return nil
		}
		names = append(names, s.Name)
	}
	return fmt.Errorf("find section %s: %w: the companion has %s", name, archive.ErrNotFound, strings.Join(names, ", "))
}
