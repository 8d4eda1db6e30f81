package hook

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"ccd/compactor/lexicon"
	"ccd/internal/transcript"
)

// maxSpilled is the longest spilled file that is taken, in bytes: what is longer cannot be archived in the time there is.
const maxSpilled = 64 << 20

// shape is an output as the client gives it, with the texts in it that may be replaced.
type shape struct {
	texts []*text
	value func() (any, error) // the output, with what was put in place of texts
}

// text is one text of an output.
type text struct {
	original []byte // as the agent would have seen it, or, where the client cut that, all of it
	source   bool   // it may be source text: a file that was read
	count    int    // its chars, 0 until they are counted
	now      *string
}

func (t *text) put(s string) { t.now = &s }

// chars is the text's length in characters.
func (t *text) chars() int {
	if t.count == 0 {
		t.count = utf8.RuneCount(t.original)
	}
	return t.count
}

// current is the text as it goes into the output.
func (t *text) current(was json.RawMessage) any {
	if t.now != nil {
		return *t.now
	}
	return was
}

func (s *shape) chars() (n int) {
	for _, t := range s.texts {
		n += t.chars()
	}
	return n
}

// long are the texts that are worth to be demoted. A file is shown as it is, or not at all: who edits it goes by these lines.
func (s *shape) long() (all []*text) {
	for _, t := range s.texts {
		if t.chars() < leastDemoted {
			continue
		}
		if head := lexicon.Head(string(t.original[:min(len(t.original), 4*headShown)]), headShown); !t.source || inert(head) == head {
			all = append(all, t)
		}
	}
	return all
}

func (s *shape) json() (any, error) { return s.value() }

var errShape = nothing("an output of a shape that is not known")

// shapeOf understands an output: of Bash, of Read, a string, or a list of blocks. Images, and every other shape, are left
// as they are.
func shapeOf(e Event, s transcript.Session) (*shape, error) {
	switch raw := bytes.TrimSpace(e.Response); {
	case len(raw) == 0:
		return nil, errShape
	case raw[0] == '"':
		return ofString(raw, s)
	case raw[0] == '[':
		return ofBlocks(raw)
	case raw[0] == '{':
		return ofObject(e.Tool, raw, s)
	}
	return nil, errShape
}

// ofString is the result of an MCP tool that says where the client spilled it, or one that is a text.
func ofString(raw json.RawMessage, s transcript.Session) (*shape, error) {
	t := &text{original: decoded(raw)}
	if path := (&transcript.Client{}).Explain("", transcript.Other, raw, false).Spilled; path != "" {
		var err error
		if t.original, err = spilled(path, s); err != nil {
			return nil, err
		}
	}
	return &shape{[]*text{t}, func() (any, error) { return t.current(raw), nil }}, nil
}

// ofBlocks is the result of an MCP tool: texts, and images, which stay.
func ofBlocks(raw json.RawMessage) (*shape, error) {
	var blocks []map[string]json.RawMessage
	if err := json.Unmarshal(raw, &blocks); err != nil {
		return nil, errShape
	}
	s := &shape{}
	at := map[int]*text{}
	for i, b := range blocks {
		if v := bytes.TrimSpace(b["text"]); string(b["type"]) == `"text"` && len(v) > 0 && v[0] == '"' {
			at[i] = &text{original: decoded(v)}
			s.texts = append(s.texts, at[i])
		}
	}
	s.value = func() (any, error) {
		for i, t := range at {
			if err := set(blocks[i], "text", t); err != nil {
				return nil, err
			}
		}
		return blocks, nil
	}
	return s, nil
}

// set puts what stands for a text into the object that has it.
func set(object map[string]json.RawMessage, key string, t *text) error {
	b, err := json.Marshal(t.current(object[key]))
	object[key] = b
	return err
}

func ofObject(tool string, raw json.RawMessage, s transcript.Session) (*shape, error) {
	var object map[string]json.RawMessage
	if err := json.Unmarshal(raw, &object); err != nil {
		return nil, errShape
	}
	switch tool {
	case "Bash":
		return ofBash(object, s)
	case "Read":
		return ofRead(object)
	}
	return nil, errShape
}

// ofBash is {stdout, stderr, interrupted, isImage, ...}: where the client cut stdout, persistedOutputPath has all of it,
// and goes together with what it stood for.
func ofBash(object map[string]json.RawMessage, s transcript.Session) (*shape, error) {
	var r struct {
		Image bool    `json:"isImage"`
		Path  string  `json:"persistedOutputPath"`
		Out   *string `json:"stdout"`
		Err   *string `json:"stderr"`
	}
	if err := into(object, &r); err != nil || r.Out == nil || r.Image {
		return nil, errShape
	}
	out := &text{original: decoded(object["stdout"])}
	if r.Path != "" {
		var err error
		if out.original, err = spilled(r.Path, s); err != nil {
			return nil, err
		}
	}
	shape := &shape{texts: []*text{out}}
	var problems *text
	if r.Err != nil && *r.Err != "" {
		problems = &text{original: decoded(object["stderr"])}
		shape.texts = append(shape.texts, problems)
	}
	shape.value = func() (any, error) {
		if out.now != nil {
			delete(object, "persistedOutputPath")
			delete(object, "persistedOutputSize")
		}
		err := set(object, "stdout", out)
		if problems != nil {
			err = errors.Join(err, set(object, "stderr", problems))
		}
		return object, err
	}
	return shape, nil
}

// ofRead is {type: "text", file: {content, ...}}; images and notebooks are of other types.
func ofRead(object map[string]json.RawMessage) (*shape, error) {
	var file map[string]json.RawMessage
	if string(object["type"]) != `"text"` || json.Unmarshal(object["file"], &file) != nil {
		return nil, errShape
	}
	content := bytes.TrimSpace(file["content"])
	if len(content) == 0 || content[0] != '"' {
		return nil, errShape
	}
	t := &text{original: decoded(content), source: true}
	return &shape{[]*text{t}, func() (any, error) {
		if err := set(file, "content", t); err != nil {
			return nil, err
		}
		b, err := json.Marshal(file)
		object["file"] = b
		return object, err
	}}, nil
}

func into(object map[string]json.RawMessage, to any) error {
	b, err := json.Marshal(object)
	if err != nil {
		return err
	}
	return json.Unmarshal(b, to)
}

// decoded is the text of a JSON string, byte for byte as restore gives it.
func decoded(raw json.RawMessage) []byte { return transcript.Original(transcript.Text, raw) }

// spilled reads the file that the client put a whole output into. It must be one of this session's: nothing else is ever
// shown to an agent because an output names it.
func spilled(path string, s transcript.Session) ([]byte, error) {
	own := filepath.Join(strings.TrimSuffix(s.Path, ".jsonl"), "tool-results")
	dir := filepath.Dir(filepath.Clean(path))
	if dir != own && real(dir) != real(own) {
		return nil, errors.New("read spilled output: it lies elsewhere")
	}
	info, err := os.Lstat(path)
	switch {
	case err != nil:
		return nil, fmt.Errorf("read spilled output: %w", err)
	case !info.Mode().IsRegular() || info.Size() > maxSpilled:
		return nil, errors.New("read spilled output: not a regular file, or too long")
	}
	b, err := os.ReadFile(path)
	if err == nil && int64(len(b)) != info.Size() {
		err = errors.New("it still grows")
	}
	if err != nil {
		return nil, fmt.Errorf("read spilled output: %w", err)
	}
	return b, nil
}
