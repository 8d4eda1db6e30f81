package transcript

import (
	"regexp"
	"strconv"
	"strings"

	"ccd/internal/lazy"
)

// explainWrite reads the results of tools that change files.
func explainWrite(o *Outcome) {
	head := o.Text[:min(len(o.Text), 2000)]
	o.Failed = o.Failed || !o.HasExit && Begins(head, []string{"error: ", "Error: ", "Failed to "})
	o.Amended = strings.Contains(head, "modified your proposed") || strings.Contains(head, " User modified the `")
	first, _, _ := strings.Cut(head, "\n")
	o.Created = strings.HasPrefix(first, "File created successfully") || strings.HasPrefix(first, "Successfully created")
}

var jobName = lazy.Regexp(`(?:[Bb]ackground(?:ed by user|ed)? with ID: |running with session ID )(\S*?)\.*(?:\s|$)`)

// job returns the name of a background command.
func job(text string) string {
	return firstGroup(jobName(), text[:min(len(text), 2000)])
}

// firstGroup returns the match of an expression's first group, "" if there is none.
func firstGroup(x *regexp.Regexp, text string) string {
	if found := x.FindStringSubmatch(text); found != nil {
		return strings.Clone(found[1])
	}
	return ""
}

// notification is the element with which a client reports the end of a background task; versions of early 2026 name its files
// behind it. What else follows it was typed while the task ran.
var notification = Wrapper{Begin: "task-notification", Beside: true, Tails: []string{
	"Full transcript available at: ", "Read the output file to retrieve the result: ", "Full output available at: ", "Output file: ",
}}

// Notice parses a client's message that a background command has ended: its name, and its exit status (-1 if unknown).
// ok is false for other texts.
func Notice(text string) (job string, exit int, ok bool) {
	inside := BetweenTexts(text, "<task-notification>", "</task-notification>")
	job = strings.TrimSpace(BetweenTexts(inside, "<task-id>", "</task-id>"))
	status := strings.TrimSpace(BetweenTexts(inside, "<status>", "</status>"))
	if job == "" || (status != "completed" && status != "failed" && status != "killed") {
		return "", 0, false
	}
	_, rest, _ := strings.Cut(BetweenTexts(inside, "<summary>", "</summary>"), "exit code ")
	digits := rest[:len(rest)-len(strings.TrimLeft(rest, "0123456789"))]
	if exit, err := strconv.Atoi(digits); err == nil {
		return strings.Clone(job), exit, true
	}
	return strings.Clone(job), -1, true
}

// planTold parses a list of tasks: JSON with ID, subject and status, or lines "#3 [completed] Subject".
func planTold(text string) []PlanItem {
	var all []PlanItem
	if t := []byte(strings.TrimSpace(text)); len(t) > 0 && (t[0] == '{' || t[0] == '[') && Valid(t) {
		list := Node{Raw: t}
		if list.Is('{') {
			list = list.Field("tasks")
		}
		for item := range list.Elements() {
			if p := planItem(item); p.Text != "" {
				all = append(all, p)
			}
		}
		return all
	}
	for line := range strings.Lines(text) {
		if p, ok := taskLine(strings.TrimSpace(line)); ok {
			all = append(all, p)
		}
	}
	return all
}

var task = lazy.Regexp(`^(?:- )?#(\d+)[.:]* \[(pending|in_progress|completed)\](.*)$`)

// taskLine parses "#3 [completed] Subject" or "#3. [pending] Subject", also as a list item.
func taskLine(line string) (p PlanItem, ok bool) {
	found := task().FindStringSubmatch(line)
	if found == nil {
		return p, false
	}
	text := strings.TrimSpace(found[3])
	if i := strings.LastIndex(text, " [blocked by"); i > 0 {
		text = text[:i]
	}
	return PlanItem{Key: strings.Clone(found[1]), Text: strings.Clone(text), Status: found[2]}, text != ""
}

// created returns the key of a task that a call created: "Task #3 created successfully: ...", or JSON.
func created(text string) string {
	if t := []byte(strings.TrimSpace(text)); len(t) > 0 && t[0] == '{' && Valid(t) {
		n := Node{Raw: t}
		if task := n.Field("task"); task.Is('{') {
			n = task
		}
		for _, name := range []string{"id", "taskId"} {
			if key := scalar(n.Field(name)); key != "" {
				return strings.Clone(key)
			}
		}
		return ""
	}
	return firstGroup(createdTask(), text)
}

var createdTask = lazy.Regexp(`^Task #(\S*) created`)
