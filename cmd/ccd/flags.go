package main

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"ccd/cmd/ccd/internal/install"
	"ccd/compactor"
	"ccd/internal/agent/registry"
	"ccd/internal/transcript"
)

func (a *app) agentFlag(c *cobra.Command, agent *string) {
	c.Flags().Func("agent", "only sessions of `AGENT` (ccd agents lists them)", func(name string) error {
		if id, ok := install.Find(name); ok { // accept the names that `ccd agents` and `ccd resume --as` use
			name = id
		}
		known := append(a.Agents().Names(), transcript.Messages)
		if !slices.Contains(known, name) {
			return fmt.Errorf("unknown agent, must be one of %s", strings.Join(known, ", "))
		}
		*agent = name
		return nil
	})
}

func asFlag(flags *pflag.FlagSet, to *string) {
	flags.Func("as", "write it for `AGENT`: claude, codex, gemini, qwen or pi", func(name string) error {
		for _, f := range (registry.Table{}).All() {
			if f.Write != nil && (name == f.Agent || strings.HasPrefix(f.Agent, name+"-")) {
				*to = f.Agent
				return nil
			}
		}
		return errors.New("unknown agent, must be claude, codex, gemini, qwen or pi")
	})
}

// The formats of a companion.
const (
	asMarkdown = "markdown"
	asJSON     = "json"
	asMessages = "messages"
	asHTML     = "html"
)

// formatFlag adds --format. where ends its description.
func formatFlag(flags *pflag.FlagSet, form *string, where string) {
	forms := []string{asMarkdown, asJSON, asMessages, asHTML}
	flags.Func("format", "output `FORMAT`: markdown, json, messages or html"+where, func(name string) error {
		if !slices.Contains(forms, name) {
			return fmt.Errorf("unknown form, must be one of %s", strings.Join(forms, ", "))
		}
		*form = name
		return nil
	})
}

// manualFlags adds the flags for options that the user sets for one companion.
func manualFlags(flags *pflag.FlagSet, m *compactor.Manual) {
	flags.Func("focus", "keep more about these `WORDS`", func(text string) (err error) {
		m.Focus, err = compactor.FocusWords(strings.Join(append([]string{text}, m.Focus...), " ")) // a repeated flag adds words
		return err
	})
	budgetFlag(flags, &m.MaxTokens, 1, "limit the companion or list to `N` estimated tokens")
}

// leastTokens is the smallest budget of a companion, in estimated tokens.
const leastTokens = 1000

// mostTokens is the largest budget: more than any context window, and small enough that computations do not overflow.
const mostTokens = 1_000_000_000

// budgetFlag adds --max-tokens.
func budgetFlag(flags *pflag.FlagSet, tokens *int, least int, text string) {
	flags.Func("max-tokens", text, func(text string) error {
		n, err := strconv.Atoi(text)
		switch {
		case err != nil:
			return errors.New("must be a whole number")
		case n < least:
			return fmt.Errorf("must be %d or more", least)
		case n > mostTokens:
			return fmt.Errorf("must be %d or less", mostTokens)
		}
		*tokens = n
		return nil
	})
}

// timeFlag adds a flag for a time. An empty one, such as an unset variable, must not mean every time.
func timeFlag(flags *pflag.FlagSet, to *string, name, text string) {
	flags.Func(name, text, func(given string) error {
		if strings.TrimSpace(given) == "" {
			return errors.New("must not be empty")
		}
		*to = given
		return nil
	})
}

// flagError replaces the parser's text for a bad value by a plain one.
func flagError(err error) error {
	var bad *pflag.InvalidValueError
	if !errors.As(err, &bad) {
		return err
	}
	cause := bad.Unwrap()
	switch bad.GetFlag().Value.Type() {
	case "int", "int64":
		cause = errors.New("must be a whole number")
	case "bool":
		cause = errors.New("must be true or false")
	}
	return fmt.Errorf("--%s %q: %w", bad.GetFlag().Name, bad.GetValue(), cause)
}
