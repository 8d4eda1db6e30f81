package config

import (
	"errors"
	"fmt"
	"maps"
	"math"
	gopath "path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/dustin/go-humanize"
)

// value is one field of a Config with what may be in it. Errors of set say what is wanted and do not repeat v, which may
// come from any file that somebody named as the configuration.
type value interface {
	set(v any) error // v as TOML gives it, or fromText
	shown() any      // as TOML would give it, durations and sizes as strings
	toml() string    // as it stands in a file
}

// fromText is a value from the environment or a flag: it may mean any type.
type fromText string

func quoted(v value) string { return strconv.Quote(fmt.Sprint(v.shown())) }

// span is a duration of at least min.
type span struct {
	p   *time.Duration
	min time.Duration
}

func (s span) set(v any) error {
	t, ok := asText(v)
	if !ok {
		return wrong(v, `a duration such as "2s"`)
	}
	d, err := parseDuration(t)
	if err != nil {
		return err
	}
	if d < s.min {
		return fmt.Errorf("less than %s", duration(s.min))
	}
	*s.p = d
	return nil
}

func (s span) shown() any   { return duration(*s.p) }
func (s span) toml() string { return quoted(s) }

// parseDuration takes what time.ParseDuration does, and days before it: "90d", "1d12h".
func parseDuration(s string) (time.Duration, error) {
	bad := errors.New(`not a duration such as "500ms", "2s", "15m", "1h" or "90d"`)
	days, rest, found := strings.Cut(s, "d")
	if !found {
		days, rest = "0", s
	}
	n, err := strconv.ParseUint(days, 10, 16)
	if err != nil || found && rest == "" && days == "" {
		return 0, bad
	}
	if rest == "" && found {
		rest = "0s"
	}
	d, err := time.ParseDuration(rest)
	if err != nil || d < 0 || d > math.MaxInt64/2 {
		return 0, bad
	}
	return time.Duration(n)*24*time.Hour + d, nil
}

// duration is a duration as people write it: "60s", "5m", "90d".
func duration(d time.Duration) string {
	const day = 24 * time.Hour
	if d < 2*time.Minute && d%time.Second == 0 {
		return strconv.FormatInt(int64(d/time.Second), 10) + "s"
	}
	if d >= 2*day && d%day == 0 {
		return strconv.FormatInt(int64(d/day), 10) + "d"
	}
	s := d.String()
	if strings.HasSuffix(s, "m0s") {
		s = strings.TrimSuffix(s, "0s")
	}
	if strings.HasSuffix(s, "h0m") {
		s = strings.TrimSuffix(s, "0m")
	}
	return s
}

// size is a number of bytes.
type size struct{ p *int64 }

func (s size) set(v any) error {
	n, ok := v.(int64)
	if t, isText := asText(v); isText {
		u, err := humanize.ParseBytes(t)
		if err != nil || u > math.MaxInt64 {
			return errors.New(`not a size such as "256MB" or "20GB"`)
		}
		n, ok = int64(u), true
	}
	if !ok || n < 0 {
		return wrong(v, `a size such as "256MB"`)
	}
	*s.p = n
	return nil
}

func (s size) shown() any {
	if *s.p%1000 != 0 && *s.p%1024 == 0 { // it was written in these units
		return inUnits(*s.p, 1024, "KiB", "MiB", "GiB", "TiB")
	}
	return inUnits(*s.p, 1000, "kB", "MB", "GB", "TB")
}

// inUnits is n in the largest unit that it is a whole number of.
func inUnits(n, step int64, units ...string) string {
	unit := ""
	for len(units) > 0 && n != 0 && n%step == 0 {
		n, unit, units = n/step, units[0], units[1:]
	}
	return strconv.FormatInt(n, 10) + unit
}

func (s size) toml() string { return quoted(s) }

// count is a whole number of at least min.
type count[T int | int64] struct {
	p   *T
	min T
}

func (c count[T]) set(v any) error {
	n, err := asInt(v)
	if err != nil {
		return err
	}
	if n < int64(c.min) {
		return fmt.Errorf("less than %d", c.min)
	}
	if int64(T(n)) != n {
		return errors.New("too large")
	}
	*c.p = T(n)
	return nil
}

func (c count[T]) shown() any   { return int64(*c.p) }
func (c count[T]) toml() string { return strconv.FormatInt(int64(*c.p), 10) }

// auto is a whole number above 0, or "auto", which is 0.
type auto struct{ p *int64 }

func (a auto) set(v any) error {
	if t, ok := asText(v); ok && t == "auto" {
		*a.p = 0
		return nil
	}
	n, err := asInt(v)
	if err != nil || n <= 0 {
		return wrong(v, `"auto" or a whole number above 0`)
	}
	*a.p = n
	return nil
}

func (a auto) shown() any {
	if *a.p == 0 {
		return "auto"
	}
	return *a.p
}

func (a auto) toml() string {
	if *a.p == 0 {
		return quoted(a)
	}
	return strconv.FormatInt(*a.p, 10)
}

// share is a part of 1; above 0 where it must be.
type share struct {
	p     *float64
	above bool
}

func (s share) set(v any) error {
	f, ok := v.(float64)
	if n, isInt := v.(int64); isInt {
		f, ok = float64(n), true
	}
	if t, isText := v.(fromText); isText {
		var err error
		f, err = strconv.ParseFloat(string(t), 64)
		ok = err == nil
	}
	limits := "from 0 to 1"
	if s.above {
		limits = "above 0 and at most 1"
	}
	if !ok {
		return wrong(v, "a number "+limits)
	}
	if !(f >= 0 && f <= 1) || s.above && f == 0 { // a NaN is neither
		return errors.New("not " + limits)
	}
	*s.p = f
	return nil
}

func (s share) shown() any   { return *s.p }
func (s share) toml() string { return strconv.FormatFloat(*s.p, 'f', 2, 64) }

// truth is true or false.
type truth struct{ p *bool }

func (f truth) set(v any) error {
	b, ok := v.(bool)
	if t, isText := v.(fromText); isText {
		var err error
		b, err = strconv.ParseBool(string(t))
		ok = err == nil
	}
	if !ok {
		return wrong(v, "true or false")
	}
	*f.p = b
	return nil
}

func (f truth) shown() any   { return *f.p }
func (f truth) toml() string { return strconv.FormatBool(*f.p) }

// text is one line.
type text struct{ p *string }

func (t text) set(v any) error {
	s, ok := asText(v)
	if !ok {
		return wrong(v, "a string")
	}
	if control(s) {
		return errControl
	}
	*t.p = s
	return nil
}

func (t text) shown() any   { return *t.p }
func (t text) toml() string { return quoted(t) }

// choice is one of a few words.
type choice struct {
	p       *string
	options []string
}

func (c choice) set(v any) error {
	s, ok := asText(v)
	if !ok || !slices.Contains(c.options, s) {
		return wrong(v, "one of "+strings.Join(c.options, ", "))
	}
	*c.p = s
	return nil
}

func (c choice) shown() any   { return *c.p }
func (c choice) toml() string { return quoted(c) }

var errControl = errors.New("it has control characters")

func control(s string) bool {
	return strings.ContainsFunc(s, func(r rune) bool { return r < 0x20 || r == 0x7f })
}

// path is an absolute path or "".
type path struct {
	p    *string
	home string
}

func (p path) set(v any) error {
	s, ok := asText(v)
	if !ok {
		return wrong(v, "a path")
	}
	if s != "" {
		var err error
		if s, err = absolute(s, p.home); err != nil {
			return err
		}
	}
	*p.p = s
	return nil
}

func (p path) shown() any   { return *p.p }
func (p path) toml() string { return quoted(p) }

// absolute expands ~ and wants an absolute path: what a relative one means depends on who asks.
func absolute(s, home string) (string, error) {
	if control(s) {
		return "", errControl
	}
	if rest, ok := strings.CutPrefix(s, "~"); ok && (rest == "" || rest[0] == '/' || rest[0] == filepath.Separator) {
		if !filepath.IsAbs(home) {
			return "", fmt.Errorf("expand ~: %s is not set to an absolute path", homeVariable)
		}
		s = filepath.Join(home, rest)
	}
	if !filepath.IsAbs(s) {
		return "", errors.New("not an absolute path")
	}
	return filepath.Clean(s), nil
}

// globs is a list of patterns.
type globs struct{ p *[]string }

func (g globs) set(v any) error {
	list, err := asList(v)
	if err != nil {
		return err
	}
	for i, s := range list {
		if _, err := gopath.Match(s, "x"); err != nil {
			return fmt.Errorf("entry %d is not a glob", i+1)
		}
	}
	*g.p = list
	return nil
}

func (g globs) shown() any   { return *g.p }
func (g globs) toml() string { return tomlList(*g.p) }

// roots are directories by agent.
type roots struct {
	p    *map[string][]string
	home string
}

func (r roots) set(v any) error {
	table, ok := v.(map[string]any)
	if !ok {
		return wrong(v, "a table of lists of directories")
	}
	all := map[string][]string{}
	for _, agent := range slices.Sorted(maps.Keys(table)) {
		if !slices.Contains(agents(), agent) {
			return fmt.Errorf("%w (of an agent)", unknown(agent, agents()))
		}
		list, err := asList(table[agent])
		if err != nil {
			return fmt.Errorf("%s: %w", agent, err)
		}
		for _, dir := range list {
			if dir, err = absolute(dir, r.home); err != nil {
				return fmt.Errorf("%s: %w", agent, err)
			}
			all[agent] = append(all[agent], dir)
		}
	}
	*r.p = all
	return nil
}

func (r roots) shown() any { return *r.p }

func (r roots) toml() string {
	var b strings.Builder
	for _, agent := range slices.Sorted(maps.Keys(*r.p)) {
		b.WriteString(agent + " = " + tomlList((*r.p)[agent]) + "\n")
	}
	return b.String()
}

// list is a list of strings.
type list struct{ p *[]string }

func (l list) set(v any) error {
	all, err := asList(v)
	if err == nil {
		*l.p = all
	}
	return err
}

func (l list) shown() any   { return *l.p }
func (l list) toml() string { return tomlList(*l.p) }

// patterns is a list of regular expressions.
type patterns struct{ p *[]string }

func (l patterns) set(v any) error {
	all, err := asList(v)
	if err != nil {
		return err
	}
	for _, s := range all {
		if _, err := regexp.Compile(s); err != nil {
			return fmt.Errorf("%q is not a regular expression", s)
		}
	}
	*l.p = all
	return nil
}

func (l patterns) shown() any   { return *l.p }
func (l patterns) toml() string { return tomlList(*l.p) }
