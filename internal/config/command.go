package config

import (
	"errors"
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
		if control(s) {
			return errControl
		}
	}
	if len(list) > 0 && strings.TrimSpace(list[0]) == "" {
		return errors.New("its first entry names no program")
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
