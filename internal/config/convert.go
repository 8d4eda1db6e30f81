package config

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
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
		for i, e := range v {
			s, ok := e.(string)
			if !ok {
				return nil, fmt.Errorf("entry %d is %s, want strings", i+1, describe(e))
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

// wrong says what is wanted instead of v.
func wrong(v any, want string) error {
	if _, ok := v.(fromText); ok {
		return errors.New("want " + want)
	}
	return fmt.Errorf("got %s, want %s", describe(v), want)
}

func describe(v any) string {
	switch v.(type) {
	case string:
		return "a string"
	case int64:
		return "an integer"
	case float64:
		return "a float"
	case bool:
		return "a boolean"
	case []any, []map[string]any:
		return "a list"
	case map[string]any:
		return "a table"
	}
	return "a date"
}
