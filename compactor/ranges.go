package compactor

import (
	"fmt"
	"strings"

	"ccd/compactor/lexicon"
	"ccd/internal/mark"
)

// block is the number of records under one range marker where the records' own lines are shown. Larger ranges are
// eight times the next smaller one.
const (
	block      = 64
	narrowest  = block << 3 // the same where there is little room
	largest    = block << 12
	blockRatio = 8
)

// span of records [from, to).
type stretch struct{ from, to int }

// cut divides the records [0, to) into ranges of at least so many records (the last may have fewer) whose ends are
// fixed: as large as the place allows, so that records added
// behind change only the last.
func cut(to, least int) []stretch {
	var all []stretch
	for from := 0; from < to; {
		size := largest
		for size > least && (from%size != 0 || from+size > to) {
			size /= blockRatio
		}
		next := min(from+size, to)
		all = append(all, stretch{from, next})
		from = next
	}
	return all
}

// stretches divides the records [0, to) into at most so many ranges (and those of cut, if these are more), the newest
// into the smallest.
func (d *draft) stretches(to, most int) []stretch {
	all := cut(to, d.least)
	for n := len(all) - 1; n >= 0 && len(all)+blockRatio-1 <= most; {
		s := all[n]
		size := s.to - s.from
		if size <= d.least {
			n--
			continue
		}
		parts := cutBy(s, size/blockRatio)
		all = append(all[:n:n], append(parts, all[n+1:]...)...)
		n += len(parts) - 1
	}
	return all
}

// cutBy divides a range into ranges of a size.
func cutBy(s stretch, size int) []stretch {
	var all []stretch
	for from := s.from; from < s.to; from += size {
		all = append(all, stretch{from, min(from+size, s.to)})
	}
	return all
}

// rangeMarker names records [s.from, s.to), all that is in them.
func (d *draft) rangeMarker(s stretch) string {
	n := s.to - s.from
	size := d.c.line(s.to-1).End() - d.c.line(s.from).Off
	name := fmt.Sprintf("range #%d-#%d, %d records, %s", s.from+1, s.to, n, bytesText(size))
	if n == 1 {
		name = fmt.Sprintf("range #%d, 1 record, %s", s.to, bytesText(size))
	}
	m := mark.New(d.lines(s.from, s.to), name)
	if int64(lexicon.Chars(m)) > size { // a marker is never longer than what it replaces
		return mark.New(d.lines(s.from, s.to), "range")
	}
	return m
}

// bytesText is a number of bytes for people: 1.2 MB.
func bytesText(n int64) string {
	switch {
	case n < 1000:
		return fmt.Sprintf("%d B", n)
	case n < 1000*1000:
		return trimZero(fmt.Sprintf("%.1f", float64(n)/1000)) + " KB"
	case n < 1000*1000*1000:
		return trimZero(fmt.Sprintf("%.1f", float64(n)/1e6)) + " MB"
	}
	return trimZero(fmt.Sprintf("%.1f", float64(n)/1e9)) + " GB"
}

func trimZero(s string) string { return strings.TrimSuffix(s, ".0") }
