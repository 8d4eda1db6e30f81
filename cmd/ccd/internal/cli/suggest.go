package cli

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"ccd/internal/config"
	"ccd/internal/words"
)

// Synonyms maps words of other tools to the command that does the same.
var Synonyms = map[string]string{
	"log": "timeline", "history": "timeline",
	"grep": "search", "find": "search", "rg": "search", "ag": "search",
	"sessions": "ls", "list": "ls", "du": "status --totals", "size": "status --totals",
	"cat": "show", "view": "show", "print": "show", "open": "show", "latest": "show latest",
	"get": "restore", "recover": "restore", "checkout": "restore",
	"continue": "resume", "compress": "compact", "summarize": "compact",
	"rm": "archive forget", "delete": "archive forget", "remove": "archive forget",
	"check": "archive verify", "fsck": "archive verify", "info": "status",
	"init": "setup", "configure": "config", "purge": "setup --undo", "undo": "setup --undo",
	// Commands of earlier versions.
	"verify": "archive verify", "backup": "archive backup", "salvage": "archive import", "import": "archive import", "gc": "archive gc",
	"forget": "archive forget", "secrets": "archive secrets",
	"pin": "label --pin", "tag": "label SESSION --tag TAG", "name": "label SESSION --name NAME", "unpin": "label --pin=false", "untag": "label SESSION --untag TAG",
	"install": "service install", "start": "service start", "stop": "service stop", "restart": "service restart", "uninstall": "service remove",
	"path": "show --path", "stats": "status --totals",
}

// unknownCommand fails if args do not start with a subcommand of c, and suggests one.
func unknownCommand(c *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	unknown := words.Usage(fmt.Errorf("unknown command %q", args[0]))
	if found, _, err := c.Root().Find(args[:1]); c.HasParent() && err == nil && found != c.Root() {
		return words.Hint(unknown, "%s", found.CommandPath())
	}
	meant := nearest(c, strings.ToLower(args[0]))
	if meant == "" {
		return words.Hint(unknown, "%s --help", c.CommandPath())
	}
	for _, arg := range args[1:] {
		if meant != strings.ToLower(meant) { // it has a placeholder
			break
		}
		meant += " " + words.Shell(arg)
	}
	return words.Hint(unknown, "%s %s", c.CommandPath(), meant)
}

// nearest returns the command that a user who typed something else meant, or "".
func nearest(c *cobra.Command, typed string) string {
	if meant, ok := Synonyms[typed]; ok && !c.HasParent() {
		return meant
	}
	c.SuggestionsMinimumDistance = (len(typed) + 1) / 3 // letters to change
	if near := c.SuggestionsFor(typed); len(near) == 1 {
		return near[0]
	}
	return ""
}

// unknownFlag returns the error for flags that cannot be parsed. It suggests the nearest flag.
func unknownFlag(c *cobra.Command, err error) error {
	var names []string
	c.Flags().VisitAll(func(f *pflag.Flag) { names = append(names, f.Name) })
	if typed, unknown := strings.CutPrefix(err.Error(), "unknown flag: --"); unknown {
		if best, _ := config.Nearest(typed, names); best != "" {
			return words.Hint(Usage(c, err), "%s --%s", c.CommandPath(), best)
		}
	}
	return Usage(c, err)
}

// Typed returns arguments as they are typed, each after a space; if one looks like a flag, none is taken for one.
func Typed(args []string) (typed string) {
	for _, arg := range args {
		if strings.HasPrefix(arg, "-") && !strings.HasPrefix(typed, " -- ") {
			typed = " --" + typed
		}
		typed += " " + words.Shell(arg)
	}
	return typed
}
