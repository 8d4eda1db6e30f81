package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"ccd/internal/config"
	"ccd/internal/words"
)

// synonyms maps words of other tools to the command that does the same.
var synonyms = map[string]string{
	"log": "timeline", "history": "timeline",
	"grep": "search", "find": "search", "rg": "search", "ag": "search",
	"sessions": "ls", "list": "ls", "du": "ls --size", "size": "ls --size",
	"cat": "show", "view": "show", "print": "show", "open": "show", "latest": "show latest",
	"get": "restore", "recover": "restore", "checkout": "restore",
	"continue": "resume", "compress": "compact", "summarize": "compact",
	"rm": "", "delete": "", "remove": "", "purge": "uninstall --purge", // "": no command removes sessions
	"unpin": "pin --remove", "untag": "tag --remove",
	"check": "verify", "fsck": "verify", "info": "status",
	"init": "setup", "configure": "config", "man": "help",
}

// unknownCommand fails if args do not start with a command, and suggests one.
func unknownCommand(root *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	err := words.Usage(fmt.Errorf("parse command line: unknown command %q", args[0]))
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
		return meant
	}
	if len(begin) == 1 {
		return begin[0]
	}
	best, _ := config.Nearest(typed, names)
	return best
}

// unknownFlag returns the error for flags that cannot be parsed. It suggests the nearest flag.
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
