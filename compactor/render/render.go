// Package render prints a plan as sections of Markdown. It decides nothing, and knows nothing of sessions.
package render

import (
	"strings"

	"ccd/compactor/plan"
	"ccd/compactor/unit"
)

// Section is one part of a text, below its `## Name` heading.
type Section struct {
	Name string
	Body string // finished Markdown: whole lines, quoted and escaped, each of at most 2000 chars
}

// Names returns the names of the sections in order.
func Names() []string {
	return []string{"Now", "Rules", "Conversation", "Files", "Commands", "Problems", "Recent", "Rest"}
}

// Sections prints the plan as sections and leaves out empty ones.
func Sections(p plan.Plan, s *unit.Set) []Section {
	bodies := make([]strings.Builder, len(Names()))
	c := conversation{set: s, b: &bodies[unit.Conversation], turn: -1, next: 1}
	sizes := make([]int, len(bodies))
	for _, one := range p.Chosen {
		sizes[one.Section] += len(one.Text)
	}
	for n := range bodies {
		bodies[n].Grow(sizes[n] + sizes[n]/8) // and the headings of turns
	}
	for _, one := range p.Chosen {
		if one.Section == unit.Conversation {
			c.add(one)
		} else {
			bodies[one.Section].WriteString(one.Text)
		}
	}
	c.skip(s.Last())
	var all []Section
	for n, name := range Names() {
		if body := bodies[n].String(); body != "" {
			all = append(all, Section{name, body})
		}
	}
	return all
}

// conversation prints the turns with a heading above each, and one line for omitted messages.
type conversation struct {
	set  *unit.Set
	b    *strings.Builder
	turn int // the current turn, -1 before the first
	next int // the first turn that no line covers yet
}

func (c *conversation) add(one *plan.Choice) {
	if one.Turn != c.turn {
		c.skip(one.Turn)
		c.turn, c.next = one.Turn, one.Turn+1
		if one.Kind != unit.Asked {
			c.b.WriteString(c.set.Heading(one.Turn))
		}
	}
	c.b.WriteString(one.Text)
}

// skip prints the line for the omitted messages before a turn.
func (c *conversation) skip(to int) { c.b.WriteString(c.set.Gap(c.next, to)) }
