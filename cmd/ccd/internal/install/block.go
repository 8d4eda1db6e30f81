package install

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"

	"ccd/internal/words"
)

// A block of instructions is between two marks, each on its own line. The first has a checksum of the lines between them,
// so that ccd never removes text that a user wrote there.
var beginMark = regexp.MustCompile(`^<!-- ccd ([0-9a-f]{12}) -->$`)

const endMark = "<!-- /ccd -->"

// sum returns the checksum of lines. It ignores line ends, because an editor may convert them.
func sum(body []string) string {
	h := sha256.New()
	for _, l := range body {
		io.WriteString(h, bare(l)+"\n")
	}
	return hex.EncodeToString(h.Sum(nil))[:12]
}

// marked returns lines between marks.
func marked(body []string) []string {
	return slices.Concat([]string{"<!-- ccd " + sum(body) + " -->"}, body, []string{endMark})
}

func bare(line string) string { return strings.TrimRight(line, "\r\n") }

// lines splits a text into lines, with their ends.
func lines(text []byte) []string { return slices.Collect(strings.Lines(string(text))) }

// find returns the first and the last line of the block, -1 if there is none. It fails if the text between the marks was
// changed, because removing it could remove the user's text.
func find(path string, all []string) (from, to int, err error) {
	for i, l := range all {
		m := beginMark.FindStringSubmatch(bare(l))
		if m == nil {
			continue
		}
		if end := slices.IndexFunc(all[i:], func(l string) bool { return bare(l) == endMark }); end > 0 && sum(all[i+1:i+end]) == m[1] {
			return i, i + end, nil
		}
		err = words.Hint(fmt.Errorf("read %s:%d: the block was changed since ccd wrote it, or its end is missing", path, i+1),
			"move your text out of ccd's marks, remove the marks and what is between them, then try again")
	}
	return -1, -1, err
}

// put replaces the block in a text, or adds it at the end, after an empty line.
func put(path string, text []byte, body []string) ([]byte, error) {
	all := lines(text)
	from, to, err := find(path, all)
	if err != nil {
		return nil, err
	}
	if from < 0 {
		return attach(text, marked(body)), nil
	}
	eol := lineEnd(text)
	return []byte(strings.Join(all[:from], "") + strings.Join(marked(body), eol) + eol + strings.Join(all[to+1:], "")), nil
}

// lineEnd returns the line end of a text.
func lineEnd(text []byte) string {
	if i := bytes.IndexByte(text, '\n'); i > 0 && text[i-1] == '\r' {
		return "\r\n"
	}
	return "\n"
}

// attach adds lines at the end of a text, after an empty line.
func attach(text []byte, body []string) []byte {
	eol := lineEnd(text)
	block := strings.Join(body, eol) + eol
	switch {
	case len(text) == 0:
		return []byte(block)
	case !bytes.HasSuffix(text, []byte("\n")):
		return []byte(string(text) + eol + eol + block)
	}
	return []byte(string(text) + eol + block)
}

// take removes the block and the empty line before it.
func take(path string, text []byte) ([]byte, error) {
	all := lines(text)
	from, to, err := find(path, all)
	if err != nil || from < 0 {
		return text, err
	}
	after := all[to+1:]
	if from > 0 && bare(all[from-1]) == "" {
		from--
	}
	return []byte(strings.Join(slices.Concat(all[:from], after), "")), nil
}
