package config

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// asText takes a string of either origin.
func asText(v any) (string, bool) {
	switch v := v.(type) {
	case string:
		return v, true
	case fromText:
		return string(v), true
	}
	return "", false
}

func asInt(v any) (int64, error) {
	switch v := v.(type) {
	case int64:
		return v, nil
	case fromText:
		if n, err := strconv.ParseInt(string(v), 10, 64); err == nil {
			return n, nil
		}
	}
	return 0, wrong(v, "a whole number")
}

// asList takes a list of strings; as text, one separated by commas.
func asList(v any) ([]string, error) {
	list := []string{}
	switch v := v.(type) {
	case []any:
		for _, e := range v {
			s, ok := e.(string)
			if !ok {
				return nil, fmt.Errorf("%s in the list: want strings", describe(e))
			}
			list = append(list, s)
		}
		return list, nil
	case fromText:
		for s := range strings.SplitSeq(string(v), ",") {
			list = append(list, strings.TrimSpace(s))
		}
		return list, nil
	}
	return nil, wrong(v, `a list of strings such as ["a", "b"]`)
}

func tomlList(list []string) string {
	quoted := make([]string, 0, len(list))
	for _, s := range list {
		quoted = append(quoted, strconv.Quote(s))
	}
	return "[" + strings.Join(quoted, ", ") + "]"
}

// wrong says that v is not what is wanted.
func wrong(v any, want string) error { return fmt.Errorf("%s: want %s", describe(v), want) }

func describe(v any) string {
	switch v := v.(type) {
	case string:
		return fmt.Sprintf("string %q", v)
	case fromText:
		return strconv.Quote(string(v))
	case int64:
		return fmt.Sprintf("integer %d", v)
	case float64:
		return fmt.Sprintf("float %v", v)
	case bool:
		return fmt.Sprintf("boolean %v", v)
	case time.Time:
		return "a date"
	case []any, []map[string]any:
		return "a list"
	case map[string]any:
		return "a table"
	}
	return fmt.Sprintf("%v", v)
}
