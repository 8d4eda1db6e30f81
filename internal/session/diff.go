package session

import "strings"

// mostDiff is how many lines of an edit are compared one with another; a longer one is shown as removed and added.
const mostDiff = 400

// lineDiff returns the lines that differ between two texts as - and + lines, with one unchanged line before each group.
func lineDiff(before, after string) string {
	a, b := splitLines(before), splitLines(after)
	head := 0
	for head < len(a) && head < len(b) && a[head] == b[head] {
		head++
	}
	tail := 0
	for tail < len(a)-head && tail < len(b)-head && a[len(a)-1-tail] == b[len(b)-1-tail] {
		tail++
	}
	var out strings.Builder
	if head > 0 {
		out.WriteString("  " + a[head-1] + "\n")
	}
	a, b = a[head:len(a)-tail], b[head:len(b)-tail]
	keep := common(a, b)
	i, j := 0, 0
	for _, k := range append(keep, [2]int{len(a), len(b)}) {
		changed := i < k[0] || j < k[1]
		for ; i < k[0]; i++ {
			out.WriteString("- " + a[i] + "\n")
		}
		for ; j < k[1]; j++ {
			out.WriteString("+ " + b[j] + "\n")
		}
		if k[0] < len(a) && changed {
			out.WriteString("  " + a[k[0]] + "\n")
		}
		i, j = k[0]+1, k[1]+1
	}
	return out.String()
}

func splitLines(text string) []string {
	if text == "" {
		return nil
	}
	return strings.Split(strings.TrimSuffix(text, "\n"), "\n")
}

// common returns the pairs of indexes of a longest common subsequence of lines, none for long texts.
func common(a, b []string) (pairs [][2]int) {
	if len(a) > mostDiff || len(b) > mostDiff {
		return nil
	}
	best := make([][]int, len(a)+1)
	for i := range best {
		best[i] = make([]int, len(b)+1)
	}
	for i := len(a) - 1; i >= 0; i-- {
		for j := len(b) - 1; j >= 0; j-- {
			if a[i] == b[j] {
				best[i][j] = best[i+1][j+1] + 1
			} else {
				best[i][j] = max(best[i+1][j], best[i][j+1])
			}
		}
	}
	for i, j := 0, 0; i < len(a) && j < len(b); {
		switch {
		case a[i] == b[j]:
			pairs = append(pairs, [2]int{i, j})
			i, j = i+1, j+1
		case best[i+1][j] >= best[i][j+1]:
			i++
		default:
			j++
		}
	}
	return pairs
}

// patchLines returns the lines of a patch that change something, with the files that they are in: no wrapper, no context, no
// line that is removed and added again.
func patchLines(patch string) string {
	var out []string
	files := strings.Count(patch, "\n*** ") - strings.Count(patch, "\n*** End")
	for line := range strings.Lines(patch) {
		line = strings.TrimRight(line, "\r\n")
		switch {
		case strings.HasPrefix(line, "*** ") && files > 1 && !strings.HasSuffix(line, " Patch"):
			out = append(out, line)
		case strings.HasPrefix(line, "+"):
			if n := len(out); n > 0 && out[n-1] == "-"+line[1:] {
				out = out[:n-1]
				continue
			}
			out = append(out, line)
		case strings.HasPrefix(line, "-"):
			out = append(out, line)
		}
	}
	return strings.Join(out, "\n")
}
