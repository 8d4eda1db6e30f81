package setup

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"
)

// A block of instructions stands between two marks, each a line of its own. The first holds a checksum of the lines
// between, so that what a user wrote, into them or between marks of his own, is never taken for ccd's.
var beginMark = regexp.MustCompile(`^<!-- ccd ([0-9a-f]{12})(?:; [^>]*)? -->$`)

const endMark = "<!-- /ccd -->"

// notes are what a mark says beside it, for uninstall.
type notes struct {
	open bool     // the text before the block had no end of its last line
	made []string // the directories that were made, relative to the agent's own, an outer one before what it holds
}

const noLineEnd = "; no line end before"

// String is how a mark holds the notes.
func (n notes) String() string {
	text := ""
	if n.open {
		text = noLineEnd
	}
	if len(n.made) > 0 {
		text += "; made: " + strings.Join(n.made, " ")
	}
	return text
}

var madeDirs = regexp.MustCompile("; made: ([^>;\n]*) -->")

// notesOf reads the notes of the mark in a text.
func notesOf(text string) (n notes) {
	n.open = strings.Contains(text, noLineEnd)
	if m := madeDirs.FindStringSubmatch(text); m != nil {
		n.made = strings.Fields(m[1])
	}
	return n
}

// sum is the checksum of lines, however they end.
func sum(body []string) string {
	h := sha256.New()
	for _, l := range body {
		io.WriteString(h, bare(l)+"\n")
	}
	return hex.EncodeToString(h.Sum(nil))[:12]
}

// marked puts lines between marks.
func marked(body []string, n notes) []string {
	return slices.Concat([]string{"<!-- ccd " + sum(body) + n.String() + " -->"}, body, []string{endMark})
}

func bare(line string) string { return strings.TrimRight(line, "\r\n") }

// lines takes a text apart, each line with its end.
func lines(text []byte) []string { return slices.Collect(strings.Lines(string(text))) }

// find returns the first and the last line of the block, -1 where there is none. Marks that only look like ccd's are
// none; lines between ccd's that are not as it wrote them are an error.
func find(path string, all []string) (from, to int, err error) {
	from, to = -1, -1
	fail := func(at int, what string) (int, int, error) {
		return -1, -1, hinted(fmt.Errorf("read %s:%d: %s", path, at+1, what), "keep what is yours outside ccd's marks, take these out by hand with all between them, then try again")
	}
	changed := -1
	for i, l := range all {
		m := beginMark.FindStringSubmatch(bare(l))
		if m == nil {
			continue
		}
		end := slices.IndexFunc(all[i:], func(l string) bool { return bare(l) == endMark })
		switch {
		case end < 0 || sum(all[i+1:i+end]) != m[1]:
			changed = i
		case from >= 0:
			return fail(i, "a second block of ccd's begins here")
		default:
			from, to = i, i+end
		}
	}
	if from < 0 && changed >= 0 {
		return fail(changed, "the block that begins here is not as ccd wrote it: it was changed, or its end is missing")
	}
	return from, to, nil
}

// put writes lines, between marks, in the place of the block that is there, else at the end of the text, after an empty
// line. Made are the directories that are made for a new one.
func put(path string, text []byte, body, made []string) ([]byte, error) {
	all := lines(text)
	from, to, err := find(path, all)
	if err != nil {
		return nil, err
	}
	if from < 0 {
		return attach(text, marked(body, notes{isOpen(text), made})), nil
	}
	body = marked(body, notesOf(all[from]))
	last := all[to][len(bare(all[to])):]
	now := strings.Join(body, all[from][len(bare(all[from])):]) + last
	return []byte(strings.Join(all[:from], "") + now + strings.Join(all[to+1:], "")), nil
}

// isOpen reports whether a text's last line has no end.
func isOpen(text []byte) bool { return len(text) > 0 && !bytes.HasSuffix(text, []byte("\n")) }

// attach puts lines at the end of a text after an empty one.
func attach(text []byte, body []string) []byte {
	eol := lineEnd(text)
	block := strings.Join(body, eol) + eol
	switch {
	case len(text) == 0:
		return []byte(block)
	case isOpen(text):
		return []byte(string(text) + eol + eol + block)
	}
	return []byte(string(text) + eol + block)
}

// take takes the block out, with the empty line before it; found is false where there is none.
func take(path string, text []byte) (now []byte, n notes, found bool, err error) {
	all := lines(text)
	from, to, err := find(path, all)
	if err != nil || from < 0 {
		return text, n, false, err
	}
	n = notesOf(all[from])
	before, after := all[:from], all[to+1:]
	if from > 0 && bare(all[from-1]) == "" {
		before = all[:from-1]
	}
	left := strings.Join(before, "")
	if n.open && len(after) == 0 {
		left = bare(left)
	}
	return []byte(left + strings.Join(after, "")), n, true, nil
}
