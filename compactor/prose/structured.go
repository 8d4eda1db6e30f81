package prose

import (
	"fmt"
	"strings"

	"ccd/compactor/lexicon"
)

// isStructured reports whether a text is output of a machine by its look: many short lines, most of them structural.
func isStructured(text string, chars int) bool {
	if strings.Count(text, "\n")*charsPerLine < chars-charsPerLine {
		return false
	}
	lines, structural := 0, 0
	for line := range strings.Lines(text) {
		if t := strings.TrimSpace(line); t != "" {
			lines++
			if isStructural(t) {
				structural++
			}
		}
	}
	return lines >= structuredLines && lines*charsPerLine > chars && float64(structural) > structuralShare*float64(lines)
}

// isStructural reports whether a trimmed line is one that a machine writes: a status, a place, a log line, a row, a
// frame, a key with its value, code, or an item of a few words.
func isStructural(t string) bool {
	if n := lexicon.BulletLen(t); n > 0 {
		return strings.Count(t[n:], " ") < 5 && !lexicon.EndsSentence(t)
	}
	return isLogged(t) || isStatus(t) || lexicon.IsPlaced(t) || lexicon.IsFrame(t) || keyLen(t) > 0 || isRow(t) || hasColumns(t) || isCode(t)
}

// mostFiles is how many files the summary of structured output names.
const mostFiles = 3

// structuredSummary names the files of structured output and its distinct status lines, errors first, in at most so many
// chars; where there is none of both, its first lines and its last.
func structuredSummary(text string, most int) string {
	s := structuredParts(text)
	var parts []string
	if len(s.files) > 0 {
		parts = append(parts, s.fileList())
	}
	parts = append(parts, s.errors...)
	parts = append(parts, s.status...)
	if len(parts) == 0 {
		return endsOf(text, most)
	}
	return joinedParts(parts, most)
}

// joinedParts joins those parts that fit into so many chars; where none does, the first one is cut.
func joinedParts(parts []string, most int) string {
	const sep = " | "
	var b strings.Builder
	for _, p := range parts {
		if n := lexicon.Chars(b.String()) + lexicon.Chars(p) + len(sep); n <= most || b.Len() == 0 && lexicon.Chars(p) <= most {
			if b.Len() > 0 {
				b.WriteString(sep)
			}
			b.WriteString(p)
		}
	}
	if b.Len() == 0 {
		return cutWords(parts[0], most)
	}
	return b.String()
}

// outputParts are what the summary of structured output is made of.
type outputParts struct {
	files          []string
	more           int // files beyond those named
	errors, status []string
}

// mostParts bounds the status lines that are collected.
const mostParts = 64

func structuredParts(text string) outputParts {
	var p outputParts
	seen := map[uint32]bool{}
	for line := range strings.Lines(text) {
		t := strings.TrimSpace(line)
		if t == "" {
			continue
		}
		p.file(t, seen)
		if !isStatus(t) || lexicon.IsRule(t) || len(t) > lexicon.LongestName {
			continue
		}
		wrong := lexicon.IsError(t, true)
		if h := lexicon.TermHash(t); !seen[h] && len(seen) < 16*mostParts {
			seen[h] = true
			if wrong && len(p.errors) < mostParts {
				p.errors = append(p.errors, t)
			} else if !wrong && len(p.status) < mostParts {
				p.status = append(p.status, t)
			}
		}
	}
	return p
}

// file takes the first file that a line names.
func (p *outputParts) file(t string, seen map[uint32]bool) {
	for lx := lexicon.Lex(t[:min(len(t), lexicon.LongestName)]); lx.Next(); {
		w := &lx.Word
		if w.Has&(lexicon.Slash|lexicon.Dot|lexicon.Colon) == 0 || w.Head == w.Tail {
			continue
		}
		name := lx.Core()
		if i := strings.IndexByte(name, ':'); i > 0 && i+1 < len(name) && name[i+1]-'0' < 10 {
			name = name[:i]
		}
		k := lexicon.KindOf(name, w.Has)
		if k != lexicon.PathWord && k != lexicon.PlaceWord || w.Has&lexicon.Slash == 0 && len(name)-strings.LastIndexByte(name, '.') > 4 {
			continue
		}
		if h := lexicon.TermHash(name); !seen[h] && len(seen) < 16*mostParts {
			seen[h] = true
			if len(p.files) == mostFiles {
				p.more++
				return
			}
			p.files = append(p.files, name)
		}
		return
	}
}

func (p *outputParts) fileList() string {
	s := "files: " + strings.Join(p.files, ", ")
	if p.more > 0 {
		s += fmt.Sprintf(" +%d more", p.more)
	}
	return s
}

// endsOf is the first lines of a text and its last, and how many it has.
func endsOf(text string, most int) string {
	var first []string
	last, n := "", 0
	for line := range strings.Lines(text) {
		t := strings.TrimSpace(line)
		if t == "" {
			continue
		}
		n++
		if len(first) < 3 {
			first = append(first, t)
		}
		last = t
	}
	count := fmt.Sprintf(" (%d lines)", n)
	if n > len(first) {
		first = append(first, "...", last)
	}
	return cutWords(strings.Join(first, " | "), most-len(count)) + count
}
