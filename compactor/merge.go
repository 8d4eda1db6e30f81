package compactor

import (
	"fmt"
	"strings"

	"ccd/compactor/lexicon"
	"ccd/compactor/prose"
	"ccd/internal/mark"
)

// mergedFrame is what a merged line takes beside its text, in chars, about.
const mergedFrame = 110

// maxMerged bounds the messages of one merged summary, and its chars.
const (
	maxMerged      = 24
	maxMergedChars = 1200
)

// merge replaces the lines of messages that follow each other, with nothing shown between them, by one summary of them
// all, and returns the chars that this saves. Only talk that is old enough is merged, and only within one range.
func (d *draft) merge(all []*candidate, ranges []stretch) int {
	if !d.c.o.on("merge") {
		return 0
	}
	saved := 0
	var run []*candidate
	limit := 0
	flush := func() {
		if len(run) > 1 {
			saved += d.mergeRun(run)
		}
		run = nil
	}
	next := 0
	for i := len(all) - 1; i >= 0; i-- {
		c := all[i]
		for next < len(ranges) && c.rec >= limit {
			flush()
			limit = ranges[next].to
			next++
		}
		switch {
		case c.line == "":
		case c.form.kind != "talk" || len(run) == maxMerged:
			flush()
			if c.form.kind == "talk" {
				run = append(run, c)
			}
		default:
			run = append(run, c)
		}
	}
	flush()
	return saved
}

// mergeRun makes one line of the messages of a run; the first one carries it.
func (d *draft) mergeRun(run []*candidate) int {
	texts := make([]string, 0, len(run))
	rows := make([]int32, 0, len(run))
	room, before := 0, 0
	for _, c := range run {
		texts = append(texts, d.text(c.unit.first))
		rows = append(rows, c.unit.first)
		room += d.detailOf(c).text
		before += lexicon.Chars(c.line)
	}
	room = min(room, before-mergedFrame, maxMergedChars)
	if room < prose.MinBudget {
		return 0
	}
	text := d.summary(texts, room, func() string { return prose.Summarize(texts, d.c.o.prose(), room) })
	if text == "" {
		return 0
	}
	note := fmt.Sprintf("summary: %s (%d messages merged)", mark.Inline(text, maxMergedChars+100), len(run))
	note += d.entities(strings.Join(texts, "\n"), text+d.said)
	first, last := d.row(rows[0]), d.row(rows[len(rows)-1])
	line := fmt.Sprintf("- #%d-#%d assistant %s\n", first.record(), last.record(), mark.New(d.list(rows, "messages"), note))
	if lexicon.Chars(line) >= before || lexicon.Chars(line) > maxLine {
		return 0
	}
	var chars int64
	for _, c := range run {
		c.line, c.merged = "", true
		chars += c.chars
		c.form = form{}
	}
	run[0].line = line
	run[0].form = form{line: line, kind: "talk", saved: chars - int64(lexicon.Chars(line))}
	return before - lexicon.Chars(line)
}

// entities is the end of a summary's marker: what a text names and the companion does not yet show.
func (d *draft) entities(text, shown string) string {
	if !d.c.o.on("entities") {
		return ""
	}
	var left []string
	for _, e := range prose.Entities(text, 0) {
		if !strings.Contains(shown, e) {
			left = append(left, mark.Inline(e, 60))
		}
	}
	if len(left) == 0 {
		return ""
	}
	return " | entities: " + strings.Join(left, ", ")
}
