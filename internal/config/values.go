package config

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/dustin/go-humanize"
)

// Duration is a time such as "500ms", "2s", "15m", "1h" or "90d".
type Duration struct {
	time.Duration
	text string // as it was given
}

// UnmarshalText accepts the form of time.ParseDuration, optionally with leading days: "90d", "1d12h". It fails for any other text.
func (d *Duration) UnmarshalText(text []byte) error {
	days, rest, found := strings.Cut(string(text), "d")
	if !found {
		days, rest = "0", string(text)
	} else if rest == "" {
		rest = "0s"
	}
	n, err := strconv.ParseUint(days, 10, 16)
	part, err2 := time.ParseDuration(rest)
	if err != nil || err2 != nil || part < 0 || part > math.MaxInt64/2 {
		return errors.New(`must be a duration such as "500ms", "2s", "15m", "1h" or "90d"`)
	}
	*d = Duration{time.Duration(n)*24*time.Hour + part, string(text)}
	return nil
}

func (d Duration) shown() any { return d.text }

// Bytes is a number of bytes such as "256MB".
type Bytes int64

// UnmarshalText accepts a number, also with a decimal or binary unit. It fails for any other text.
func (b *Bytes) UnmarshalText(text []byte) error {
	n, err := humanize.ParseBytes(string(text))
	if part, noNumber := strconv.ParseFloat(string(text), 64); noNumber == nil && strings.Contains(string(text), ".") {
		return fmt.Errorf(`must be a size with its unit, such as "%gGB"`, part)
	}
	if err != nil || n > math.MaxInt64 {
		return errors.New(`must be a size such as "256MB" or "20GB"`)
	}
	*b = Bytes(n)
	return nil
}

func (b Bytes) shown() any { return b.String() }

// String returns a number of bytes in the largest unit that divides it.
func (b Bytes) String() string {
	step, units := Bytes(1000), []string{"", "kB", "MB", "GB", "TB"}
	if b%1000 != 0 && b%1024 == 0 { // it was given in binary units
		step, units = 1024, []string{"", "KiB", "MiB", "GiB", "TiB"}
	}
	for len(units) > 1 && b != 0 && b%step == 0 {
		b, units = b/step, units[1:]
	}
	return fmt.Sprint(int64(b)) + units[0]
}

// Size is a number, a part of something such as "30%", or a word. The zero Size is "auto".
type Size struct {
	N    int
	Part float64 // above 0 and at most 1
	Word string
}

// UnmarshalText accepts any text as a word: which of them there are depends on the key. It never fails.
func (s *Size) UnmarshalText(text []byte) error {
	word := string(text)
	part, is := strings.CutSuffix(word, "%")
	percent, err := strconv.ParseFloat(part, 64)
	n, noNumber := strconv.Atoi(word)
	switch {
	case is && err == nil && percent > 0 && percent <= 100:
		*s = Size{Part: percent / 100}
	case noNumber == nil && n > 0:
		*s = Size{N: n}
	case word == "auto":
		*s = Size{}
	default:
		*s = Size{Word: word}
	}
	return nil
}

func (s Size) shown() any {
	switch {
	case s.N > 0:
		return int64(s.N)
	case s.Part > 0:
		return strconv.FormatFloat(s.Part*100, 'f', -1, 64) + "%"
	}
	return cmp.Or(s.Word, "auto")
}
