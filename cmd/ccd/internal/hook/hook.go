// Package hook answers the hooks of agents: what an agent is told when a session begins, goes on or fills its context,
// what its summarizer is asked to keep, and what stands for an output that is too long.
//
// It owns the wording and its limits. Its invariant: an answer is whole and within the limits of the client that asked,
// or there is none. Everything of a transcript in it is quoted or escaped as package mark does it; nothing here waits for
// the archive but the demotion of an output. What is told of a session that goes on is planned from a fold of its
// transcript, which a caller makes; where that is late, what already stands is told. It knows nothing of exit codes,
// deadlines of the process, configuration files or how a companion is made.
package hook

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	"ccd/archive"
	"ccd/compactor"
	"ccd/internal/transcript"
)

// The events that are answered, by the clients' own names.
const (
	SessionStart     = "SessionStart"
	UserPromptSubmit = "UserPromptSubmit"
	PreCompact       = "PreCompact"
	PostToolUse      = "PostToolUse"
)

// MaxInput is how much of an event is read, in bytes; a longer one is not answered.
const MaxInput = 32 << 20

// Event is what a client tells of itself on the hook's standard input.
type Event struct {
	Name       string          `json:"-"` // one of the constants; from the command line
	Agent      string          `json:"-"` // "claude-code" or "codex"; "": the one below whose roots the transcript stands
	Session    string          `json:"session_id"`
	Transcript string          `json:"transcript_path"` // absolute; at the start of a session there is no such file yet
	Cwd        string          `json:"cwd"`
	Source     string          `json:"source"`        // of a SessionStart: startup, resume, compact or clear
	Tool       string          `json:"tool_name"`     // of a PostToolUse
	Input      json.RawMessage `json:"tool_input"`    // of a PostToolUse
	Response   json.RawMessage `json:"tool_response"` // of a PostToolUse
}

// GoesOn reports whether the event begins a session that goes on from earlier work, its own or what was cleared.
func (e Event) GoesOn() bool {
	return e.Name == SessionStart && (e.Source == "compact" || e.Source == "resume" || e.Source == "clear")
}

// Read takes one event from r: the first JSON value there, so that a client that leaves its pipe open is no trouble.
// It fails on anything but an object, on members of another type and beyond MaxInput bytes.
func Read(r io.Reader) (Event, error) {
	var e Event
	var object map[string]json.RawMessage // null, and what is no object, are no event
	var raw json.RawMessage
	err := json.NewDecoder(io.LimitReader(r, MaxInput)).Decode(&raw)
	if err == nil {
		err = json.Unmarshal(raw, &object)
	}
	if err == nil && object == nil {
		err = errors.New("no object")
	}
	if err == nil {
		err = json.Unmarshal(raw, &e)
	}
	if err != nil {
		return Event{}, fmt.Errorf("read event: %w", plain(err))
	}
	return e, nil
}

// plain is an error of the JSON decoder without the text that it quotes: logs hold no content.
func plain(err error) error {
	var syntax *json.SyntaxError
	var kind *json.UnmarshalTypeError
	switch {
	case errors.As(err, &syntax):
		return errors.New("not JSON")
	case errors.As(err, &kind):
		return errors.New("a member of the wrong type")
	}
	return err
}

// Keeper keeps an original for ever: the part of the archive that a demotion needs.
type Keeper interface {
	Session(ctx context.Context, k transcript.Key) (archive.Session, error)
	Append(ctx context.Context, s transcript.Session, seg transcript.Segment) error
	Publish(ctx context.Context, p archive.Publication) error
}

// Hooks is what answering needs to know.
type Hooks struct {
	Roots        map[string][]string // by agent: the directories that hold its transcripts
	CompanionDir string              // "": companions stand beside their transcripts
	StateDir     string              // ccd's own directory; need not be there
	Pressure     float64             // from which part of the context window on a prompt is told of it, 0..1
	Program      string              // absolute path of ccd, for commands that agents are told; "": `ccd`
	Now          time.Time

	// Refresh brings the companion of a transcript up to date, as far as it gets in its time. Nil: it stays as it is.
	Refresh func(ctx context.Context, path string) error
	// Fold folds the records of a session, with what a person asked of its companion by hand; text reads its transcript
	// until done is called. Both fail where the time of ctx does not suffice. Nil, or where they fail: agents are told the
	// beginning of the companion.
	Fold func(ctx context.Context, s transcript.Session, m compactor.Manual) (f *compactor.Compactor, text compactor.Text, done func(), err error)
	// Keep is where originals of demoted outputs go. Nil: no output is demoted.
	Keep Keeper
}

// Answer is what the hook prints, and what its log says.
type Answer struct {
	Stdout []byte // empty: the client goes on as if there was no hook
	Did    string // in a few words, without any content
}

// ErrNothing is wrapped by the errors that only say why there is nothing to tell.
var ErrNothing = errors.New("nothing to tell")

func nothing(why string) error { return fmt.Errorf("%w: %s", ErrNothing, why) }

// Answer answers an event. With an error there may be an answer all the same: of what could not be done first.
func (h Hooks) Answer(ctx context.Context, e Event) (Answer, error) {
	s, err := h.session(&e)
	if err != nil {
		return Answer{}, err
	}
	switch e.Name {
	case SessionStart:
		return h.start(ctx, e, s)
	case UserPromptSubmit:
		return h.prompt(e, s)
	case PreCompact:
		return h.compact(ctx, e, s)
	case PostToolUse:
		return h.demote(ctx, e, s)
	}
	return Answer{}, errors.New("answer event: it is not known")
}

func (h Hooks) start(ctx context.Context, e Event, s transcript.Session) (Answer, error) {
	var text string
	var err error
	switch e.Source {
	case "startup":
		text, err = h.offer(ctx, e, s)
	case "resume", "compact":
		text, err = h.goOn(ctx, e, s)
	case "clear":
		text, err = h.cleared(ctx, e, s)
	default:
		err = nothing("a source that is not known")
	}
	return told(e, text, err)
}

func (h Hooks) compact(ctx context.Context, e Event, s transcript.Session) (Answer, error) {
	var late error
	if h.Refresh != nil {
		late = h.Refresh(ctx, s.Path)
	}
	if e.Agent != claude { // Codex gives its summarizer nothing of a hook's output
		return Answer{Did: "refreshed"}, late
	}
	c, err := h.companion(s)
	if err != nil {
		return Answer{}, errors.Join(late, err)
	}
	return Answer{Stdout: []byte(h.ask(c)), Did: "asked"}, late
}

// told wraps a text as clients take context from hooks. The error tells why there is none, or not the one there should be.
func told(e Event, text string, err error) (Answer, error) {
	if text == "" {
		return Answer{}, err
	}
	out, failed := output(map[string]any{"hookEventName": e.Name, "additionalContext": text})
	return Answer{out, fmt.Sprintf("told %d chars", units(e.Agent, text))}, errors.Join(err, failed)
}

func output(specific map[string]any) ([]byte, error) {
	out, err := json.Marshal(map[string]any{"hookSpecificOutput": specific})
	if err != nil {
		return nil, fmt.Errorf("write answer: %w", err)
	}
	return append(out, '\n'), nil
}
