//go:build rig

package compactor

import (
	"fmt"
	"strings"
	"testing"

	"ccd/internal/agent/registry"
	"ccd/internal/session"
	"ccd/internal/testkit"
	"ccd/internal/testkit/exam"
	"ccd/internal/transcript"
)

// TestAblation prints, in Markdown, what recall loses without each row of the table and each term of the formula, at four sizes of a
// companion: make ablation.
func TestAblation(t *testing.T) {
	sittings := exam.Read(t)
	whole := recallOf(t, sittings, nil)
	fmt.Printf("| without | 3,000 | 9,800 | 32,000 | 54,000 | mean |\n|---|---|---|---|---|---|\n| (nothing) |%s\n", cells(whole, [5]float64{}))
	for k := range table {
		was := table[k]
		table[k].head, table[k].body, table[k].fail, table[k].minor = 0, 0, 0, 0
		fmt.Printf("| %s |%s\n", was.name, cells(recallOf(t, sittings, nil), whole))
		table[k] = was
	}
	for _, one := range []struct {
		name string
		set  func(*draft)
	}{
		{"age by place", func(d *draft) { d.formula.floor = 1 }},
		{"age by turns", func(d *draft) { d.formula.turns = 1e9 }},
		{"age by hours", func(d *draft) { d.formula.longAgo = 1 }},
		{"new words", func(d *draft) { d.formula.word = 0 }},
		{"value of a head", func(d *draft) { d.formula.head = d.formula.part }},
		{"value of a part", func(d *draft) { d.formula.part = 0 }},
		{"first sentence of a request", func(d *draft) { d.formula.opening = 1 }},
		{"effect of a turn", func(d *draft) { d.formula.effect = 0 }},
		{"saturation", func(d *draft) { d.formula.saturation = 1e9 }},
		{"cost of a piece", func(d *draft) { d.formula.cost = 0 }},
	} {
		fmt.Printf("| %s |%s\n", one.name, cells(recallOf(t, sittings, one.set), whole))
	}
	was := table
	for k := range table {
		table[k].head, table[k].body, table[k].fail, table[k].minor = min(1, table[k].head), 1, 1, 1
	}
	fmt.Printf("| all importances (1 each) |%s\n", cells(recallOf(t, sittings, nil), whole))
	table = was
}

// cells prints recall at each size and its mean, less that of the whole formula.
func cells(got, whole [5]float64) string {
	var b strings.Builder
	for i := range got {
		if whole[4] == 0 {
			fmt.Fprintf(&b, " %.3f |", got[i])
		} else {
			fmt.Fprintf(&b, " %+.3f |", got[i]-whole[i])
		}
	}
	return b.String()
}

// recallOf returns the share of answers that companions hold, at four sizes and in the mean.
func recallOf(t *testing.T, all []exam.Sitting, set func(*draft)) (recall [5]float64) {
	t.Helper()
	questions := 0
	for i := range all {
		s := &all[i]
		c := modelOf(s.Data)
		for n, room := range []int{3000, 9800, 32000, 54000} {
			recall[n] += s.Score(textFor(t, c, s.Data, Audience{Room: room}, set))
		}
		questions += len(s.Questions)
	}
	for n := range 4 {
		recall[n] /= float64(questions)
		recall[4] += recall[n] / 4
	}
	return recall
}

// model reads a transcript.
func modelOf(data []byte) *Compactor {
	const agent = "claude-code"
	c := New(Defaults(), transcript.Session{Key: transcript.Key{Agent: agent, ID: "s"}})
	for r := range (registry.Table{}).NewDecoder(agent, transcript.Main).Records(transcript.Segment{Data: data, Rest: true}) {
		c.Add(r)
	}
	return c
}

// text makes the text for a reader.
func textFor(t *testing.T, c *Compactor, data []byte, a Audience, set func(*draft)) (text string) {
	t.Helper()
	d := c.draft(a, func(at transcript.Span) ([]byte, error) { return data[at.Off:at.End()], nil }, nil)
	if set != nil {
		set(d)
	}
	made, err := d.made()
	testkit.Must(t, err)
	for _, section := range made.Sections {
		text += section.Body
	}
	return text
}

// TestRecall prints, in Markdown, how many answers the agent's own summary holds, and what ccd gives instead or beside
// it: make recall.
func TestRecall(t *testing.T) {
	all := exam.Read(t)
	type sum struct{ chars, score, questions, texts float64 }
	sums, order := map[string]*sum{}, []string{}
	add := func(s *exam.Sitting, name, text string) {
		if sums[name] == nil {
			sums[name] = &sum{}
			order = append(order, name)
		}
		one := sums[name]
		one.chars, one.score, one.questions, one.texts = one.chars+float64(len([]rune(text))), one.score+s.Score(text), one.questions+float64(len(s.Questions)), one.texts+1
	}
	for i := range all {
		s := &all[i]
		data := append(s.Data[:len(s.Data):len(s.Data)], s.Own...)
		c := modelOf(data)
		src := session.NewSource(c.Session, func(at transcript.Span) ([]byte, error) { return data[at.Off:at.End()], nil })
		own := src.Text(c.Bounds[len(c.Bounds)-1].Own)
		add(s, "the agent's own summary", own)
		add(s, "that summary and what ccd adds (9,800)", own+"\n"+textFor(t, c, data, Audience{Room: 9800, Holds: true}, nil))
		add(s, "a companion as long as that summary", textFor(t, modelOf(s.Data), s.Data, Audience{Room: len([]rune(own))}, nil))
		add(s, "the newest of the transcript, as long as the default companion", string(s.Data[max(0, len(s.Data)-54000):]))
		add(s, "the default companion", textFor(t, modelOf(s.Data), s.Data, Audience{Room: 54000}, nil))
	}
	for _, name := range order {
		one := sums[name]
		fmt.Printf("| %s | %.0f | %.0f %% |\n", name, one.chars/one.texts, 100*one.score/one.questions)
	}
}
