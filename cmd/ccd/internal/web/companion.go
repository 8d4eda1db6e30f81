package web

import (
	"context"
	"io"
	"slices"
	"strings"

	"ccd/compactor/companion"
	"ccd/internal/lazy"
	"ccd/internal/mark"
)

// companionData is the page of a companion.
type companionData struct {
	head
	companion.Parsed
	Home    string // address of the session, "" in a file
	Written bool   // it is the file that the daemon wrote
	Path    string
}

// block is a heading, a line of ccd, or a quote from the transcript, in which no ID is a link.
type block struct {
	Kind  string // "heading", "line", "quote"
	Text  string // of a quote; of a line of a handover, the agent's last words in Markdown, if it is about these
	Parts []piece
	Line  int // of the section, from 1
}

// piece is text of a line, an ID, or the number of a record.
type piece struct {
	Text   string
	ID     mark.ID
	Record string // address of a record, with its number as Text
	Code   bool
	Strong bool
}

// companionPage shows the companion as it was last written, or as the archive gives it now.
func companionPage(ctx context.Context, r *request) (answer, error) {
	c, err := r.library.Companion(ctx, r.entry, false)
	d := companionData{head: r.head("companion"), Home: address("s", r.entry.Agent, r.entry.ID), Written: c.Made == nil, Path: r.entry.Kept.Companion}
	if err == nil {
		d.Parsed, err = companion.Parse(c.Text)
	}
	return answer{template: "companion", data: d}, err
}

// Companion writes a companion as one page that needs nothing else.
func Companion(p companion.Parsed, w io.Writer) error {
	d := companionData{Parsed: p}
	d.Session.Label = inline(p.Fields["agent"] + " " + p.Fields["session"])
	return newLook(true).ExecuteTemplate(w, "companionfile", d)
}

// blocks parses the body of a section. home is the address of the session that its numbers of records are of.
func blocks(home, body string) (all []block) {
	n := 0
	for line := range strings.Lines(body) {
		n++
		line = strings.TrimSuffix(line, "\n")
		bare := strings.TrimLeft(line, " ")
		last := len(all) - 1
		if said, ok := quoted(bare); ok {
			if last < 0 || all[last].Kind != "quote" {
				all = append(all, block{Kind: "quote", Text: said, Line: n})
			} else if strings.HasPrefix(bare, ">+ ") {
				all[last].Text += said
			} else {
				all[last].Text += "\n" + said
			}
		} else if title := strings.TrimLeft(line, "#"); len(line)-len(title) >= 2 && strings.HasPrefix(title, " ") {
			all = append(all, block{Kind: "heading", Parts: pieces(home, title[1:]), Line: n})
		} else if bare != "" {
			all = append(all, block{Kind: "line", Parts: pieces(home, line), Line: n})
		}
	}
	return all
}

// stateOf returns the lines of a handover. Each begins with what it is of. The agent's last words stand whole in place of their beginning.
func stateOf(home, handover string, lastWords func(line string) (rest, words string)) (all []block) {
	for line := range strings.Lines(handover) {
		line, words := lastWords(line)
		label := max(0, strings.IndexAny(line, "(#:"))
		all = append(all, block{Kind: "line", Text: words, Parts: append([]piece{{Text: line[:label], Strong: true}}, pieces(home, strings.TrimSpace(line[label:]))...)})
	}
	return all
}

func quoted(line string) (said string, ok bool) {
	if said, ok := strings.CutPrefix(line, ">+ "); ok {
		return said, true
	}
	said, ok = strings.CutPrefix(line, ">")
	return strings.TrimPrefix(said, " "), ok && (said == "" || said[0] == ' ')
}

// inText matches what a line of ccd has beside plain text: the ID of a marker, the number of a record, code, strong words, and what it
// quotes, in which nothing is ccd's.
var inText = lazy.Regexp("\\[ccd ([0-9a-z]{12})[ \\]]|#([0-9]+)\\b|`([^`]+)`|\\*\\*([^*]+)\\*\\*|\"[^\"]*\"")

// pieces splits a line of ccd.
func pieces(home, line string) (all []piece) {
	at := 0
	for _, m := range inText().FindAllStringSubmatchIndex(line, -1) {
		from, to, one := m[0], m[1], piece{}
		switch {
		case m[2] >= 0 && mark.IsID(line[m[2]:m[3]]):
			from, to, one = m[2], m[3], piece{ID: mark.ID(line[m[2]:m[3]])}
		case m[4] >= 0:
			one = piece{Text: line[from:to], Record: home + "?at=" + line[m[4]:m[5]] + "#r" + line[m[4]:m[5]]}
		case m[6] >= 0:
			one = piece{Text: line[m[6]:m[7]], Code: true}
		case m[8] >= 0:
			one = piece{Text: line[m[8]:m[9]], Strong: true}
		default:
			continue
		}
		all, at = append(all, piece{Text: line[at:from]}, one), to
	}
	all = append(all, piece{Text: line[at:]})
	return slices.DeleteFunc(all, func(p piece) bool { return p == piece{} })
}
