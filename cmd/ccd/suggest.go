package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"ccd/cmd/ccd/internal/words"
	"ccd/internal/config"
)

// synonyms are words of other tools, and the command that does the same here.
var synonyms = map[string]string{
	"log": "timeline", "history": "timeline",
	"grep": "search", "find": "search", "rg": "search", "ag": "search",
	"sessions": "ls", "list": "ls", "du": "ls --size", "size": "ls --size",
	"cat": "show", "view": "show", "print": "show", "open": "show", "latest": "show latest",
	"get": "restore", "recover": "restore", "checkout": "restore",
	"continue": "resume", "compress": "compact", "summarize": "compact",
	"rm": "forget", "delete": "forget", "remove": "uninstall", "purge": "uninstall --purge",
	"check": "verify", "fsck": "verify", "info": "status",
	"top": "status --watch", "watch": "status --watch", "daemon": "run", "serve": "run", "sync": "run --once", "update": "run --once",
	"init": "setup", "configure": "config", "man": "help",
}

// instead are for synonyms of a command that this version does not have.
var instead = map[string]string{"forget": "uninstall", "setup": "install"}

// unknownCommand fails for arguments that begin with no command, and says which one was most likely meant.
func unknownCommand(root *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	err := words.Usage(fmt.Errorf("find command %s: unknown command", args[0]))
	meant := nearestCommand(root, args[0])
	if meant == "" {
		return words.Hint(err, "ccd help")
	}
	for _, arg := range args[1:] {
		meant += " " + words.Shell(arg)
	}
	return words.Hint(err, "ccd %s", meant)
}

func nearestCommand(root *cobra.Command, typed string) string {
	typed = strings.ToLower(typed)
	var names, begin []string
	for _, c := range root.Commands() {
		names = append(names, c.Name())
		if strings.HasPrefix(c.Name(), typed) {
			begin = append(begin, c.Name())
		}
	}
	if meant, ok := synonyms[typed]; ok {
		name, flags, _ := strings.Cut(meant, " ")
		if c, _, err := root.Find([]string{name}); err != nil || c == root {
			name, flags = instead[name], ""
		}
		return strings.TrimSpace(name + " " + flags)
	}
	if len(begin) == 1 {
		return begin[0]
	}
	best, _ := config.Nearest(typed, names)
	return best
}

// unknownFlag is the error of a command line whose flags cannot be parsed. It names the flag most like an unknown one.
func unknownFlag(c *cobra.Command, err error) error {
	typed, ok := strings.CutPrefix(err.Error(), "unknown flag: --")
	if !ok {
		return usage(c, err)
	}
	var names []string
	c.Flags().VisitAll(func(f *pflag.Flag) {
		if !f.Hidden {
			names = append(names, f.Name)
		}
	})
	if typed == "version" {
		return words.Hint(usage(c, err), "ccd version")
	}
	if best, _ := config.Nearest(typed, names); best != "" {
		return words.Hint(usage(c, err), "%s --%s", c.CommandPath(), best)
	}
	return usage(c, err)
}
