package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// layerCall is one call of the three-layer design.
type layerCall struct {
	Name     string          `json:"name"`
	Function string          `json:"function"`
	Input    json.RawMessage `json:"input"`
	Output   json.RawMessage `json:"output"`
}

// layers reads the calls in $CCD_GOLDENS, or skips the test.
func layers(t *testing.T) (all []layerCall) {
	t.Helper()
	dir := os.Getenv("CCD_GOLDENS")
	if dir == "" {
		dir = filepath.Join("..", "..", "..", "shared", "goldens")
	}
	data, err := os.ReadFile(filepath.Join(dir, "layers.jsonl"))
	if err != nil {
		t.Skipf("no goldens in %s: set CCD_GOLDENS to the directory that holds them", dir)
	}
	lines := bufio.NewScanner(bytes.NewReader(data))
	lines.Buffer(nil, len(data)+1)
	for lines.Scan() {
		var g layerCall
		if err := json.Unmarshal(lines.Bytes(), &g); err != nil {
			t.Fatal(err)
		}
		all = append(all, g)
	}
	return all
}

// estimated returns ccd's estimate for a text as a session of its own, without the overhead of an empty one.
func (g *layerCall) estimated(t *testing.T) string {
	t.Helper()
	var text string
	if err := json.Unmarshal(g.Input, &text); err != nil {
		t.Fatal(err)
	}
	if text == "" {
		return "0"
	}
	_, rest, _ := strings.Cut(newTale().asks(text).companion("")(t), "tokens: {original: ")
	n, _, _ := strings.Cut(rest, ",")
	return n
}

// sizes returns the sizes of a call's messages, in chars.
func (g *layerCall) sizes(t *testing.T) []int {
	t.Helper()
	var in struct {
		Messages int   `json:"messages"`
		Each     int   `json:"chars_each"`
		Chars    []int `json:"chars"`
	}
	if err := json.Unmarshal(g.Input, &in); err != nil {
		t.Fatal(err)
	}
	for range in.Messages {
		in.Chars = append(in.Chars, in.Each)
	}
	return in.Chars
}

// triggered reports whether ccd writes a companion for messages of these sizes, by estimate only.
func (g *layerCall) triggered(t *testing.T) string {
	t.Helper()
	s := newTale()
	for n, chars := range g.sizes(t) {
		s.asks(fmt.Sprintf("%-*d", chars, n))
	}
	return fmt.Sprint(s.followed("[trigger]\npressure = 1.0\n")(t) != "no companion")
}

// besideEdge reports whether a call is so close to a limit that the JSON around the messages decides: the one
// difference named in docs/GOLDENS.md.
func (g *layerCall) besideEdge(t *testing.T) bool {
	t.Helper()
	sizes := g.sizes(t)
	total, old, slack := 0, 0, 100*max(1, len(sizes))
	for n, chars := range sizes {
		total += chars * 4 / 3
		if n < len(sizes)-5 {
			old += chars * 4 / 3
		}
	}
	near := func(n, edge int) bool { return n > edge-slack && n < edge+slack }
	return near(old, 20000) || near(total, 170616)
}

// TestLayers compares the estimator and the threshold of the three-layer design with ccd's.
func TestLayers(t *testing.T) {
	for _, g := range layers(t) {
		got := ""
		switch g.Function {
		case "estimate_tokens":
			got = g.estimated(t)
		case "should_compact":
			got = g.triggered(t)
		default:
			continue
		}
		if want := string(g.Output); got != want && (g.Function != "should_compact" || !g.besideEdge(t)) {
			t.Errorf("%s: they say %s, we %s", g.Name, want, got)
		}
	}
}

// TestLayersCanFail is the negative control.
func TestLayersCanFail(t *testing.T) {
	g := layerCall{Input: json.RawMessage(`"` + strings.Repeat("é", 30) + `"`)}
	if got := g.estimated(t); got != "40" {
		t.Errorf("30 characters are %s tokens", got)
	}
	few := layerCall{Input: json.RawMessage(`{"messages": 6, "chars_each": 10}`)}
	many := layerCall{Input: json.RawMessage(`{"messages": 30, "chars_each": 10000}`)}
	if few.triggered(t) != "false" || many.triggered(t) != "true" || few.besideEdge(t) || many.besideEdge(t) {
		t.Error("the size of a session decides nothing")
	}
}
