// Package hook answers the hooks of agents: the context that an agent gets when a session starts, continues or fills its
// window, the request to its summarizer, the new context of a compaction, and the excerpt that replaces a very long output.
//
// It owns the wording and its limits. Invariant: an answer is complete and within the limits of the client, or there is
// none. All transcript text in it is quoted or escaped by package mark. Only a compaction and an excerpt wait for the
// archive. The context of a session that continues is made from the model of its transcript, which the caller provides; if
// that is not ready in time, the agent gets the beginning of the existing companion. The package knows nothing of exit
// codes, deadlines of the process, configuration files or how a companion is made.
package hook

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"ccd/archive"
	"ccd/cmd/ccd/internal/reader"
	"ccd/compactor"
	"ccd/internal/agent/registry"
	"ccd/internal/transcript"
	"ccd/watcher"
)

// The events that are answered: those of clients, under their names, and those of what ccd installs in a client.
const (
	SessionStart     = "SessionStart"
	UserPromptSubmit = "UserPromptSubmit"
	PreCompact       = "PreCompact"
	SessionCompact   = "SessionCompact" // the client is about to compact: ccd may say what the new context is
	ToolResult       = "ToolResult"     // a long output is about to enter the context
)

// MaxInput is the size of the longest event that is answered, in bytes.
const MaxInput = 64 << 20

// Event is what a client sends to the hook's standard input.
type Event struct {
	Name       string `json:"-"` // one of the constants; from the command line
	Agent      string `json:"-"` // "claude-code" or "codex"; if "", the agent whose root contains the transcript
	Session    string `json:"session_id"`
	Transcript string `json:"transcript_path"` // absolute; the file does not exist yet when a session starts
	Cwd        string `json:"cwd"`
	// Source is startup, resume, fork, compact or clear for SessionStart, auto or manual for SessionCompact.
	Source string `json:"source"`
	// For ToolResult. Content is as the Messages API has it: a string, or a list of blocks.
	Tool    string          `json:"tool_name"`
	Input   json.RawMessage `json:"tool_input"`
	Content json.RawMessage `json:"content"`
	// For SessionCompact. Kept is the UUID of the first record that the client itself keeps, "" if it keeps none. Clients that call it
	// as a hook of their own name the source and the focus otherwise.
	Trigger  string `json:"trigger"`
	Typed    string `json:"custom_instructions"`
	Focus    string `json:"instructions"` // what the human typed after /compact
	Messages []Row  `json:"messages"`
	Kept     string `json:"first_kept"`
}

// compacted is the Source of a prompt after a compaction.
const compacted = "compacted"

// Continues reports whether the session continues its own earlier work.
func (e Event) Continues() bool {
	return e.Name == SessionStart && (e.Source == "compact" || e.resumed()) || e.Name == UserPromptSubmit && e.toldByPrompt()
}

// toldByPrompt reports whether the client can be told after a compaction by the next prompt only: it has no event then, or takes nothing
// from it.
func (e Event) toldByPrompt() bool { return e.Agent == gemini || e.Agent == qwen || e.Agent == copilot }

// resumed reports whether the session begins with earlier work: it was resumed, forked, or begun in a way that is not known yet.
func (e Event) resumed() bool {
	return e.Source != "" && e.Source != "startup" && e.Source != "compact" && e.Source != "clear"
}

// Large reports whether the event contains texts of the session, so that reading it takes time.
func (e Event) Large() bool { return e.Name == SessionCompact || e.Name == ToolResult }

// Read reads one event from r. It stops after the first JSON value, because a client may leave its pipe open. It fails on
// anything but an object, on fields of the wrong type and beyond MaxInput bytes.
func Read(r io.Reader) (Event, error) {
	var e *Event
	err := json.NewDecoder(io.LimitReader(r, MaxInput)).Decode(&e)
	if err == nil && e == nil {
		err = errors.New("not a JSON object")
	}
	if err != nil {
		return Event{}, fmt.Errorf("read event: %w", plain(err))
	}
	return *e, nil
}

// plain removes the quoted input from an error of the JSON decoder, because logs must not contain transcript text.
func plain(err error) error {
	var syntax *json.SyntaxError
	var kind *json.UnmarshalTypeError
	switch {
	case errors.As(err, &syntax):
		return errors.New("not JSON")
	case errors.As(err, &kind):
		return errors.New("a field has the wrong type")
	}
	return err
}

// Keeper is the part of the archive that is needed to store a long output.
type Keeper interface {
	Session(ctx context.Context, k transcript.Key) (archive.Session, error)
	Append(ctx context.Context, s transcript.Session, seg transcript.Segment) error
	Publish(ctx context.Context, p archive.Publication) error
}

// Hooks holds what is needed to answer events.
type Hooks struct {
	Agents       registry.Table
	Roots        []watcher.Root // the directories with transcripts
	CompanionDir string         // if "", companions are beside their transcripts
	StateDir     string         // ccd's own directory; need not exist
	Pressure     float64        // share of the context window, 0..1, from which prompts get a warning
	Program      string         // absolute path of ccd for commands shown to agents; if "", `ccd`
	Now          time.Time

	// Earlier returns the newest other session of the agent of s that belongs to the project of a directory and has a companion, nil if
	// there is none.
	Earlier func(ctx context.Context, s transcript.Session, dir string) (*reader.Entry, error)
	// Sync archives what is new in a transcript, so that every ID of its records resolves, as far as the deadline of ctx allows.
	// Then it notes for lists what said returns, a model's Status and PerToken, or if said is nil, updates the companion. If Sync is
	// nil, none is done, and no compaction is answered.
	Sync func(ctx context.Context, path string, said func() (*compactor.Status, float64)) error
	// Compactor reads the records of a session into a compactor with the options that a person set for its companion, and shows each of them to
	// each, if that is not nil; text reads its transcript until done is called. Both fail if the deadline of ctx is too
	// short. If Compactor is nil or fails, agents get the beginning of the companion.
	Compactor func(ctx context.Context, s transcript.Session, m compactor.Manual, each func(*transcript.Record)) (f *compactor.Compactor, text compactor.Text, done func(), err error)
	Live      Live
	// Offer has the summary of a compaction ready where the client asks a model for it, and returns the mark that its request must have.
	// If nil, the summary is the answer.
	Offer func(Summary) (mark string, err error)
	// Files returns the newest content of the files that an archived session used last, the newest first, at most so many.
	Files func(ctx context.Context, s transcript.Session, most int) ([]*reader.Version, error)
	// Keep stores the originals of long outputs. If nil, no output is replaced.
	Keep Keeper
}

// Answer is what the hook prints and what it logs.
type Answer struct {
	Stdout []byte // empty: the client continues as without a hook
	Did    string // a few words for the log, without transcript text
}

// ErrNothing is wrapped by errors that only say why there is no answer.
var ErrNothing = errors.New("no answer")

var errAnswered = nothing("ccd answered the compaction")

func nothing(why string) error { return fmt.Errorf("%w: %s", ErrNothing, why) }

// Answer answers an event. It may return both an answer and an error, if an earlier step such as the refresh failed.
func (h Hooks) Answer(ctx context.Context, e Event) (Answer, error) {
	s, err := h.session(&e)
	if err != nil {
		return Answer{}, err
	}
	switch e.Name {
	case SessionStart:
		return h.start(ctx, e, s)
	case UserPromptSubmit:
		return h.prompt(ctx, e, s)
	case PreCompact:
		return h.compact(ctx, e, s)
	case SessionCompact:
		return h.answerCompaction(ctx, e, s)
	case ToolResult:
		return h.demote(ctx, e, s)
	}
	return Answer{}, errors.New("answer event: unknown event")
}

func (h Hooks) start(ctx context.Context, e Event, s transcript.Session) (Answer, error) {
	switch e.Source {
	case "startup", "new":
		text, err := h.offer(ctx, e, s)
		return contextAnswer(e, text, "", err)
	case "clear": // nothing says which session was cleared: several may be open in one directory
		return Answer{}, nothing("the context was cleared")
	case "":
		return Answer{}, nothing("no source")
	}
	if e.Agent == gemini || e.Agent == qwen && e.Source == "compact" { // Gemini CLI sends the first prompt beside this hook
		return Answer{}, nothing("a prompt tells it")
	}
	if e.toldByPrompt() {
		h.noteBoundary(s)
	}
	if e.Source == "compact" {
		return h.compacted(ctx, e, s)
	}
	text, err := h.continued(ctx, e, s)
	return contextAnswer(e, text, "", err)
}

// compacted answers a start behind a compaction. If ccd should have been asked for that, and was not, the human is told.
func (h Hooks) compacted(ctx context.Context, e Event, s transcript.Session) (Answer, error) {
	asked := h.lastAsked(e)
	if asked != nil && strings.HasPrefix(asked.Did, compactedWord) {
		return Answer{}, errAnswered
	}
	message := ""
	text, err := h.continued(ctx, e, s)
	if asked == nil && e.Agent == claude && h.Live.Compaction && !errors.Is(err, errAnswered) {
		message, err = unasked, errors.Join(errUnasked, err)
	}
	return contextAnswer(e, text, message, err)
}

func (h Hooks) compact(ctx context.Context, e Event, s transcript.Session) (Answer, error) {
	var late error
	if h.Sync != nil {
		late = h.Sync(ctx, s.Path, nil)
	}
	if e.Agent != claude { // Codex does not pass a hook's output to its summarizer
		return Answer{Did: "refreshed"}, late
	}
	c, err := h.companion(s)
	if err != nil {
		return Answer{}, errors.Join(late, err)
	}
	return Answer{Stdout: []byte(h.ask(c)), Did: "asked"}, late
}

// contextAnswer wraps a text in the JSON from which clients add context, and a message to the human. err is why the text is empty or
// only a fallback.
func contextAnswer(e Event, text, message string, err error) (Answer, error) {
	out, did := map[string]any{}, ""
	if message != "" {
		out["systemMessage"] = message
	}
	if text != "" {
		out["hookSpecificOutput"] = map[string]any{"hookEventName": e.Name, "additionalContext": text}
		if e.Agent == copilot {
			out = map[string]any{"additionalContext": text}
		}
		did = fmt.Sprintf("added %d chars", units(e.Agent, text))
	}
	if len(out) == 0 {
		return Answer{}, err
	}
	answer, failed := answerOf(out, did)
	return answer, errors.Join(err, failed)
}

// answerOf returns the answer that prints out as JSON.
func answerOf(out any, did string) (Answer, error) {
	b, err := json.Marshal(out)
	if err != nil {
		return Answer{}, fmt.Errorf("write answer: %w", err)
	}
	return Answer{append(b, '\n'), did}, nil
}
