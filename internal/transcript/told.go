package transcript

import "strings"

// explainWrite reads what the tools that change files say of the change.
func explainWrite(o *Outcome) {
	head := o.Text[:min(len(o.Text), 2000)]
	for _, p := range []string{"error: ", "Error: ", "Failed to "} {
		o.Failed = o.Failed || (!o.HasExit && strings.HasPrefix(head, p))
	}
	o.Amended = strings.Contains(head, "modified your proposed") || strings.Contains(head, " User modified the `")
	first, _, _ := strings.Cut(head, "\n")
	o.Created = strings.HasPrefix(first, "File created successfully") || strings.HasPrefix(first, "Successfully created")
	o.Replaced = strings.HasPrefix(first, "The file ") && strings.Contains(first, " has been updated") ||
		strings.HasPrefix(first, "Successfully overwrote")
}

// job reads what a command that goes on in the background is called.
func job(text string) string {
	text = text[:min(len(text), 2000)]
	for _, mark := range []string{"running in background with ID: ", "manually backgrounded by user with ID: ", "backgrounded with ID: ", "running with session ID "} {
		if _, rest, ok := strings.Cut(text, mark); ok {
			id, _, _ := strings.Cut(rest, "\n")
			id, _, _ = strings.Cut(id, " ")
			return strings.Clone(strings.TrimRight(id, "."))
		}
	}
	return ""
}

// Notice reads a message by which the client tells that a command in the background has ended: what it is called, and
// its exit status where that is told (-1 otherwise). ok is false for any other text.
func Notice(text string) (job string, exit int, ok bool) {
	inside := BetweenTexts(text, "<task-notification>", "</task-notification>")
	job = strings.TrimSpace(BetweenTexts(inside, "<task-id>", "</task-id>"))
	status := strings.TrimSpace(BetweenTexts(inside, "<status>", "</status>"))
	if job == "" || (status != "completed" && status != "failed" && status != "killed") {
		return "", 0, false
	}
	exit = -1
	if _, rest, found := strings.Cut(BetweenTexts(inside, "<summary>", "</summary>"), "exit code "); found {
		n := 0
		for n < len(rest) && n < 9 && rest[n] >= '0' && rest[n] <= '9' {
			n++
		}
		if n > 0 {
			exit = 0
			for _, c := range rest[:n] {
				exit = exit*10 + int(c-'0')
			}
		}
	}
	return strings.Clone(job), exit, true
}

// planTold reads a list of tasks: JSON with an ID, a subject and a status each, or lines "#3 [completed] Subject".
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

// taskLine reads "#3 [completed] Subject" or "#3. [pending] Subject", also behind the dash of a list.
func taskLine(line string) (p PlanItem, ok bool) {
	rest, ok := strings.CutPrefix(strings.TrimPrefix(line, "- "), "#")
	if !ok {
		return p, false
	}
	key, rest, ok := strings.Cut(rest, " ")
	key = strings.TrimRight(key, ".:")
	if !ok || key == "" || strings.Trim(key, "0123456789") != "" || !strings.HasPrefix(rest, "[") {
		return p, false
	}
	status, text, ok := strings.Cut(rest[1:], "]")
	text = strings.TrimSpace(text)
	if i := strings.LastIndex(text, " [blocked by"); i > 0 {
		text = text[:i]
	}
	switch status {
	case "pending", "in_progress", "completed":
	default:
		return p, false
	}
	return PlanItem{Key: strings.Clone(key), Text: strings.Clone(text), Status: status}, ok && text != ""
}

// created reads the key of a task that a call created: "Task #3 created successfully: ...", or JSON that holds it.
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
	rest, ok := strings.CutPrefix(text, "Task #")
	if !ok {
		return ""
	}
	key, rest, _ := strings.Cut(rest, " ")
	if !strings.HasPrefix(rest, "created") {
		return ""
	}
	return strings.Clone(key)
}
