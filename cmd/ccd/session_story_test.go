package main

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"
)

var wishes = []string{
	"The nightly export writes 48,212 cents where the invoice says 48,213. Find out why and fix it. Don't touch the schema.",
	"no, keep it integer cents everywhere, no floats, also not in tests",
	"also add a regression test for invoice 48213",
	"run the whole suite, then tell me what is left",
}

// newStory returns a session that fills three quarters of its context window: some requests, each with commands, long outputs and edits.
// It also returns the outputs of the commands.
func newStory() (w *workday, outputs []string) {
	w = &workday{
		at: time.Date(2026, 1, 15, 9, 0, 0, 0, time.UTC), step: 20 * time.Second, context: 14000,
		session: "c0ffee00-1a2b-4c3d-8e4f-5a6b7c8d9e0f", dir: "/home/you/ledger", branch: "fix/cents",
	}
	runs := func(command, output string) {
		outputs = append(outputs, output)
		w.bash(command, output)
	}
	for i, wish := range wishes {
		if i == 1 { // a paste too long for the companion, which names its original
			wish += "\n\n" + strings.Repeat("invoice 48213: 482.13 booked as 48212, expected 48213\n", 200)
		}
		w.human(wish)
		last := i == len(wishes)-1
		steps := 24
		if last { // what is looked up after the last change stands in the companion
			steps = 23
		}
		for step := range steps {
			runs(fmt.Sprintf("pytest -q tests/part_%d_%d", i, step), partOfTests(i, step))
		}
		w.edit("money.py", fmt.Sprintf("return round(value * %d)", 100+i), "whole, _, frac = text.partition(\".\")")
		if last {
			var b strings.Builder
			for i := range 60 {
				fmt.Fprintf(&b, "ledger/part_%d.py:%d:    total = cents(row[%d])  # booked in whole cents\n", i, 10+i, i)
			}
			runs("grep -rn 'cents(' ledger", b.String())
		}
		w.say(fmt.Sprintf("Step %d is done: `cents()` now parses decimals as text and scales by 100 in integers, because float(\"482.13\") * 100 is 48212.999999999996. I rejected Decimal everywhere: it is slower on the nightly batch.", i+1))
	}
	return w, outputs
}

// partOfTests is what one part of the tests prints.
func partOfTests(wish, step int) string {
	var b strings.Builder
	for i := range 60 {
		fmt.Fprintf(&b, "tests/part_%d_%d/test_money.py::test_invoice_%05d PASSED [%3d%%]\n", wish, step, 48000+wish*1499+step*61+i, i*100/60)
	}
	if step%5 == 3 {
		fmt.Fprintf(&b, "E   AssertionError: Money(48212) != Money(48213)\ntests/part_%d_%d/test_money.py:41: AssertionError\n", wish, step)
	}
	if step%5 != 4 { // without it a companion ends with a marker
		fmt.Fprintf(&b, "60 passed in %d.%02ds\n", step+1, wish*7)
	}
	return b.String()
}

// quoted returns text as JSON, as in the story's lines.
func quoted(text string) []byte {
	b, err := json.Marshal(text)
	if err != nil {
		panic("story: its own words do not encode: " + err.Error())
	}
	return b
}
