package web

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"

	"ccd/archive"
	"ccd/cmd/ccd/internal/dropped"
	"ccd/cmd/ccd/internal/reader"
	"ccd/cmd/ccd/internal/status"
	"ccd/internal/mark"
	"ccd/internal/transcript"
	"ccd/internal/words"
)

// request is one request for a page.
type request struct {
	*http.Request
	*Server
	library *reader.Library
	entry   *reader.Entry // of pages of a session
}

// answer is a page: a template and what it shows; or a file. The zero answer says that nothing is new.
type answer struct {
	template string
	data     any
	file     *file
}

// routes returns the pages. A session's ID is one segment of the path, in which slashes are escaped; it is only compared
// with the IDs in the archive, so it reaches no file.
func (s *Server) routes() http.Handler {
	m := http.NewServeMux()
	m.Handle("GET "+assetsPath, http.FileServerFS(files))
	m.HandleFunc("GET /{$}", s.page(listPage))
	for _, original := range []string{"GET /o/{id}", "GET /s/{agent}/{id}/r/{n}"} {
		m.HandleFunc(original, s.page(originalPage))
		m.HandleFunc(original+"/exact", s.page(exactFile))
		m.HandleFunc(original+"/image", s.page(imageFile))
	}
	m.HandleFunc("GET /s/{agent}/{id}", s.page(ofSession(lifePage)))
	m.HandleFunc("GET /s/{agent}/{id}/part", s.page(ofSession(partPage)))
	m.HandleFunc("GET /s/{agent}/{id}/compactions", s.page(ofSession(compactionPage)))
	m.HandleFunc("GET /s/{agent}/{id}/compactions/{n}", s.page(ofSession(compactionPage)))
	m.HandleFunc("GET /s/{agent}/{id}/companion", s.page(ofSession(companionPage)))
	m.HandleFunc("GET /s/{agent}/{id}/files", s.page(ofSession(filesPage)))
	m.HandleFunc("GET /s/{agent}/{id}/export", s.page(ofSession(exportFile)))
	m.HandleFunc("GET /s/{agent}/{id}/exact", s.page(ofSession(transcriptFile)))
	m.HandleFunc("GET /s/{agent}/{id}/file", s.page(ofSession(filePage)))
	m.HandleFunc("GET /s/{agent}/{id}/file/exact", s.page(ofSession(fileVersionFile)))
	m.HandleFunc("GET /", func(w http.ResponseWriter, r *http.Request) {
		s.failed(w, none("There is no page "+mark.Inline(r.URL.Path, 200)+"."))
	})
	return m
}

// IsPage reports whether an argument is the path of a page, perhaps with a query, and not of a transcript.
func IsPage(arg string) bool {
	path, _, _ := strings.Cut(arg, "?")
	return path == "/" || strings.HasPrefix(path, "/s/") || strings.HasPrefix(path, "/o/")
}

// SessionPath returns the path of a session's page.
func SessionPath(agent, id string) string { return address("s", agent, id) }

// page answers with what get returns. It writes only when the page is complete, so that a slow browser keeps nothing of the
// archive in use.
func (s *Server) page(get func(context.Context, *request) (answer, error)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		ctx, cancel := context.WithTimeout(r.Context(), answerTime)
		defer cancel()
		l, err := s.cache.load(ctx)
		if err != nil {
			s.failed(w, err)
			return
		}
		got, err := get(ctx, &request{Request: r, Server: s, library: l})
		switch {
		case err != nil:
			s.failed(w, err)
		case got.file != nil:
			s.send(w, got.file)
		case got.template == "":
			w.WriteHeader(http.StatusNoContent)
		default:
			s.write(w, http.StatusOK, got.template, got.data)
		}
	}
}

// ofSession finds the session of the path.
func ofSession(get func(context.Context, *request) (answer, error)) func(context.Context, *request) (answer, error) {
	return func(ctx context.Context, r *request) (answer, error) {
		var err error
		if r.entry, err = sessionOf(r.library, r.Request); err != nil {
			return answer{}, err
		}
		return get(ctx, r)
	}
}

func sessionOf(l *reader.Library, r *http.Request) (*reader.Entry, error) {
	key := transcript.Key{Agent: r.PathValue("agent"), ID: r.PathValue("id")}
	if e := l.Entry(key); e != nil {
		return e.Current(), nil
	}
	e, err := l.Find(key.ID, key.Agent)
	if err == nil {
		to := address("s", e.Agent, e.ID)
		if parts := strings.SplitN(r.URL.EscapedPath(), "/", 5); len(parts) == 5 {
			to += "/" + parts[4]
		}
		if r.URL.RawQuery != "" {
			to += "?" + r.URL.RawQuery
		}
		return nil, movedError(to)
	}
	if !errors.Is(err, archive.ErrNotFound) || len(l.Damage) > 0 {
		return nil, err
	}
	text := fmt.Sprintf("The archive has no session %s of %s.", mark.Inline(key.ID, 200), mark.Inline(key.Agent, 40))
	if when := words.Local(l.Forgotten()[key]); when != "" {
		text += " It was forgotten on " + when + "."
	}
	return nil, none(text)
}

// none is the error for something that is not there, as a sentence for a page.
type none string

// Error returns the sentence.
func (n none) Error() string { return string(n) }

// Is reports whether an error says that something was not found.
func (n none) Is(err error) bool { return err == archive.ErrNotFound }

// noneIf says in a sentence that something is not there, if err says so.
func noneIf(err error, format string, args ...any) error {
	if errors.Is(err, archive.ErrNotFound) {
		return none(fmt.Sprintf(format, args...))
	}
	return err
}

// movedError is the address of the page that shows what another address names.
type movedError string

// Error names the address.
func (m movedError) Error() string { return "the page is " + string(m) }

// number returns a number of the query, or other if there is none.
func (r *request) number(name string, other int) int {
	if n, err := strconv.Atoi(r.URL.Query().Get(name)); err == nil && n > -1<<31 && n < 1<<31 {
		return n
	}
	return other
}

func (s *Server) write(w http.ResponseWriter, status int, template string, data any) {
	text, err := s.look.text(template, data)
	if err != nil {
		status, text = http.StatusInternalServerError, []byte("the page could not be made: "+mark.Visible(err.Error())+"\n")
		w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	} else {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
	}
	w.Header().Set("Content-Length", strconv.Itoa(len(text)))
	w.WriteHeader(status)
	_, _ = w.Write(text) // the client may be away
}

// failed answers with an error, and leads on.
func (s *Server) failed(w http.ResponseWriter, err error) {
	no := refusal{Status: statusOf(err), Why: reader.Locked(err).Error(), List: true}
	var moved movedError
	var several *reader.AmbiguousError
	switch {
	case errors.As(err, &moved):
		w.Header().Set("Location", string(moved))
		w.WriteHeader(http.StatusFound)
		return
	case errors.As(err, &several):
		no.Why = "Several sessions have this name."
		for _, e := range several.Sessions {
			no.Sessions = append(no.Sessions, newRow(status.Of(e)))
		}
	case words.HintOf(err) != "":
		no.Help, no.Code = "Try:", words.HintOf(err)
	}
	s.deny(w, no)
}

func statusOf(err error) int {
	var locked *archive.LockedError
	var usage words.UsageError
	var several *reader.AmbiguousError
	switch {
	case errors.Is(err, archive.ErrNotFound), errors.As(err, new(*dropped.NoneError)), errors.As(err, &several):
		return http.StatusNotFound
	case errors.As(err, &usage):
		return http.StatusBadRequest
	case errors.As(err, &locked), errors.Is(err, context.DeadlineExceeded):
		return http.StatusServiceUnavailable
	}
	return http.StatusInternalServerError
}
