package setup

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
)

// block is a run of lines between two marks, in a text that people write too.
type block struct {
	begin, end *regexp.Regexp // a whole line, without its end
}

func instructions() block {
	return block{regexp.MustCompile(`^<!-- ccd(?:[ ;].*)?-->$`), regexp.MustCompile(`^<!-- /ccd -->$`)}
}

func table() block {
	return block{regexp.MustCompile(`^# ccd: begin\b.*$`), regexp.MustCompile(`^# ccd: end$`)}
}

func bare(line string) string { return strings.TrimRight(line, "\r\n") }

// lines takes a text apart, each line with its end.
func lines(text []byte) []string { return slices.Collect(strings.Lines(string(text))) }

// find returns the first and the last line of the block, -1 where there is none. Marks that do not pair are an error.
func (b block) find(path string, all []string) (from, to int, err error) {
	from, to = -1, -1
	fail := func(at int, what string) (int, int, error) {
		return -1, -1, hinted(fmt.Errorf("read %s:%d: %w", path, at+1, errors.New(what)), "take the marks of ccd out by hand, then try again")
	}
	for i, l := range all {
		switch l = bare(l); {
		case b.begin.MatchString(l) && from >= 0:
			return fail(i, "a second mark of ccd's begins here")
		case b.begin.MatchString(l):
			from = i
		case b.end.MatchString(l) && (from < 0 || to >= 0):
			return fail(i, "a mark of ccd's ends here that never began")
		case b.end.MatchString(l):
			to = i
		}
	}
	if from >= 0 && to < 0 {
		return fail(from, "a mark of ccd's begins here and never ends")
	}
	return from, to, nil
}

// put writes body, which has its marks as first and last line, in the place of the block that is there, else at the end
// of the text, after an empty line.
func (b block) put(path string, text []byte, body []string) ([]byte, error) {
	all := lines(text)
	from, to, err := b.find(path, all)
	if err != nil {
		return nil, err
	}
	if from >= 0 {
		last := all[to][len(bare(all[to])):]
		now := strings.Join(body, all[from][len(bare(all[from])):]) + last
		return []byte(strings.Join(all[:from], "") + now + strings.Join(all[to+1:], "")), nil
	}
	return attach(text, body), nil
}

// attach puts lines at the end of a text after an empty one. What ends without a line end still does, so that detach can
// tell.
func attach(text []byte, body []string) []byte {
	eol := lineEnd(text)
	block := strings.Join(body, eol)
	switch {
	case len(text) == 0:
		return []byte(block + eol)
	case bytes.HasSuffix(text, []byte("\n")):
		return []byte(string(text) + eol + block + eol)
	}
	return []byte(string(text) + eol + eol + block)
}

// detach takes lines out, each run of them with the empty one before it.
func detach(all []string, drop map[int]bool) []byte {
	last := -1
	for _, i := range slices.Sorted(maps.Keys(drop)) {
		if last = i; i > 0 && bare(all[i-1]) == "" {
			drop[i-1] = true
		}
	}
	if last < 0 {
		return []byte(strings.Join(all, ""))
	}
	var b strings.Builder
	for i, l := range all {
		if !drop[i] {
			b.WriteString(l)
		}
	}
	if last > 0 && last == len(all)-1 && !strings.HasSuffix(all[last], "\n") { // nor had the text before
		return []byte(strings.TrimSuffix(b.String(), lineEnd([]byte(all[last-1]))))
	}
	return []byte(b.String())
}

// take takes the block out; false where there is none.
func (b block) take(path string, text []byte) ([]byte, bool, error) {
	all := lines(text)
	from, to, err := b.find(path, all)
	if err != nil || from < 0 {
		return text, false, err
	}
	drop := map[int]bool{}
	for i := from; i <= to; i++ {
		drop[i] = true
	}
	return detach(all, drop), true, nil
}
