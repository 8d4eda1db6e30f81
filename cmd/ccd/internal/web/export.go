package web

import (
	"cmp"
	"context"
	"io"

	"ccd/cmd/ccd/internal/dropped"
	"ccd/cmd/ccd/internal/reader"
	"ccd/cmd/ccd/internal/view"
)

// mostExported is how many compactions a file compares with the session: each reads the session.
const mostExported = 20

// exported is a session as one file.
type exported struct {
	lifeData
	Forgotten []compactionData
	Files     []view.FileLine
}

// Export writes a session as one page that needs nothing else. Its entries are written in parts, so that memory does not grow
// with the session.
func Export(ctx context.Context, l *reader.Library, e *reader.Entry, w io.Writer) error {
	one := &view.Index{}
	if err := one.Grow(ctx, l, e); err != nil {
		return err
	}
	r := request{library: l, entry: e}
	d := exported{lifeData: lifeData{head: r.head("life")}, Files: one.Files()}
	if err := cmp.Or(d.overview(ctx, one), d.forgotten(ctx, one)); err != nil {
		return err
	}
	look := newLook(true)
	if err := look.ExecuteTemplate(w, "export", d); err != nil {
		return err
	}
	if err := d.entries(ctx, one, look, w); err != nil {
		return err
	}
	return look.ExecuteTemplate(w, "end", nil)
}

func (d *exported) forgotten(ctx context.Context, one *view.Index) error {
	for _, k := range d.Compactions[max(0, len(d.Compactions)-mostExported):] {
		f, err := one.Forgotten(ctx, dropped.Choice{Boundary: k.N, Most: mostLines})
		if err != nil {
			return err
		}
		d.Forgotten = append(d.Forgotten, newCompaction(d.head, f))
	}
	return nil
}

// entries writes the conversation, page by page.
func (d *exported) entries(ctx context.Context, one *view.Index, look *look, w io.Writer) error {
	var page []view.Entry
	flush := func() error {
		part := lifeData{head: d.head, Records: one.Records, Place: view.Place{First: page[0].Record, Last: page[len(page)-1].Record}}
		part.fill(one, page)
		page = page[:0]
		return look.ExecuteTemplate(w, "entries", part)
	}
	for e, err := range one.Entries(ctx, one.First, one.Records) {
		if err == nil && len(page) >= perLife && e.Record != page[len(page)-1].Record {
			err = flush()
		}
		if err != nil {
			return err
		}
		page = append(page, e)
	}
	if len(page) == 0 {
		return nil
	}
	return flush()
}
