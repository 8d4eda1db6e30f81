package codex

import (
	_ "embed" // the form of a copy

	"ccd/internal/transcript"
)

// write returns the lines of a draft: a header, then what the model sees. Without a provider the client's terminal refuses it. It
// leaves out events, usage, ordinals and the history's mode, because with them the client would compact the copy at once or refuse
// it. The texts of a message are one item, each call and result is its own. The assistant's text comes before its calls and the
// user's text after the results, so that nothing comes between calls and results.
var write = transcript.Writer(form, nil)

//go:embed copy.tmpl
var form string

// shell returns the call that runs a command.
func shell(command, dir string) (tool string, input []byte) {
	args := `{"cmd":` + transcript.QuoteText(command)
	if dir != "" {
		args += `,"workdir":` + transcript.QuoteText(dir)
	}
	return "exec_command", transcript.Quote(args + "}")
}

// place returns the path of a draft below the root, with slashes. The name has the start time of the original session,
// so that a list by time shows the copy next to it and not before all others.
func place(d *transcript.Draft, _ string) string {
	t := d.Start.UTC()
	return t.Format("2006/01/02/") + "rollout-" + t.Format("2006-01-02T15-04-05-") + d.ID + ".jsonl"
}
