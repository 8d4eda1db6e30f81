package cli

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"ccd/cmd/ccd/internal/install"
	"ccd/internal/lazy"
	"ccd/internal/transcript"
)

// AgentFlag adds --agent.
func (a *App) AgentFlag(c *cobra.Command, agent *string) {
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

// The formats of a companion.
const (
	AsMarkdown = "markdown"
	asJSON     = "json"
	AsMessages = "messages"
	asHTML     = "html"
)

// FormatFlag adds --format. where ends its description.
func FormatFlag(flags *pflag.FlagSet, form *string, where string) {
	OneOf(flags, form, "format", "output `FORMAT`: markdown, json, messages or html"+where, AsMarkdown, asJSON, AsMessages, asHTML)
}

// OneOf adds a flag with one of the values.
func OneOf[T ~string](flags *pflag.FlagSet, to *T, name, text string, values ...T) {
	flags.Func(name, text, func(given string) error {
		if !slices.Contains(values, T(given)) {
			return fmt.Errorf("must be one of %v", values)
		}
		*to = T(given)
		return nil
	})
}

// NotWith makes a flag one that cannot be used with any of the others.
func NotWith(c *cobra.Command, flag string, others ...string) {
	for _, other := range others {
		c.MarkFlagsMutuallyExclusive(flag, other)
	}
}

// together matches what cobra says of such flags.
var together = lazy.Regexp(`^if any flags in the group .* none of the others can be; \[(\S+) (\S+)\] were all set$`)

// Before adds to what is done before a command runs.
func Before(c *cobra.Command, do func()) {
	first := c.PreRun
	c.PreRun = func(c *cobra.Command, args []string) {
		if first != nil {
			first(c, args)
		}
		do()
	}
}
