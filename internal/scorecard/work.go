package scorecard

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"ccd/internal/transcript"
)

// call is a tool call that waits for its result.
type call struct {
	tool   string
	action transcript.Action
	at     source
}

// openError is a command that failed and did not succeed since.
type openError struct {
	command string
	*fact
}

// paths are the files that were touched, in order of appearance.
type paths struct {
	by  map[string]*file
	all []*file
}

// file is a path and what happened to it last; a change outweighs a read.
type file struct {
	name    string
	class   Class
	sources []source
}

type planItem struct {
	transcript.PlanItem
	at source
}

func (f *Facts) called(it *transcript.Item, input []byte) {
	c := call{strings.Clone(it.Tool), transcript.Understand(it.Tool, it.Raw), f.at}
	f.plain.called(c.tool, &c.action, input)
	if c.action.Op == transcript.Plan {
		f.planned(c)
	}
	if it.Call == "" || len(f.calls) >= maxCalls {
		f.done(c, transcript.Outcome{})
		return
	}
	f.calls[strings.Clone(it.Call)] = c
}

func (f *Facts) answered(it *transcript.Item) {
	c := f.calls[it.Call]
	delete(f.calls, it.Call)
	out := transcript.Explain(cmp.Or(c.tool, it.Tool), c.action.Op, it.Raw, it.Failed)
	f.plain.answered(c.action.Op, &out)
	f.done(c, out)
	if c.action.Op == transcript.Plan && out.PlanID != "" && len(c.action.Plan) == 1 {
		f.named(c, out.PlanID)
	}
	if out.Rejected || out.Running {
		return
	}
	var lines []string
	if failed(out) {
		lines = f.failed(out.Text)
	}
	if c.action.Op == transcript.Command && !c.action.Stdin {
		f.opened(c, out, lines)
	}
	f.traced(c, out)
}

func failed(out transcript.Outcome) bool { return out.Failed || out.HasExit && out.Exit != 0 }

// failed takes the error lines of a failed result.
func (f *Facts) failed(text string) (lines []string) {
	for l := range errorLines(text) {
		lines = append(lines, l)
		f.note(Errors, l, fact{text: l})
		if len(lines) == maxLines {
			break
		}
	}
	return lines
}

// opened opens the error of a command, or closes it. A failure that printed nothing is an answer, as grep's is.
func (f *Facts) opened(c call, out transcript.Outcome, lines []string) {
	key := normal(c.action.Command)
	if key == "" {
		return
	}
	f.open = slices.DeleteFunc(f.open, func(e openError) bool { return e.command == key })
	if !failed(out) || strings.TrimSpace(out.Text) == "" || len(f.open) >= maxFacts/10 {
		return
	}
	one := &fact{text: head(key, cmdChars), status: status(out), strong: true, sources: []source{f.at, c.at}, output: f.at}
	if len(lines) > 0 {
		one.text, one.status, one.sources = lines[0], "", []source{c.at, f.at}
	}
	f.open = append(f.open, openError{key, one})
}

// status is how a command ended: its number, "failed", or "" where that is not told.
func status(out transcript.Outcome) string {
	switch {
	case out.HasExit:
		return strconv.Itoa(out.Exit)
	case out.Failed:
		return "failed"
	}
	return ""
}

// done takes what a call did, once its result is known.
func (f *Facts) done(c call, out transcript.Outcome) {
	if out.Rejected {
		return
	}
	at := f.at
	f.at = c.at
	defer func() { f.at = at }()
	if whole := normal(c.action.Command); c.action.Op == transcript.Command && !c.action.Stdin && whole != "" {
		if one := f.note(Commands, whole, fact{text: head(whole, cmdChars), strong: true}); one != nil {
			one.status, one.output = status(out), at
		}
	}
	if failed(out) || c.action.Op == transcript.Command && !out.HasExit {
		return
	}
	f.changed(&c.action, &out)
}

// changed takes the files that a call touched.
func (f *Facts) changed(a *transcript.Action, out *transcript.Outcome) {
	for _, p := range removed(a.Command) {
		f.touched(a.Dir, p, Deleted)
	}
	for _, one := range a.Changes(out) {
		switch one.Op {
		case transcript.Read:
			f.touched(a.Dir, one.Path, Read)
		case transcript.Write, transcript.Edit:
			f.touched(a.Dir, one.Path, Edited)
		case transcript.Delete:
			f.touched(a.Dir, one.Path, Deleted)
		case transcript.Rename:
			f.touched(a.Dir, one.Path, Deleted)
			f.touched(a.Dir, one.To, Edited)
		}
	}
}

// touched notes what happened to a file. A relative path is one below dir, else below the working directory.
func (f *Facts) touched(dir, name string, class Class) {
	if name == "" {
		return
	}
	if !transcript.IsAbs(dir) && len(f.dirs) > 0 {
		dir = transcript.Join(f.dirs[len(f.dirs)-1], cmp.Or(dir, "."))
	}
	name = transcript.Join(dir, name)
	key := transcript.PathKey(name)
	p := f.paths.by[key]
	if p == nil {
		if len(f.paths.all) >= maxFacts {
			return
		}
		p = &file{name: strings.Clone(name), class: class}
		f.paths.by[key] = p
		f.paths.all = append(f.paths.all, p)
	}
	if class != Read {
		p.class = class
	}
	p.sources = seen(p.sources, f.at)
}

// forms are the ways in which a path may stand: below a working directory, absolute, or, of one elsewhere, its last
// directory and name. One of Windows may stand with slashes too, or in JSON.
func (f *Facts) forms(name string) (all []string) {
	for _, d := range f.dirs {
		if rel, ok := transcript.Below(name, d); ok {
			all = append(all, rel)
		}
	}
	slices.SortFunc(all, func(a, b string) int { return cmp.Compare(len(a), len(b)) })
	if len(all) == 0 && transcript.IsAbs(name) {
		last := transcript.Base(name)
		dir := strings.TrimSuffix(name, last)
		all = append(all, transcript.Base(strings.TrimRight(dir, `/\`))+dir[max(0, len(dir)-1):]+last)
	}
	all = append(all, strings.TrimPrefix(name, "./"))
	for _, form := range all {
		if strings.Contains(form, `\`) && !strings.HasPrefix(name, "/") {
			all = append(all, strings.ReplaceAll(form, `\`, "/"), strings.ReplaceAll(form, `\`, `\\`))
		}
	}
	return all
}

// planned takes a plan as it was written, or what was added to it or changed in it.
func (f *Facts) planned(c call) {
	if c.action.Replace {
		f.plan = nil
	}
	for _, p := range c.action.Plan {
		i := slices.IndexFunc(f.plan, func(q planItem) bool { return p.Key != "" && q.Key == p.Key })
		switch {
		case i >= 0 && !c.action.Replace:
			f.plan[i].Text, f.plan[i].Status = cmp.Or(p.Text, f.plan[i].Text), cmp.Or(p.Status, f.plan[i].Status)
		case p.Text != "" && len(f.plan) < maxFacts/10:
			f.plan = append(f.plan, planItem{p, c.at})
		}
	}
}

// named gives the item that a call added the key that its result tells.
func (f *Facts) named(c call, key string) {
	for i := len(f.plan) - 1; i >= 0; i-- {
		if f.plan[i].at == c.at && f.plan[i].Key == "" {
			f.plan[i].Key = key
			return
		}
	}
}

// traced notes what must be told of a long result that is not shown.
func (f *Facts) traced(c call, out transcript.Outcome) {
	if c.action.Op == transcript.Agent {
		if text := normal(out.Text); len(text) >= lineChars && !strings.HasPrefix(text, "Async agent launched") {
			f.note(Reports, text, fact{text: head(text, headChars)})
		}
		return
	}
	if !long(out.Text, longResult) || failed(out) {
		return
	}
	switch c.action.Op {
	case transcript.Read:
		content, _, ok := transcript.FileText(out.Text)
		if len(c.action.Files) > 0 && ok {
			name, n := c.action.Files[0].Path, strconv.Itoa(1+strings.Count(strings.TrimSuffix(content, "\n"), "\n"))
			f.note(Contents, name+"\n"+n, fact{text: name, status: n, tail: head(normal(head(content, longResult)), lineChars)})
		}
	case transcript.Search, transcript.Web:
		if hit := firstHit(out.Text); hit != "" {
			f.note(Hits, hit, fact{text: hit})
		}
	case transcript.Command:
		if l := totalLine(out.Text); l != "" {
			f.note(Totals, l, fact{text: l})
		}
	}
}
