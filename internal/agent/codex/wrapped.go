package codex

import (
	"slices"
	"strings"

	"ccd/internal/transcript"
)

// wrappers is what the decoder knows of the calls of wrappers that have not ended, oldest first.
type wrappers struct{ open []*wrapper }

type wrapper struct {
	call     string   // whose result is next: its own, or one that waits for it
	cell     string   // by which a later call waits for it
	commands []string // that its script names and no event has reported
	opaque   bool
	told     transcript.Told
	seen     bool // an event reported something
}

// maxWrappers is how many are followed.
const maxWrappers = 64

// called takes a call of a wrapper, or one that waits for its end.
func called(d *transcript.Decoder, item *transcript.Item, input transcript.Node) {
	switch {
	case item.Tool == waitTool:
		cell := input
		if input.Is('"') {
			cell = transcript.Arguments(input.Raw)
		}
		cell = cell.Field("cell_id")
		for _, one := range transcript.StateOf[wrappers](d).open {
			if cell.Has() && one.cell == strings.Trim(string(cell.Raw), `"`) {
				one.call = item.Call
			}
		}
	case item.Tool == scriptTool:
		calls, opaque := readScript(scriptOf(input))
		one := &wrapper{call: item.Call, opaque: opaque}
		for _, c := range calls {
			if command := argument(c, "cmd"); command != "" && c.Tool != "apply_patch" {
				one.commands = append(one.commands, command)
			}
		}
		w := transcript.StateOf[wrappers](d)
		w.open = append(w.open[max(0, len(w.open)+1-maxWrappers):], one)
	}
}

// ended completes the result of a wrapper by what events reported.
func ended(d *transcript.Decoder, item *transcript.Item, output transcript.Node) {
	w, ok := d.State.(*wrappers)
	if !ok {
		return
	}
	i := slices.IndexFunc(w.open, func(one *wrapper) bool { return one.call == item.Call })
	if i < 0 || item.Call == "" {
		return
	}
	one := w.open[i]
	if out := d.Client.Explain(item.Tool, transcript.Other, output.Raw, false); out.Running {
		one.cell = out.Job
		return
	}
	w.open = slices.Delete(w.open, i, i+1)
	if one.seen {
		told := one.told
		item.Told, item.Failed = &told, item.Failed || told.Exit != 0 || told.Undone
	}
	item.Opaque = one.opaque && !one.seen
}

// reports takes an event that reports the end of a command or of a patch. If the script that ran it cannot be read, the event
// gives the call and its result.
func reports(d *transcript.Decoder, r *transcript.Record, payload transcript.Node) {
	w, ok := d.State.(*wrappers)
	if !ok || len(w.open) == 0 {
		return
	}
	what := payload
	kind := payload.Field("type").Text()
	if kind == "item_completed" {
		what = payload.Field("item")
		kind = what.Field("type").Text()
	}
	switch kind {
	case "CommandExecution", "exec_command_end":
		w.commandEnded(r, what)
	case "McpToolCall":
		if what.Field("status").Text() == "failed" {
			tool := what.Field("server").Text() + "__" + what.Field("tool").Text()
			inner(r, what, tool, &transcript.Told{Undone: true}, what.Field("error"))
		}
	case "FileChange", "patch_apply_end":
		w.patchEnded(r, what)
	}
}

// commandEnded takes the end of a command, which says nothing without its exit status. Of several commands the first failure
// counts.
func (w *wrappers) commandEnded(r *transcript.Record, what transcript.Node) {
	if !what.Field("exit_code").Has() {
		return
	}
	exit := int(what.Field("exit_code").Integer())
	command := transcript.CommandLine(what.Field("command"))
	one, known := w.find(command)
	one.seen = true
	one.told.Ended = true
	one.told.Piped = one.told.Piped || strings.Contains(command, "|")
	if one.told.Exit == 0 {
		one.told.Exit = exit
	}
	if one.opaque && !known {
		inner(r, what, "exec_command", &transcript.Told{Ended: true, Exit: exit}, what.Field("aggregated_output"))
	}
}

// patchEnded takes the end of a patch. It names no command to find its wrapper by, so it counts for the newest one.
func (w *wrappers) patchEnded(r *transcript.Record, what transcript.Node) {
	one := w.open[len(w.open)-1]
	status := what.Field("status").Text()
	undone := status != "" && status != "completed" || what.Field("success").Is('f')
	one.seen, one.told.Undone = true, one.told.Undone || undone
	if one.opaque {
		inner(r, what, "apply_patch", &transcript.Told{Undone: undone}, what.Field("stdout"))
	}
}

// find returns the wrapper that runs a command, and whether its script names it.
func (w *wrappers) find(command string) (one *wrapper, known bool) {
	for _, one := range w.open {
		if i := slices.Index(one.commands, command); i >= 0 {
			one.commands = slices.Delete(one.commands, i, i+1)
			return one, true
		}
	}
	for _, one := range w.open {
		if one.opaque {
			return one, false
		}
	}
	return w.open[len(w.open)-1], false
}

// inner adds the call and the result that an event reports.
func inner(r *transcript.Record, what transcript.Node, tool string, told *transcript.Told, output transcript.Node) {
	r.UI = false
	id := "event " + transcript.QuoteText(what.Field("id").Text()+what.Field("call_id").Text()) + r.Time.String()
	r.Add(transcript.Item{Kind: transcript.Call, Tool: tool, Call: id, Inner: true}, what)
	failed := told.Exit != 0 || told.Undone
	if !output.Has() {
		output = what
	}
	r.Add(transcript.Item{Kind: transcript.Result, Tool: tool, Call: id, Inner: true, Failed: failed, Told: told}, output)
}
