package config

import (
	"cmp"
	"errors"
	"fmt"
	gopath "path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/BurntSushi/toml"

	"ccd/internal/agent/registry"
	"ccd/internal/lazy"
)

// forbidden is a value that a rule forbids.
type forbidden struct {
	key toml.Key
	err error
}

type faults []forbidden

func (all *faults) add(err error, key ...string) {
	if err != nil {
		*all = append(*all, forbidden{key, err})
	}
}

// wrong returns what the rules forbid, and makes paths absolute. Errors do not contain values, which may come from any file
// that the user or an agent named.
func (c *Config) wrong() (all faults) {
	const ms, part = time.Millisecond, `a part such as "30%"`
	all.add(each(c.Watch.Ignore, glob), "watch", "ignore")
	all.add(least(c.Watch.Settle, 10*ms), "watch", "settle")
	all.add(least(c.Watch.MaxWait, 10*ms), "watch", "max_wait")
	all.add(least(c.Watch.ScanInterval, 1000*ms), "watch", "scan_interval")
	all.add(must(c.Trigger.Threshold.Part == 0 && c.Trigger.Threshold.Word == "", `must be "auto" or a whole number above 0`), "trigger", "threshold")
	all.add(share(c.Trigger.Pressure, "above 0 and at most 1", c.Trigger.Pressure > 0), "trigger", "pressure")
	all.add(atLeast(int(c.Trigger.MinSavings), 0), "trigger", "min_savings")
	for _, n := range c.Compaction.Classes {
		all.add(must(n >= 0 && n <= 100, "must be three whole numbers from 0 to 100, such as [50, 30, 10]"), "compaction", "classes")
	}
	all.add(atLeast(c.Compaction.MicrocompactTokens, 0), "compaction", "microcompact_tokens")
	all.add(share(c.Compaction.KeepImportance, "from 0 to 1", true), "compaction", "keep_importance")
	all.add(atLeast(c.Compaction.LargeOutputTokens, 0), "compaction", "large_output_tokens")
	all.add(oneOf(c.Compaction.LongCap, "off", "log"), "compaction", "long_cap")
	all.add(c.absolute(&c.Companion.Dir), "companion", "dir")
	all.add(must(c.Companion.MaxTokens.Part > 0 || c.Companion.MaxTokens.N >= 2000, "must be 2000 or more, or "+part), "companion", "max_tokens")
	all.add(least(c.Companion.RefreshIdle, 10*ms), "companion", "refresh_idle")
	all.add(plain(c.Companion.Host), "companion", "host")
	all.add(must(slices.Contains([]string{"", "ladder"}, c.Live.Text.Word), "must be 1 or more, or "+part+`, or "auto" or "ladder"`), "live", "text")
	all.add(must(c.Live.Verbatim.Word == "", "must be 1 or more, or "+part+`, or "auto"`), "live", "verbatim")
	all.add(must(c.Live.Target.Part > 0, "must be "+part+`, above 0 and at most "100%"`), "live", "target")
	all.add(must(c.Live.RestoreFiles >= 0 && c.Live.RestoreFiles <= 5, "must be from 0 to 5"), "live", "restore_files")
	all.add(c.absolute(&c.Archive.Path), "archive", "path")
	all.add(c.program(), "summarizer", "command")
	all.add(least(c.Summarizer.Timeout, 1000*ms), "summarizer", "timeout")
	for _, name := range c.Live.Clients {
		all.add(oneOf(name, "qwen"), "live", "clients")
	}
	all.add(oneOf(c.Agents.Reach, ReachProject, ReachAll), "agents", "reach")
	all.add(each(c.Redact.Allow, expression), "redact", "allow")
	all.add(oneOf(c.Log.Level, "debug", "info", "warn", "error"), "log", "level")
	all.add(oneOf(c.Log.Format, "text", "json"), "log", "format")
	all.add(c.absolute(&c.Log.File), "log", "file")
	c.wrongEntries(&all)
	return all
}

// wrongEntries adds what the rules forbid in tables.
func (c *Config) wrongEntries(all *faults) {
	agents := registry.Table{}.Names()
	for agent, dirs := range c.Watch.Roots {
		if !slices.Contains(agents, agent) {
			all.add(unknown("agent", agent, agents), "watch", "roots", agent)
		}
		all.add(c.directories(dirs), "watch", "roots", agent)
	}
	for model, window := range c.Models.Windows {
		all.add(atLeast(int(window), 1), "models", "windows", model)
	}
	for model, numbers := range c.Models.Prices {
		all.add(price(numbers), "models", "prices", model)
	}
	for kind, text := range c.Redact.Rules {
		all.add(must(userName().MatchString(kind), "a kind must be lower-case letters, digits and hyphens"), "redact", "rules", kind)
		all.add(expression(text), "redact", "rules", kind)
	}
	for name, f := range c.Agents.Formats {
		key := []string{"agents", "formats", name}
		all.add(must(userName().MatchString(name) && !slices.Contains(append(agents, "messages", "all"), name),
			"the name must be lower-case letters, digits and hyphens, and not the name of another agent"), key...)
		all.add(must(len(f.Roots) > 0, "roots is missing"), key...)
		all.add(c.directories(f.Roots), append(key, "roots")...)
		all.add(glob(f.Glob), append(key, "glob")...)
	}
}

var userName = lazy.Regexp(`^[a-z0-9][a-z0-9-]{0,39}$`)

func must(ok bool, what string) error {
	if ok {
		return nil
	}
	return errors.New(what)
}

func atLeast(n, min int) error { return must(n >= min, fmt.Sprintf("must be %d or more", min)) }

func least(d Duration, min time.Duration) error {
	return must(d.Duration >= min, fmt.Sprintf("must be %s or more", min))
}

// share accepts a part of 1. The comparisons are false for NaN, too.
func share(f float64, want string, ok bool) error {
	return must(f >= 0 && f <= 1 && ok, "must be a number "+want)
}

func oneOf(s string, all ...string) error {
	return must(slices.Contains(all, s), "must be one of "+strings.Join(all, ", "))
}

// each applies a rule to all entries of a list.
func each(list []string, rule func(string) error) error {
	for i, s := range list {
		if err := rule(s); err != nil {
			return fmt.Errorf("entry %d: %w", i+1, err)
		}
	}
	return nil
}

func plain(s string) error {
	return must(!strings.ContainsFunc(s, func(c rune) bool { return c < 0x20 || c == 0x7f }), "it contains control characters")
}

func glob(s string) error {
	_, err := gopath.Match(s, "x")
	return cmp.Or(plain(s), must(err == nil, "not a valid glob"))
}

func expression(s string) error {
	_, err := regexp.Compile(s)
	return must(err == nil, "not a valid regular expression")
}

// directories makes the paths of a list absolute.
func (c *Config) directories(list []string) error {
	for i := range list {
		if err := cmp.Or(must(list[i] != "", "must be a path"), c.absolute(&list[i])); err != nil {
			return fmt.Errorf("entry %d: %w", i+1, err)
		}
	}
	return nil
}

// program checks the summarizer's command, and makes the path of its program absolute.
func (c *Config) program() error {
	command := c.Summarizer.Command
	if len(command) == 0 {
		return nil
	}
	if strings.TrimSpace(command[0]) == "" {
		return errors.New("the first entry must name a program")
	}
	if strings.ContainsAny(command[0], "/"+string(filepath.Separator)) {
		if err := c.absolute(&command[0]); err != nil {
			return fmt.Errorf("entry 1: %w", err)
		}
	}
	return each(command, plain)
}

// absolute expands ~ and requires an absolute path, because a relative one depends on the working directory. It leaves ""
// alone.
func (c *Config) absolute(path *string) error {
	if *path == "" {
		return nil
	}
	if rest, ok := strings.CutPrefix(*path, "~"); ok && (rest == "" || rest[0] == '/' || rest[0] == filepath.Separator) {
		if !filepath.IsAbs(c.home) {
			return fmt.Errorf("expand ~: %s is not set to an absolute path", HomeVariable())
		}
		*path = filepath.Join(c.home, rest)
	}
	if !filepath.IsAbs(*path) {
		return errors.New("must be an absolute path")
	}
	*path = filepath.Clean(*path)
	return plain(*path)
}
