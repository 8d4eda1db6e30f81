package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/dustin/go-humanize"
	"github.com/spf13/cobra"

	"ccd/archive"
	"ccd/internal/atomicfile"
)

// backupOutput is what backup prints with --json. ID is "" for an archive of schema 1 and its copies.
type backupOutput struct {
	File     string        `json:"file"`
	Archive  string        `json:"archive"`
	ID       string        `json:"id"`
	Sessions int           `json:"sessions"`
	Frames   int           `json:"frames"`
	IDs      int           `json:"ids"`
	Bytes    int64         `json:"bytes"`
	Raw      int64         `json:"raw_bytes"`
	Sum      string        `json:"sha256"`
	Took     time.Duration `json:"took_ns"`
}

func (a *app) backupCommand() *cobra.Command {
	p := page{
		use: "backup FILE", group: care, short: "copy the archive to FILE while everything goes on, and check the copy",
		forms: []string{"ccd backup [--force] FILE"},
		long: `The copy is an archive: with CCD_ARCHIVE_PATH=FILE in the environment every command reads it (ccd verify
checks it again), and on another machine it takes the archive's place. The daemon, hooks and other
commands go on meanwhile. FILE gets its name only once the whole copy has been read back: every hash,
every session, every ID. Stopped at any moment, it leaves what stood there before; killed with -9, also
a .ccd-*.tmp beside it, which the next backup into that directory removes once it is an hour old.

It replaces an earlier backup of the same archive, and nothing else unless --force is given. Transcripts
and companions are not in it: transcripts come back with ccd restore --session, companions are made anew.`,
		examples: []example{
			{"ccd backup /media/disk/ccd.db", "a copy that is sound, or an error and no copy"},
			{"ccd backup --json /media/disk/ccd.db", "the same, with counts and the hash of the file"},
		},
		json:  "one object: file, archive, id (of the archive), sessions (attachments among them), frames (blocks\nthat transcripts are kept in), ids, bytes (of\nFILE), raw_bytes (of transcripts in it), sha256 (of FILE), took_ns",
		exits: []int{exitNotFound, exitDamage},
	}
	var force bool
	c := p.command(cobra.ExactArgs(1), func(c *cobra.Command, args []string) error {
		if args[0] == "" {
			return usage(c, errors.New("FILE is empty"))
		}
		return a.backup(c.Context(), args[0], force)
	})
	c.Flags().BoolVar(&force, "force", false, "overwrite FILE, whatever it is")
	return c
}

func (a *app) backup(ctx context.Context, file string, force bool) error {
	l, err := a.locate(true)
	if err != nil {
		return err
	}
	begun := time.Now()
	if root, below := l.below(file); below {
		return hint(fmt.Errorf("back up archive to %s: it lies below %s, which is watched", file, root), "a FILE elsewhere, best on another disk")
	}
	if err := atomicfile.Clean(filepath.Dir(file)); err != nil && !errors.Is(err, os.ErrNotExist) { // what a backup left that was killed
		a.say("%v", err)
	}
	show, wipe := a.progress("backing up:")
	c, err := l.archive.Backup(ctx, file, force, show)
	wipe()
	switch {
	case errors.Is(err, archive.ErrOverwrite):
		return hint(err, "--force overwrites it")
	case errors.Is(err, archive.ErrNotFound):
		return hint(err, "ccd run --once")
	case errors.As(err, new(*archive.DamageError)):
		return hint(err, "ccd verify tells what is damaged; what is sound restores all the same")
	case err != nil:
		return err
	}
	out := backupOutput{
		File: c.File, Archive: l.archivePath, ID: c.ID, Sessions: c.Sessions, Frames: c.Frames, IDs: c.Pointers, Bytes: c.Size,
		Raw: c.Bytes, Sum: c.Sum.String(), Took: time.Since(begun),
	}
	if a.json {
		return a.printJSON(out)
	}
	a.say("backed up and verified: %s and attachments, %s of transcripts, %s: a file of %s in %s", count(out.Sessions, "session"),
		humanize.IBytes(uint64(out.Raw)), count(out.IDs, "ID"), humanize.IBytes(uint64(out.Bytes)), out.Took.Round(10*time.Millisecond))
	if a.verbose {
		a.say("writers were kept from the archive for %s at a time, at most", c.Held.Round(100*time.Microsecond))
	}
	return a.print(out.File + "\n")
}

// below returns the watched root that a file would lie in, wherever links lead.
func (l *library) below(file string) (root string, below bool) {
	for _, path := range []string{resolved(file), file} {
		for _, r := range l.roots {
			for _, dir := range []string{resolved(r.Path), r.Path} {
				if rel, err := filepath.Rel(dir, path); err == nil && rel != ".." && !strings.HasPrefix(rel, ".."+string(filepath.Separator)) {
					return r.Path, true
				}
			}
		}
	}
	return "", false
}

// resolved is where a path leads; of one that is not there, where its directory does.
func resolved(path string) string {
	if abs, err := filepath.Abs(path); err == nil {
		path = abs
	}
	if there, err := filepath.EvalSymlinks(path); err == nil {
		return there
	}
	if dir, err := filepath.EvalSymlinks(filepath.Dir(path)); err == nil {
		return filepath.Join(dir, filepath.Base(path))
	}
	return path
}
