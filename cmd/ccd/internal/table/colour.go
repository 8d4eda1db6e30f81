// Package table lays out text in the cells of a terminal: tables that fit, wrapped lines, and colors by meaning.
package table

// Tone is the meaning of a text, shown as a color on a terminal.
type Tone string

// The tones.
const (
	NoTone Tone = ""
	Good   Tone = "\x1b[32m"   // at work
	Dim    Tone = "\x1b[2m"    // past
	Warn   Tone = "\x1b[33m"   // needs attention soon
	Bad    Tone = "\x1b[31m"   // failed or missing
	Match  Tone = "\x1b[1;31m" // matches a search
)

// Paint returns text in the color of a tone, if on.
func (t Tone) Paint(text string, on bool) string {
	if !on || t == NoTone || text == "" {
		return text
	}
	return string(t) + text + "\x1b[0m"
}
