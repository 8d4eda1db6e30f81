package main

// tone is what a text means, where a terminal can show it.
type tone string

const (
	noTone tone = ""
	warn   tone = "\x1b[33m"   // look at it soon
	bad    tone = "\x1b[31m"   // failed, gone
	match  tone = "\x1b[1;31m" // what was searched for
)

// colours reports whether stdout takes colours: a terminal whose user did not refuse them.
func (a *app) colours() bool { return terminal(a.out) && a.Getenv("NO_COLOR") == "" }

// paint returns text in the colour of a tone, where on.
func (t tone) paint(text string, on bool) string {
	if !on || t == noTone || text == "" {
		return text
	}
	return string(t) + text + "\x1b[0m"
}
