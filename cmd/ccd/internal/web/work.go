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
	mostCommands = 300     // on a page
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

// commandsData is the list of a session's commands.
type commandsData struct {
	head
	Only     string        `json:"only"` // "failed", or ""
	Commands []commandLine `json:"commands"`
	Runs     int           `json:"runs"`
	Failed   int           `json:"failed"`
	Fixed    int           `json:"fixed"`
	Page     int           `json:"page"`
	Pages    int           `json:"pages"`
}

// commandLine is one command that ran.
type commandLine struct {
	view.Command
	Fixes int  `json:"fixes,omitempty"`   // record of the first failure that this success ends
	Again bool `json:"unfixed,omitempty"` // it failed and nothing resolved it later
	Bad   bool `json:"-"`
}

func commandsPage(ctx context.Context, r *request) (answer, error) {
	d := commandsData{head: r.head("commands"), Only: r.URL.Query().Get("only"), Commands: []commandLine{}}
	var all []commandLine
	err := r.shelf.use(ctx, r.library, r.entry, wholly, func(indexed *life, _ archive.Generation) error {
		all = linesOf(indexed.life.Commands())
		return nil
	})
	if err != nil {
		return answer{}, err
	}
	d.count(all)
	if d.Only == "failed" {
		all = related(all)
	}
	d.Pages = max(1, (len(all)+mostCommands-1)/mostCommands)
	d.Page = max(1, min(r.number("page", d.Pages), d.Pages)) // the newest page, as of a session
	d.Commands = append(d.Commands, all[(d.Page-1)*mostCommands:min(len(all), d.Page*mostCommands)]...)
	return answer{"commands", d}, nil
}

func (d *commandsData) count(all []commandLine) {
	d.Runs = len(all)
	for _, c := range all {
		if c.Bad {
			d.Failed++
		}
		if c.Fixes > 0 {
			d.Fixed++
		}
	}
}

// linesOf marks failures, and successes that resolve them.
func linesOf(ran []view.Command) (all []commandLine) {
	first := map[int]int{} // failure, by the success that resolved it
	for _, c := range ran {
		bad := c.Exit != nil && *c.Exit != 0
		all = append(all, commandLine{Command: c, Bad: bad, Again: bad && c.Fixed == 0, Fixes: first[c.Record]})
		if c.Fixed > 0 && first[c.Fixed] == 0 {
			first[c.Fixed] = c.Record
		}
	}
	return all
}

// related keeps the failures and what ended them.
func related(all []commandLine) (out []commandLine) {
	for _, c := range all {
		if c.Bad || c.Fixes > 0 {
			out = append(out, c)
		}
	}
	return out
}
