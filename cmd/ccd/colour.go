package main

// tone is the meaning of a text, shown as a color on a terminal.
type tone string

const (
	noTone tone = ""
	good   tone = "\x1b[32m"   // at work
	dim    tone = "\x1b[2m"    // past
	warn   tone = "\x1b[33m"   // needs attention soon
	bad    tone = "\x1b[31m"   // failed or missing
	match  tone = "\x1b[1;31m" // matches a search
)

// paint returns text in the color of a tone, if on.
func (t tone) paint(text string, on bool) string {
	if !on || t == noTone || text == "" {
		return text
	}
	return string(t) + text + "\x1b[0m"
}
