package tools

import (
	"bytes"
	"errors"
	"unicode/utf8"
)

// errEnough stops the writer of an answer once the page is full.
var errEnough = errors.New("the page is full")

// page keeps one page of what is written to it. Pages end at a line end, or within a line that is longer than a page. The
// size of the single writes does not matter.
type page struct {
	room, want int    // bytes of a page; number of the page to keep, from 1
	brief      bool   // stop at the first line after that page
	at, used   int    // number of the current page, and its bytes so far
	full       bool   // stopped early
	text       []byte // the page
	begun      []byte // an incomplete line
}

// Write implements io.Writer. It fails with errEnough when nothing more is needed.
func (p *page) Write(data []byte) (int, error) {
	p.begun = append(p.begun, data...)
	rest := p.begun
	for len(rest) > 0 {
		n := bytes.IndexByte(rest, '\n') + 1
		if n == 0 && len(rest) <= p.room+utf8.UTFMax {
			break
		}
		if n == 0 || n > p.room {
			n = boundary(rest, p.room)
		}
		if err := p.add(rest[:n]); err != nil {
			return len(data), err
		}
		rest = rest[n:]
	}
	p.begun = append(p.begun[:0], rest...)
	return len(data), nil
}

// add adds a line, or a part of one that is longer than a page.
func (p *page) add(line []byte) error {
	if p.at == 0 || p.used+len(line) > p.room {
		if p.brief && p.at == p.want {
			p.at, p.full = p.at+1, true
			return errEnough
		}
		p.at, p.used = p.at+1, 0
	}
	p.used += len(line)
	if p.at == p.want {
		p.text = append(p.text, line...)
	}
	return nil
}

// end adds the last line, which may have no newline.
func (p *page) end() error {
	for len(p.begun) > 0 {
		n := boundary(p.begun, p.room)
		if err := p.add(p.begun[:n]); err != nil {
			return err
		}
		p.begun = p.begun[n:]
	}
	p.at = max(p.at, 1)
	return nil
}
