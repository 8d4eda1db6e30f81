package transcript

import "slices"

// Assistant reports whether items of this kind come from the assistant.
func (k Kind) Assistant() bool { return k == Text || k == Call || k == Thinking }

// Answers returns, for n blocks, the index of each call's result: the first one after the call with its ID.
func Answers(n int, block func(int) *Block) map[int]int {
	answers, open := map[int]int{}, map[string]int{}
	for i := range n {
		b := block(i)
		if b.Call == "" {
			continue
		}
		switch b.Kind {
		case Call:
			open[b.Call] = i
		case Result:
			if call, ok := open[b.Call]; ok {
				answers[call] = i
				delete(open, b.Call)
			}
		}
	}
	return answers
}

// Turns groups n blocks into alternating messages, and returns the indexes of each message's blocks. The results of a
// reply's calls follow it directly, in the order of the calls, even if they are between its blocks; anything said
// meanwhile follows them.
func Turns(n int, block func(int) *Block) (turns [][]int) {
	answers, done := Answers(n, block), make([]bool, n)
	put := func(i int) {
		done[i] = true
		if last := len(turns) - 1; last >= 0 && block(turns[last][0]).Kind.Assistant() == block(i).Kind.Assistant() {
			turns[last] = append(turns[last], i)
			return
		}
		turns = append(turns, []int{i})
	}
	for i := range n {
		if done[i] {
			continue
		}
		if !block(i).Kind.Assistant() {
			put(i)
			continue
		}
		reply, results, answered := "", []int(nil), false
		for j := i; j < n; j++ {
			b := block(j)
			if done[j] {
				continue
			}
			if slices.Contains(results, j) {
				answered = true
				continue
			}
			if !b.Kind.Assistant() || answered && (b.Reply == "" || b.Reply != reply) {
				break
			}
			put(j)
			reply = b.Reply
			if result, ok := answers[j]; ok {
				results = append(results, result)
			}
		}
		for _, result := range results {
			put(result)
		}
	}
	return turns
}
