package session

import "strings"

// mostDiff is how many lines of an edit are compared one with another; a longer one is shown as removed and added.
const mostDiff = 400

// lineDiff returns the lines that differ between two texts as - and + lines, with one unchanged line before each group and a mark where
// others are left out.
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
	i, j, skipped := 0, 0, false
	for _, k := range append(common(a, b), [2]int{len(a), len(b)}) {
		changed := i < k[0] || j < k[1]
		if changed && skipped {
			out.WriteString("  …\n")
		}
		for ; i < k[0]; i++ {
			out.WriteString("- " + a[i] + "\n")
		}
		for ; j < k[1]; j++ {
			out.WriteString("+ " + b[j] + "\n")
		}
		if skipped = !changed; changed && k[0] < len(a) {
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
// line that is removed and added again. Where something is left out between them there is a mark.
func patchLines(patch string) string {
	var out, before, after strings.Builder
	files := strings.Count(patch, "\n*** ") - strings.Count(patch, "\n*** End")
	flush := func() {
		if before.Len()+after.Len() > 0 {
			if change := lineDiff(before.String(), after.String()); change != "" {
				if out.Len() > 0 && !strings.HasPrefix(change, "  ") {
					out.WriteString("  …\n")
				}
				out.WriteString(change)
			}
		}
		before.Reset()
		after.Reset()
	}
	for line := range strings.Lines(patch) {
		line = strings.TrimRight(line, "\r\n")
		switch {
		case strings.HasPrefix(line, "*** ") && files > 1 && !strings.HasSuffix(line, " Patch"):
			flush()
			out.WriteString(line + "\n")
		case strings.HasPrefix(line, "+"):
			after.WriteString(line[1:] + "\n")
		case strings.HasPrefix(line, "-"):
			before.WriteString(line[1:] + "\n")
		default:
			flush()
		}
	}
	flush()
	return strings.TrimSuffix(out.String(), "\n")
}
