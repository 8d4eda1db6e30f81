package web

import (
	"context"
	"slices"
	"strings"

	"github.com/rogpeppe/go-internal/diff"

	"ccd/archive"
	"ccd/cmd/ccd/internal/reader"
	"ccd/cmd/ccd/internal/view"
	"ccd/compactor/lexicon"
	"ccd/internal/words"
)

// filesData is the list of a session's files.
type filesData struct {
	head
	Files []view.FileLine
}

func filesPage(ctx context.Context, r *request) (answer, error) {
	d := filesData{head: r.head("files")}
	err := r.shelf.use(ctx, r.library, r.entry, func(one *view.Index) error {
		d.Files = one.Files()
		return nil
	})
	return answer{template: "files", data: d}, err
}

// fileData is the page of one file.
type fileData struct {
	head
	Path     string
	Versions []fileVersion // the newest first
	Shown    *fileVersion  // the version that is shown whole
	Cut      bool
}

// fileVersion is a file after one of its changes.
type fileVersion struct {
	reader.Version
	N    int    // from 1, the oldest
	Diff string // against the version before it that is known
	Here bool
}

// Lines counts the lines of the file.
func (v fileVersion) Lines() int { return lexicon.AllLines(v.Text) }

func filePage(ctx context.Context, r *request) (answer, error) {
	d := fileData{head: r.head("files")}
	wanted := r.URL.Query().Get("path")
	path, all, err := r.library.Changes(ctx, r.entry, wanted)
	if err == nil && len(all) == 0 {
		err = archive.ErrNotFound
	}
	if err != nil {
		return answer{}, noneIf(err, "This session read and changed no file %s.", inline(wanted))
	}
	d.Path, d.Versions = path, versionsOf(all)
	show := r.number("v", 0)
	if show > len(all) {
		return answer{}, none("The file has " + words.Count(len(all), "version") + ".")
	}
	if show > 0 {
		d.Versions[show-1].Here = true
		one := d.Versions[show-1]
		one.Text = clip(one.Text)
		d.Cut, d.Shown = len(one.Text) < len(all[show-1].Text), &one
	}
	slices.Reverse(d.Versions)
	return answer{template: "file", data: d}, nil
}

// versionsOf returns the versions of a file, the oldest first.
func versionsOf(all []reader.Version) (out []fileVersion) {
	before := -1 // the last version that is known
	for i, c := range all {
		v := fileVersion{Version: c, N: i + 1}
		if c.Known {
			if before >= 0 && c.Text != all[before].Text {
				_, text, _ := strings.Cut(string(diff.Diff("before", []byte(all[before].Text), "after", []byte(c.Text))), "@@") // before it are names that say nothing
				v.Diff = "@@" + text
			}
			before = i
		}
		out = append(out, v)
	}
	return out
}
