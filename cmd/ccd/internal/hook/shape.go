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

// maxSpilled is the size of the longest spilled file that is demoted, in bytes. A longer one cannot be archived in time.
const maxSpilled = 64 << 20

// shape is an output as the client passes it, with the texts in it that may be replaced.
type shape struct {
	value any // the output, with replacements made
	texts []*text
}

// text is one text of an output.
type text struct {
	original []byte // as the agent would have seen it, or all of it if the client cut it
	chars    int
	source   bool         // a file that was read, so perhaps source text
	put      func(string) // replaces it in the output
}

// add adds the text of a JSON string or, if the client spilled it because of its length, the text of the spilled file.
func (s *shape) add(raw json.RawMessage, spill string, session transcript.Session, put func(string)) error {
	t := &text{original: transcript.Original(transcript.Text, raw), put: put} // byte for byte as restore prints it
	if spill != "" {
		var err error
		if t.original, err = spilled(spill, session); err != nil {
			return err
		}
	}
	t.chars = utf8.RuneCount(t.original)
	s.texts = append(s.texts, t)
	return nil
}

func (s *shape) chars() (n int) {
	for _, t := range s.texts {
		n += t.chars
	}
	return n
}

// long returns the texts that are worth demoting. A file is left alone if its head would need escaping, because the agent
// edits it by the exact lines that it sees.
func (s *shape) long() (all []*text) {
	for _, t := range s.texts {
		if t.chars < minText {
			continue
		}
		if head := lexicon.Head(string(t.original[:min(len(t.original), 4*headShown)]), headShown); !t.source || inert(head) == head {
			all = append(all, t)
		}
	}
	return all
}

var errShape = nothing("the output has an unknown shape")

// object is a JSON object whose values are kept as written.
type object = map[string]json.RawMessage

// shapeOf parses an output of Bash or Read, a string or a list of blocks. It fails on every other shape.
func shapeOf(e Event, session transcript.Session) (*shape, error) {
	s := &shape{}
	raw := bytes.TrimSpace(e.Response)
	var err error
	switch {
	case isString(raw): // an MCP tool's result: a text, or a note on where the client spilled it
		s.value = json.RawMessage(raw)
		spill := (&transcript.Client{}).Explain("", transcript.Other, raw, false).Spilled
		err = s.add(raw, spill, session, func(now string) { s.value = now })
	case len(raw) > 0 && raw[0] == '[':
		err = s.blocks(raw)
	case e.Tool == "Bash":
		err = s.bash(raw, session)
	case e.Tool == "Read":
		err = s.read(raw)
	default:
		err = errShape
	}
	return s, err
}

func isString(raw json.RawMessage) bool {
	raw = bytes.TrimSpace(raw)
	return len(raw) > 0 && raw[0] == '"'
}

// set puts a string into an object.
func set(o object, key, value string) {
	o[key], _ = json.Marshal(value) // cannot fail for a string
}

// blocks parses the result of an MCP tool: a list of texts and images. Images are left as they are.
func (s *shape) blocks(raw json.RawMessage) (err error) {
	var blocks []object
	if json.Unmarshal(raw, &blocks) != nil {
		return errShape
	}
	s.value = blocks
	for _, b := range blocks {
		if string(b["type"]) == `"text"` && isString(b["text"]) && err == nil {
			err = s.add(b["text"], "", transcript.Session{}, func(now string) { set(b, "text", now) })
		}
	}
	return err
}

// bash parses {stdout, stderr, interrupted, isImage, ...}. If the client cut stdout, persistedOutputPath names a file with
// all of it; replacing stdout removes that member, too.
func (s *shape) bash(raw json.RawMessage, session transcript.Session) error {
	var o object
	var r struct {
		Image bool    `json:"isImage"`
		Path  string  `json:"persistedOutputPath"`
		Out   *string `json:"stdout"`
		Err   *string `json:"stderr"`
	}
	if json.Unmarshal(raw, &o) != nil || json.Unmarshal(raw, &r) != nil || r.Out == nil || r.Image {
		return errShape
	}
	s.value = o
	err := s.add(o["stdout"], r.Path, session, func(now string) {
		set(o, "stdout", now)
		delete(o, "persistedOutputPath")
		delete(o, "persistedOutputSize")
	})
	if err == nil && r.Err != nil && *r.Err != "" {
		err = s.add(o["stderr"], "", session, func(now string) { set(o, "stderr", now) })
	}
	return err
}

// read parses {type: "text", file: {content, ...}}. Images and notebooks have other types.
func (s *shape) read(raw json.RawMessage) error {
	var o, file object
	if json.Unmarshal(raw, &o) != nil || string(o["type"]) != `"text"` || json.Unmarshal(o["file"], &file) != nil || !isString(file["content"]) {
		return errShape
	}
	s.value = o
	err := s.add(file["content"], "", transcript.Session{}, func(now string) {
		set(file, "content", now)
		o["file"], _ = json.Marshal(file)
	})
	s.texts[0].source = true
	return err
}

// spilled reads the file into which the client spilled a whole output. The file must belong to this session, so that an
// output cannot make ccd show the agent any other file.
func spilled(path string, s transcript.Session) ([]byte, error) {
	own := filepath.Join(strings.TrimSuffix(s.Path, ".jsonl"), "tool-results")
	dir := filepath.Dir(filepath.Clean(path))
	if dir != own && real(dir) != real(own) {
		return nil, errors.New("read spilled output: not in the session's directory")
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
		err = errors.New("the file is still growing")
	}
	if err != nil {
		return nil, fmt.Errorf("read spilled output: %w", err)
	}
	return b, nil
}
