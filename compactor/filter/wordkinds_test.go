package filter

import (
	"testing"
)

func TestWordKinds(t *testing.T) {
	for text, want := range map[string]Kind{
		"gate": PlainWord, "Gate": CapitalWord, "WARN": AcronymWord, "grpc": AcronymWord,
		"openGate": NameWord, "GateKeeper": NameWord, "open_gate": NameWord, "HTTPServer": NameWord, "gate.keeper": NameWord,
		"--dry-run": NameWord, "sha256": NameWord, "12": NumberWord, "1.5": NumberWord, "12ms": NumberWord,
		"80%": NumberWord, "1.2.3": NumberWord, "v2": NameWord, "v1.2": NameWord, "10.0.0.1": NumberWord, "3f786850e3": NameWord,
		"a@b.org": NameWord, "https://b.org/x": NameWord, "/etc/hosts": NameWord, "a/b.go": NameWord, "gate.go": NameWord, ".gitignore": NameWord,
		"gate.go:12": NameWord, "a/gate.go:12:3": NameWord, "well-known": PlainWord, "水車": PlainWord,
	} {
		lx := Lex(text)
		lx.Next()
		if got := KindOf(lx.Core(), lx.Word.Has); got != want {
			t.Errorf("%q is %d, want %d", text, got, want)
		}
	}
}
