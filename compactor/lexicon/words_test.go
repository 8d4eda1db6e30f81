package lexicon

import (
	"testing"
)

func TestWordKinds(t *testing.T) {
	for text, want := range map[string]Kind{
		"gate": PlainWord, "Gate": CapitalWord, "WARN": AcronymWord, "grpc": AcronymWord, "vs": PlainWord, "and/or": PlainWord,
		"openGate": IdentWord, "GateKeeper": IdentWord, "open_gate": IdentWord, "HTTPServer": IdentWord, "gate.keeper": IdentWord,
		"--dry-run": IdentWord, "std::vector": IdentWord, "sha256": IdentWord, "12": NumberWord, "1.5": NumberWord, "12ms": NumberWord,
		"80%": NumberWord, "1.2.3": VersionWord, "v2": VersionWord, "v1.2": VersionWord, "10.0.0.1": VersionWord, "3f786850e3": PlaceWord,
		"a@b.org": PlaceWord, "https://b.org/x": PlaceWord, "/etc/hosts": PlaceWord, "a/b.go": PlaceWord, "gate.go": PlaceWord, ".gitignore": PlaceWord,
		"gate.go:12": PlaceWord, "a/gate.go:12:3": PlaceWord, "e.g": PlainWord, "well-known": PlainWord, "水車": PlainWord,
	} {
		lx := Lex(text)
		lx.Next()
		if got := KindOf(lx.Core(), lx.Word.Has); got != want {
			t.Errorf("%q is %d, want %d", text, got, want)
		}
	}
}
