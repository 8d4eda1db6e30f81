package config

import (
	"cmp"
	_ "embed"
	"errors"
	"fmt"
	"math"
	gopath "path"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/dustin/go-humanize"
	"github.com/go-json-experiment/json/jsontext"

	"ccd/internal/agent/registry"
)

//go:embed default.toml
var example string

// Example returns the text of config.toml.example: every key with its default, its unit and its meaning.
func Example() string { return example }

// key is one field of a Config: its name, its section's name, its rule and its value.
type key struct {
	section, name string
	rule
	field reflect.Value
}

// String returns the full name: "section.name".
func (k key) String() string { return k.section + "." + k.name }

// keys lists the fields of a Config in the order of the example.
func (c *Config) keys() []key {
	var all []key
	config := reflect.ValueOf(c).Elem()
	for _, section := range reflect.VisibleFields(config.Type()) {
		if !section.IsExported() {
			continue
		}
		all = append(all, keysOf(section.Tag.Get("toml"), config.FieldByIndex(section.Index), c.home)...)
	}
	return all
}

// keysOf lists the fields of a section.
func keysOf(section string, v reflect.Value, home string) (all []key) {
	for _, f := range reflect.VisibleFields(v.Type()) {
		r := rule{f.Tag.Get("is"), f.Tag.Get("min"), f.Tag.Get("max"), f.Tag.Get("of"), f.Tag.Get("need") != "", home}
		all = append(all, key{section, f.Tag.Get("toml"), r, v.FieldByIndex(f.Index)})
	}
	return all
}

func find(all []key, name string) (key, bool) {
	i := slices.IndexFunc(all, func(k key) bool { return k.String() == name })
	if i < 0 {
		return key{}, false
	}
	return all[i], true
}

// rule restricts a value beyond its type.
type rule struct {
	is   string // path, glob, regexp, pointer, price, command, size, auto (an integer, 0 is "auto"), positive, percent
	min  string // of an integer or a duration; 0 if there is none
	max  string // of an integer; "" if there is none
	of   string // the words that a string may be
	need bool   // of a key in a table named by the user: it is required
	home string // replaces ~
}

// set sets a field from a TOML value. Errors do not contain v, which may come from any file that the user named by
// mistake.
func (r rule) set(field reflect.Value, v any) error {
	switch p := field.Addr().Interface().(type) {
	case *time.Duration:
		return r.duration(p, v)
	case *int, *int64:
		n, err := r.integer(v)
		if err == nil && field.OverflowInt(n) {
			err = errors.New("too large")
		}
		if err == nil {
			field.SetInt(n)
		}
		return err
	case *float64:
		if r.is == "percent" {
			part, err := percent(v)
			if err == nil {
				*p = part
			}
			return err
		}
		return r.share(p, v)
	case *Size:
		return r.size(p, v)
	case *[3]int:
		return percents(p, v)
	case *bool:
		b, ok := v.(bool)
		if !ok {
			return errors.New("must be true or false")
		}
		*p = b
		return nil
	case *string:
		s, ok := v.(string)
		if words := strings.Fields(r.of); r.of != "" && !slices.Contains(words, s) {
			return fmt.Errorf("must be one of %s", strings.Join(words, ", "))
		}
		if !ok {
			return errors.New("must be a string")
		}
		s, err := r.text(s)
		if err == nil {
			*p = s
		}
		return err
	case *[]string:
		list, err := r.list(v)
		if err == nil {
			*p = list
		}
		return err
	}
	panic("no rule for " + field.Type().String())
}

func (r rule) duration(p *time.Duration, v any) error {
	s, ok := v.(string)
	if !ok {
		return errors.New(`must be a duration such as "2s"`)
	}
	d, err := parseDuration(s)
	if err != nil {
		return err
	}
	if least, _ := parseDuration(r.min); d < least {
		return fmt.Errorf("must be %s or more", r.min)
	}
	*p = d
	return nil
}

func (r rule) integer(v any) (int64, error) {
	n, isInt := v.(int64)
	switch s, isText := v.(string); {
	case r.is == "auto":
		if s == "auto" {
			return 0, nil
		}
		if n <= 0 {
			return 0, errors.New(`must be "auto" or a whole number above 0`)
		}
	case r.is == "size" && isText:
		u, err := humanize.ParseBytes(s)
		if err != nil || u > math.MaxInt64 {
			return 0, errors.New(`must be a size such as "256MB" or "20GB"`)
		}
		return int64(u), nil
	case r.is == "size" && (!isInt || n < 0):
		return 0, errors.New(`must be a size such as "256MB"`)
	case !isInt:
		return 0, errors.New("must be a whole number")
	}
	if least, _ := strconv.ParseInt(r.min, 10, 64); n < least {
		return 0, fmt.Errorf("must be %d or more", least)
	}
	if most, err := strconv.ParseInt(r.max, 10, 64); err == nil && n > most {
		return 0, fmt.Errorf("must be %d or less", most)
	}
	return n, nil
}

// size sets a number, a part such as "30%", or one of the words.
func (r rule) size(p *Size, v any) error {
	least, err := strconv.ParseInt(cmp.Or(r.min, "1"), 10, 64)
	if n, ok := v.(int64); ok && err == nil && n >= least && int64(int(n)) == n {
		*p = Size{N: int(n)}
		return nil
	}
	words := strings.Fields(r.of)
	if s, ok := v.(string); ok && slices.Contains(words, s) {
		if *p = (Size{Word: s}); s == "auto" {
			*p = Size{}
		}
		return nil
	}
	part, err := percent(v)
	if err != nil {
		said := fmt.Sprintf(`must be %d or more, or a part such as "30%%"`, least)
		if len(words) > 0 {
			said += `, or "` + strings.Join(words, `" or "`) + `"`
		}
		return errors.New(said)
	}
	*p = Size{Part: part}
	return nil
}

// percent reads a part such as "30%".
func percent(v any) (float64, error) {
	s, _ := v.(string)
	s, ok := strings.CutSuffix(s, "%")
	f, err := strconv.ParseFloat(s, 64)
	if !ok || err != nil || !(f > 0 && f <= 100) {
		return 0, errors.New(`must be a part such as "30%", above 0 and at most "100%"`)
	}
	return f / 100, nil
}

func percents(p *[3]int, v any) error {
	err := errors.New("must be three whole numbers from 0 to 100, such as [50, 30, 10]")
	list, _ := v.([]any)
	if len(list) != len(p) {
		return err
	}
	var all [3]int
	for i, one := range list {
		n, ok := one.(int64)
		if !ok || n < 0 || n > 100 {
			return err
		}
		all[i] = int(n)
	}
	*p = all
	return nil
}

// share sets a part of 1; one that is "positive" is above 0.
func (r rule) share(p *float64, v any) error {
	f, ok := v.(float64)
	if n, isInt := v.(int64); isInt {
		f, ok = float64(n), true
	}
	want := "from 0 to 1"
	if r.is == "positive" {
		want = "above 0 and at most 1"
	}
	if !ok || !(f >= 0 && f <= 1) || r.is == "positive" && f == 0 { // false for NaN too
		return fmt.Errorf("must be a number %s", want)
	}
	*p = f
	return nil
}

// list decodes a list of strings, each by the rule.
func (r rule) list(v any) ([]string, error) {
	entries, ok := v.([]any)
	if s, one := v.(string); one && r.is == "pointer" {
		entries, ok = []any{s}, true
	}
	if !ok {
		return nil, errors.New(`must be a list of strings such as ["a", "b"]`)
	}
	list := []string{}
	for i, e := range entries {
		s, ok := e.(string)
		if !ok {
			return nil, fmt.Errorf("entry %d: must be a string", i+1)
		}
		entry := r
		if r.is == "command" && i == 0 {
			if strings.TrimSpace(s) == "" {
				return nil, errors.New("the first entry must name a program")
			}
			if strings.ContainsAny(s, "/"+string(filepath.Separator)) {
				entry.is = "path"
			}
		}
		if entry.is == "path" && s == "" {
			return nil, fmt.Errorf("entry %d: must be a path", i+1)
		}
		s, err := entry.text(s)
		if err != nil {
			return nil, fmt.Errorf("entry %d: %w", i+1, err)
		}
		list = append(list, s)
	}
	return list, nil
}

// text checks one string.
func (r rule) text(s string) (string, error) {
	if strings.ContainsFunc(s, func(c rune) bool { return c < 0x20 || c == 0x7f }) && r.is != "regexp" {
		return "", errors.New("it contains control characters")
	}
	switch r.is {
	case "path":
		if s != "" {
			return absolute(s, r.home)
		}
	case "glob":
		if _, err := gopath.Match(s, "x"); err != nil {
			return "", errors.New("not a valid glob")
		}
	case "regexp":
		if _, err := regexp.Compile(s); err != nil {
			return "", errors.New("not a valid regular expression")
		}
	case "price":
		if _, err := prices(s); err != nil {
			return "", err
		}
	case "pointer":
		if s == "" || !jsontext.Pointer(s).IsValid() {
			return "", errors.New("must be a JSON Pointer such as \"/message/role\"")
		}
	}
	return s, nil
}

// agents are the agent names allowed in watch.roots.
func agents() []string { return registry.Table{}.Names() }

// parse converts the text of a variable to the key's TOML type, or returns the text itself.
func (k key) parse(text string) any {
	switch k.field.Interface().(type) {
	case int, int64:
		if n, err := strconv.ParseInt(text, 10, 64); err == nil {
			return n
		}
	case Size:
		if n, err := strconv.ParseInt(text, 10, 64); err == nil {
			return n
		}
	case float64:
		if f, err := strconv.ParseFloat(text, 64); err == nil {
			return f
		}
	case [3]int:
		var list []any
		for s := range strings.SplitSeq(text, ",") {
			n, err := strconv.ParseInt(strings.TrimSpace(s), 10, 64)
			if err != nil {
				return text
			}
			list = append(list, n)
		}
		return list
	case bool:
		if b, err := strconv.ParseBool(text); err == nil {
			return b
		}
	case []string:
		var list []any
		for s := range strings.SplitSeq(text, ",") {
			list = append(list, strings.TrimSpace(s))
		}
		return list
	}
	return text
}

// shown returns the value as in TOML, durations and sizes as strings.
func (k key) shown() any {
	switch v := k.field.Interface().(type) {
	case time.Duration:
		return duration(v)
	case Size:
		return v.shown()
	case [3]int:
		return v[:]
	case float64:
		if k.is == "percent" {
			return Size{Part: v}.shown()
		}
	case int:
		return int64(v)
	case int64:
		if k.is == "auto" && v == 0 {
			return "auto"
		}
		if k.is == "size" {
			return size(v)
		}
	}
	return k.field.Interface()
}

// shown returns a Size as in TOML.
func (s Size) shown() any {
	switch {
	case s.N > 0:
		return int64(s.N)
	case s.Part > 0:
		return strconv.FormatFloat(s.Part*100, 'f', -1, 64) + "%"
	}
	return cmp.Or(s.Word, "auto")
}

// absolute expands ~ and requires an absolute path, because a relative one depends on the working directory.
func absolute(s, home string) (string, error) {
	if rest, ok := strings.CutPrefix(s, "~"); ok && (rest == "" || rest[0] == '/' || rest[0] == filepath.Separator) {
		if !filepath.IsAbs(home) {
			return "", fmt.Errorf("expand ~: %s is not set to an absolute path", homeVariable)
		}
		s = filepath.Join(home, rest)
	}
	if !filepath.IsAbs(s) {
		return "", errors.New("must be an absolute path")
	}
	return filepath.Clean(s), nil
}

// parseDuration accepts the form of time.ParseDuration, optionally with leading days: "90d", "1d12h".
func parseDuration(s string) (time.Duration, error) {
	days, rest, found := strings.Cut(s, "d")
	if !found {
		days, rest = "0", s
	} else if rest == "" {
		rest = "0s"
	}
	n, err := strconv.ParseUint(days, 10, 16)
	d, err2 := time.ParseDuration(rest)
	if err != nil || err2 != nil || d < 0 || d > math.MaxInt64/2 {
		return 0, errors.New(`must be a duration such as "500ms", "2s", "15m", "1h" or "90d"`)
	}
	return time.Duration(n)*24*time.Hour + d, nil
}

// duration formats a duration: "60s", "5m", "90d".
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

// size formats a number of bytes in the largest unit that divides it.
func size(n int64) string {
	step, units := int64(1000), []string{"", "kB", "MB", "GB", "TB"}
	if n%1000 != 0 && n%1024 == 0 { // it was given in binary units
		step, units = 1024, []string{"", "KiB", "MiB", "GiB", "TiB"}
	}
	for len(units) > 1 && n != 0 && n%step == 0 {
		n, units = n/step, units[1:]
	}
	return strconv.FormatInt(n, 10) + units[0]
}
