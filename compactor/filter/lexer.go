package filter

import (
	"unicode/utf8"

	"ccd/compactor/lexicon"
)

// opensOf has the bytes after which a sentence or clause may begin.
var opensOf = lexicon.ByteSet("\n.!?:;,-#>\"(")

// headOf and tailOf have the bytes around words that are not part of them.
var (
	headOf = lexicon.ByteSet("([{<\"'`*,;!?)]}>|#=")
	tailOf = lexicon.ByteSet(".,;:!?)]}>\"'`*([{<|=")
)

// Word is a run of bytes without white space, and within it the core without the punctuation around. Where Chinese, Japanese or
// Korean text meets another script, a run ends: these languages put no space there.
type Word struct {
	From, To   int // bytes: of the run
	Head, Tail int // bytes: of the core; Head == Tail: there is none
	Has        lexicon.Class
	Opens      bool // a sentence, a clause or a line begins here
}

// Lexer iterates over the words of a text. It reads each byte once or twice, whatever the text.
type Lexer struct {
	Text string
	Word Word // the last one that Next has moved to
	at   int
	end  byte // last byte of the previous word, '\n' if a new line began since
}

// Lex returns a lexer at the start of a text.
func Lex(text string) Lexer { return Lexer{Text: text, end: '\n'} }

// Next moves to the next word. It returns false at the end.
func (l *Lexer) Next() bool {
	s, i := l.Text, l.at
	for i < len(s) && lexicon.ClassOf(s[i]) == lexicon.Gap {
		if s[i] == '\n' {
			l.end = '\n'
		}
		i++
	}
	if i == len(s) {
		l.at = i
		return false
	}
	from, all, wide := i, lexicon.Class(0), false
	for i < len(s) && lexicon.ClassOf(s[i]) != lexicon.Gap {
		r, n := utf8.DecodeRuneInString(s[i:])
		if i > from && lexicon.IsWide(r) != wide {
			break
		}
		wide = lexicon.IsWide(r)
		all |= lexicon.ClassOf(s[i])
		i += n
	}
	w := &l.Word
	w.From, w.To, w.Head, w.Tail, w.Has, w.Opens = from, i, from, i, all, opensOf[l.end]
	if all&^(lexicon.Letters|lexicon.Digit|lexicon.High) != 0 {
		w.trim(s)
	}
	if l.at = i; w.Head < w.Tail || l.end != '\n' { // a bullet opens as the line does
		l.end = s[i-1]
	}
	return true
}

// trim removes the punctuation at both ends of the word's core.
func (w *Word) trim(s string) {
	head, tail := w.Head, w.Tail
	for head < tail && headOf[s[head]] {
		head++
	}
	for tail > head && tailOf[s[tail-1]] {
		tail--
	}
	has := lexicon.Class(0)
	for i := head; i < tail; i++ {
		has |= lexicon.ClassOf(s[i])
	}
	w.Head, w.Tail, w.Has = head, tail, has
}

// Core returns the word without the punctuation around it.
func (l *Lexer) Core() string { return l.Text[l.Word.Head:l.Word.Tail] }

// Run returns the word with the punctuation around it.
func (l *Lexer) Run() string { return l.Text[l.Word.From:l.Word.To] }
