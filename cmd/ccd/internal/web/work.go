package web

import (
	"context"
	"io"
	"slices"
	"strings"

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
	err := r.cache.use(ctx, r.library, r.entry, func(one *view.Index) error {
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
	With     int           // the version that it is compared with, from the older to the newer; 0 for none
	Compared string        // how they differ
	Cut      bool
}

// fileVersion is a file after one of its changes.
type fileVersion struct {
	reader.Version
	N int // from 1, the oldest
}

// Lines counts the lines of the file.
func (v fileVersion) Lines() int { return lexicon.AllLines(v.Text) }

// filePage is the page of a file.
func filePage(ctx context.Context, r *request) (answer, error) {
	path, all, show, err := r.versions(ctx, r.library, 0)
	if err != nil {
		return answer{}, err
	}
	d := fileData{head: r.head("files"), Path: path}
	for i, c := range all {
		d.Versions = append(d.Versions, fileVersion{c, i + 1})
	}
	if show > 0 {
		one := d.Versions[show-1]
		if with := r.number("with", 0); with > 0 && with <= len(all) && all[with-1].Known && one.Known {
			d.With, d.Compared = with, all[max(with, show)-1].Compare(&all[min(with, show)-1])
		}
		one.Text = clip(one.Text)
		d.Cut, d.Shown = len(one.Text) < len(all[show-1].Text), &one
	}
	slices.Reverse(d.Versions)
	return answer{template: "file", data: d}, nil
}

// versions returns what a file was, and the number of the version that is asked for, 0 for none. It fails if that is less than least.
func (r *request) versions(ctx context.Context, library *reader.Library, least int) (path string, all []reader.Version, show int, err error) {
	wanted, show := r.URL.Query().Get("path"), r.number("v", 0)
	path, all, err = library.Changes(ctx, r.entry, wanted)
	if err == nil && len(all) == 0 {
		err = archive.ErrNotFound
	}
	if err != nil {
		return "", nil, 0, noneIf(err, "This session read and changed no file %s.", inline(wanted))
	}
	if show < least || show > len(all) {
		err = none("The file has " + words.Count(len(all), "version") + ".")
	}
	return path, all, show, err
}

// fileVersionFile is a version with its secrets, to download. What is left out of texts may make them equal, so the record is also asked
// for.
func fileVersionFile(ctx context.Context, r *request) (answer, error) {
	path, all, show, err := r.versions(ctx, r.library.Exact(), 1)
	if err != nil {
		return answer{}, err
	}
	v := all[show-1]
	if !v.Known || v.Gone != nil || v.Record != r.number("record", 0) {
		return answer{}, none("The whole content of this version is not known from the transcript.")
	}
	return answer{file: &file{"attachment", path[strings.LastIndexAny(path, `/\`)+1:], "text/plain; charset=utf-8", func(w io.Writer) error {
		_, err := io.WriteString(w, v.Text)
		return err
	}}}, nil
}
