package main

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"

	"github.com/spf13/cobra"

	"ccd/cmd/ccd/internal/disk"
	"ccd/cmd/ccd/internal/history"
	"ccd/compactor/sidecar"
	"ccd/internal/mark"
	"ccd/internal/words"
)

type pathOutput struct {
	Agent     string `json:"agent"`
	Session   string `json:"session"`
	Companion string `json:"companion"`
	Source    string `json:"source"`
	Present   bool   `json:"source_present"`
}

func (a *app) pathCommand() *cobra.Command {
	p := page{
		use: "path [SESSION]", group: agents, short: "print the path of a session's companion",
		long: `Exits 3 if the session has no companion: nothing has triggered one yet, its file is missing, or you may
not read it. ccd compact SESSION writes one, ccd show SESSION prints it from the archive.`,
		picks: true,
		examples: []example{
			{"ccd path", "the companion of this directory's session"},
			{"less $(ccd path 5d2f7a1e)", "read it"},
		},
		json:  "one object: agent, session, companion, source (the transcript), source_present",
		exits: []int{exitNotFound, exitDamage},
	}
	var agent string
	c := p.command(oneSession, func(c *cobra.Command, args []string) error {
		collectLess()
		l, e, err := a.session(c.Context(), sessionOf(args), agent)
		if err != nil {
			return err
		}
		if e.Kept.Companion == "" {
			return l.Missing(words.Hint(fmt.Errorf("find companion of session %s: %w: it has none yet", e.ID, history.ErrNotFound),
				"ccd compact %s", l.Argument(e)))
		}
		if err := disk.Readable(e.Kept.Companion); err != nil {
			what := "is missing"
			if errors.Is(err, fs.ErrPermission) {
				what = "is not readable by you; once its transcript is deleted, it is at " + sidecar.Path(e.Session.Session, filepath.Join(l.StateDir, "companions"))
			}
			return words.Hint(fmt.Errorf("find companion of session %s: %w: %s %s", e.ID, history.ErrNotFound, e.Kept.Companion, what),
				"ccd show %s", l.Argument(e))
		}
		if a.json {
			return a.printJSON(pathOutput{e.Agent, mark.Name(e.ID), mark.Name(e.Kept.Companion), mark.Name(e.Path), e.Present()})
		}
		return a.print(e.Kept.Companion + "\n")
	})
	a.agentFlag(c, &agent)
	return c
}
