package transcript

import "strings"

// Run is a command without the parts that do not affect its meaning, to recognize repeated runs.
type Run struct {
	Dir      string // where it runs, "" if unknown
	Command  string
	Filtered bool // its status is that of a filter after a pipe
}

// NormalizeRun removes from a command that runs in dir leading directory changes, variables and time limits, and
// filters that only shorten or join its output.
func NormalizeRun(dir, cmd string) Run {
	r := Run{Dir: dir, Command: strings.TrimSpace(cmd)}
	if len(cmd) > maxShell { // each step scans the rest of the command
		return r
	}
	for n := 0; n < maxNested && (r.changesDir() || r.prefixed()); n++ {
	}
	for n := 0; n < maxNested && r.filtered(); n++ {
	}
	r.Filtered = r.Filtered && !strings.Contains(cmd, "pipefail")
	return r
}

// changesDir removes a leading "cd DIR &&".
func (r *Run) changesDir() bool {
	rest, ok := strings.CutPrefix(r.Command, "cd ")
	if !ok {
		return false
	}
	for _, sep := range []string{"&&", ";", "\n"} {
		to, after, ok := strings.Cut(rest, sep)
		to = strings.TrimSpace(to)
		if !ok || strings.ContainsAny(to, " \t\n;&|$`") || strings.TrimSpace(after) == "" {
			continue
		}
		r.Dir = joinDir(r.Dir, strings.Trim(to, `'"`))
		r.Command = strings.TrimSpace(after)
		return true
	}
	return false
}

// prefixed removes a leading variable, or a command that runs another one.
func (r *Run) prefixed() bool {
	first, rest, ok := strings.Cut(r.Command, " ")
	rest = strings.TrimSpace(rest)
	if !ok || rest == "" {
		return false
	}
	switch {
	case IsAssignment(first) && !strings.ContainsAny(first, "'\"$`;&|<>("):
		r.Command = rest
	case first == "env" || first == "sudo" || first == "command" || first == "time":
		if strings.HasPrefix(rest, "-") {
			return false
		}
		r.Command = rest
	case first == "timeout":
		return r.timed(rest)
	default:
		return false
	}
	return true
}

// timed removes a time limit: its options, and the duration.
func (r *Run) timed(rest string) bool {
	for range 6 {
		first, after, ok := strings.Cut(rest, " ")
		after = strings.TrimSpace(after)
		if !ok || after == "" {
			return false
		}
		rest = after
		number := first[0] >= '0' && first[0] <= '9'
		if number && strings.Trim(first, "0123456789.smhd") == "" {
			r.Command = rest
			return true
		}
		if !strings.HasPrefix(first, "-") {
			return false
		}
		if first == "-k" || first == "-s" || first == "--signal" || first == "--kill-after" {
			_, rest, _ = strings.Cut(rest, " ")
		}
	}
	return false
}

// filtered removes what only joins or shortens the output.
func (r *Run) filtered() bool {
	if cmd, ok := strings.CutSuffix(r.Command, "2>&1"); ok {
		r.Command = strings.TrimSpace(cmd)
		return true
	}
	i := strings.LastIndexByte(r.Command, '|')
	if i <= 0 || r.Command[i-1] == '|' || strings.ContainsAny(r.Command[i:], "\n'\"`;&$()<>") {
		return false
	}
	name, _, _ := strings.Cut(strings.TrimSpace(r.Command[i+1:]), " ")
	if name != "head" && name != "tail" {
		return false
	}
	r.Command, r.Filtered = strings.TrimSpace(r.Command[:i]), true
	return true
}
