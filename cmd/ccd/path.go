package main

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"ccd/cmd/ccd/internal/history"
	"ccd/compactor/sidecar"
	"ccd/internal/mark"
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
		use: "path SESSION", group: agents, short: "print where a session's companion stands",
		long: "It exits 3 where the session has no companion: none of its triggers has fired yet, or the file is gone\nor not yours to read.\n" +
			"`ccd compact SESSION` makes one all the same, `ccd show SESSION` prints it anew.",
		examples: []example{
			{"ccd path latest", "the companion of the session with the newest record"},
			{"ccd path latest:.", "of the project in this directory"},
			{"less $(ccd path 5d2f7a1e)", "read it"},
		},
		json:  "one object: agent, session, companion, source (the transcript), source_present",
		exits: []int{exitNotFound, exitDamage},
	}
	var agent string
	c := p.command(cobra.ExactArgs(1), func(c *cobra.Command, args []string) error {
		l, err := a.library(c.Context())
		if err != nil {
			return err
		}
		e, err := l.find(args[0], agent)
		if err != nil {
			return err
		}
		if e.state.Companion == "" {
			return l.missing(hint(fmt.Errorf("find companion of session %s: %w: it has none yet", e.ID, history.ErrNotFound),
				"ccd compact %s", l.argument(e)))
		}
		if err := readable(e.state.Companion); err != nil {
			what := "is gone"
			if errors.Is(err, fs.ErrPermission) {
				what = "is not yours to read; of a session that is not here it would stand at " + sidecar.Path(e.Session.Session, filepath.Join(l.stateDir, "companions"))
			}
			return hint(fmt.Errorf("find companion of session %s: %w: %s %s", e.ID, history.ErrNotFound, e.state.Companion, what),
				"ccd show %s", l.argument(e))
		}
		if a.json {
			return a.printJSON(pathOutput{e.Agent, mark.Name(e.ID), mark.Name(e.state.Companion), mark.Name(e.Path), e.present()})
		}
		return a.print(e.state.Companion + "\n")
	})
	agentFlag(c, &agent)
	return c
}

func agentFlag(c *cobra.Command, agent *string) {
	c.Flags().Var(agentName{agent}, "agent", "SESSION is one of `AGENT`'s ("+strings.Join(knownAgents(), ", ")+")")
}
