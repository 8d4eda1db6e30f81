package config

import (
	"fmt"
	"path/filepath"
	"strings"
)

// command is a program and its arguments, or nothing.
type command struct {
	p    *[]string
	home string
}

func (c command) set(v any) error {
	list, err := asList(v)
	if err != nil {
		return err
	}
	for _, s := range list {
		if strings.ContainsFunc(s, func(r rune) bool { return r < 0x20 || r == 0x7f }) {
			return fmt.Errorf("%q holds control characters", s)
		}
	}
	if len(list) > 0 && strings.TrimSpace(list[0]) == "" {
		return fmt.Errorf("%s names no program", tomlList(list))
	}
	if len(list) > 0 && strings.ContainsAny(list[0], "/"+string(filepath.Separator)) {
		if list[0], err = absolute(list[0], c.home); err != nil {
			return err
		}
	}
	*c.p = list
	return nil
}

func (c command) shown() any   { return *c.p }
func (c command) toml() string { return tomlList(*c.p) }
