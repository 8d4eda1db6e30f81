package history

import (
	"context"
	"fmt"

	"ccd/internal/transcript"
)

// Change is a file after one call that read or changed it. Text is "" and Known false if its content is not wholly known.
type Change struct {
	Version
	Known bool
}

// maxChanges and maxChangeBytes bound what Changes keeps: of a file with more, the newest.
const (
	maxChanges     = 500
	maxChangeBytes = 32 << 20
)

// Changes returns a file after each call of a family that changed it, or showed another content, the oldest first, and its
// path. It fails like File.
func Changes(ctx context.Context, a Archive, family []Source, w Wanted) (path string, all []Change, err error) {
	t, err := touched(ctx, a, family, w)
	if err != nil {
		return "", nil, err
	}
	switch t.paths = newest(t.paths, t.moves); {
	case len(t.paths) == 0:
		return "", nil, fmt.Errorf("find file %s: %w in this session", w.Path, ErrNotFound)
	case len(t.paths) > 1:
		return "", nil, &AmbiguousError{What: "file " + w.Path, Why: "several paths match", Matches: t.paths}
	}
	path = t.paths[0]
	c := changes{key: transcript.PathKey(path)}
	_, err = replayTo(ctx, a, t, w.At, func(p *replay) { c.add(p.files[c.key], path) })
	return path, c.all, err
}

// changes collects the versions of a file.
type changes struct {
	key   string
	all   []Change
	bytes int
	gone  *Event
	seen  Version
}

func (c *changes) add(f *file, path string) {
	if f.gone != nil && f.gone != c.gone {
		c.gone = f.gone
		c.keep(Change{Version: Version{Path: path, How: f.gone.What, Record: f.gone.Record, Time: f.gone.Time, Source: Source{Session: transcript.Session{Key: transcript.Key{ID: f.gone.Session}}}}, Known: true})
		return
	}
	if f.version.Record == 0 || f.version.Record == c.seen.Record && f.version.Source.ID == c.seen.Source.ID {
		return
	}
	c.seen = f.version
	one := Change{Version: f.version}
	one.Path = path
	one.Text, one.Known = f.content.Text()
	if n := len(c.all); n > 0 && one.How == "read" && c.all[n-1].Known && c.all[n-1].Text == one.Text {
		return
	}
	c.keep(one)
}

func (c *changes) keep(one Change) {
	c.all = append(c.all, one)
	for c.bytes += len(one.Text); len(c.all) > 1 && (len(c.all) > maxChanges || c.bytes > maxChangeBytes); c.all = c.all[1:] {
		c.bytes -= len(c.all[0].Text)
	}
}
