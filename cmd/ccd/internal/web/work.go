package web

import (
	"context"
	"fmt"
	"strings"

	"ccd/archive"
	"ccd/cmd/ccd/internal/history"
	"ccd/cmd/ccd/internal/view"
)

const (
	mostFiles    = 1000
	mostVersions = 100     // of a file, on a page
	maxFile      = 1 << 20 // bytes of a version that are shown
)

// filesData is the list of a session's files.
type filesData struct {
	head
	Files []view.FileLine `json:"files"`
	More  int             `json:"more"`
}

func filesPage(ctx context.Context, r *request) (answer, error) {
	d := filesData{head: r.head("files"), Files: []view.FileLine{}}
	err := r.shelf.use(ctx, r.library, r.entry, awhile, func(indexed *life, _ archive.Generation) error {
		one := indexed.life
		all := one.Files()
		d.Files = append(d.Files, all[:min(len(all), mostFiles)]...)
		d.More = len(all) - len(d.Files)
		d.Reading = indexed.reading()
		return nil
	})
	return answer{"files", d}, err
}

// fileData is the page of one file.
type fileData struct {
	head
	Path     string        `json:"path"`
	Versions []fileVersion `json:"versions"` // the newest first
	More     int           `json:"more"`
	Shown    *fileVersion  `json:"shown"` // the version that is shown whole
	Cut      bool          `json:"cut"`
}

type fileVersion struct {
	view.Version
	N     int        `json:"n"` // from 1, the oldest
	Lines []diffLine `json:"-"`
	Here  bool       `json:"-"`
}

func filePage(ctx context.Context, r *request) (answer, error) {
	d := fileData{head: r.head("files"), Path: r.URL.Query().Get("path"), Versions: []fileVersion{}}
	path, all, err := view.Versions(ctx, r.library, r.entry, d.Path)
	if err == nil && len(all) == 0 {
		err = fmt.Errorf("find file %s: %w", inline(d.Path), history.ErrNotFound)
	}
	if err != nil {
		return answer{}, err
	}
	d.Path = path
	show := min(r.number("v", 0), len(all))
	for i := len(all) - 1; i >= max(0, len(all)-mostVersions); i-- {
		d.Versions = append(d.Versions, newVersion(all[i], i+1, show))
	}
	d.More = len(all) - len(d.Versions)
	if show > 0 {
		one := newVersion(all[show-1], show, show)
		if d.Cut = len(one.Text) > maxFile; d.Cut {
			one.Text = strings.ToValidUTF8(one.Text[:maxFile], "")
		}
		d.Shown = &one
	}
	return answer{"file", d}, nil
}

func newVersion(v view.Version, n, show int) fileVersion {
	diff := v.Diff[max(0, strings.Index(v.Diff, "@@")):] // before it are names that say nothing
	return fileVersion{Version: v, N: n, Here: n == show, Lines: diffLines(diff)}
}
