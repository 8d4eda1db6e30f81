package config

import "slices"

// Strategies returns the names that compaction.off takes, as the compactor has them.
func Strategies() []string {
	return []string{
		"file", "talk", "output", "result", "microcompact", "large", "image", "merge", "entities", "code-split", "score",
		"asked", "corrections", "plan", "files", "commands", "errors", "answers", "decisions", "agents", "answer",
	}
}

// names are strategies.
type names struct{ p *[]string }

func (n names) set(v any) error {
	list, err := asList(v)
	if err != nil {
		return err
	}
	for _, s := range list {
		if !slices.Contains(Strategies(), s) {
			return unknown(s, Strategies())
		}
	}
	*n.p = list
	return nil
}

func (n names) shown() any   { return *n.p }
func (n names) toml() string { return tomlList(*n.p) }
