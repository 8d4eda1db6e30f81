package web

import (
	"fmt"
	"net/http"
	"time"

	"ccd/archive"
	"ccd/internal/transcript"
)

// events sends an event when the session has grown, and one when its index is complete. The page then fetches what is new,
// so an event carries no text. The stream looks at the archive's file only, until that changes.
func (s *Server) events(w http.ResponseWriter, r *http.Request) {
	l, err := s.shelf.load(r.Context())
	if err != nil {
		s.failed(w, r, err)
		return
	}
	e, err := sessionOf(l, r)
	if err != nil {
		s.failed(w, r, err)
		return
	}
	defer s.streams.Add(-1)
	if s.streams.Add(1) > maxStreams {
		s.deny(w, r, &refusal{Status: http.StatusServiceUnavailable, Why: "Too many pages are open."})
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	_ = http.NewResponseController(w).SetReadDeadline(time.Time{}) // that of the request would end the stream
	st := stream{ResponseWriter: w, reading: r.URL.Query().Has("reading")}
	st.tip(e.Generations)
	st.send(": open\nretry: 2000\n\n")
	look := time.NewTicker(s.Poll)
	defer look.Stop()
	for st.err == nil {
		select {
		case <-r.Context().Done(): // the client is away, or the server ends
			return
		case <-look.C:
			s.watch(r, &st, e.Key)
		}
	}
}

// stream is one open event stream.
type stream struct {
	http.ResponseWriter
	generation int
	offset     int64
	quiet      int  // looks since something was sent
	reading    bool // the page shows a part of the index
	err        error
}

// tip notes how far the session is archived, and reports whether that is news.
func (st *stream) tip(all []archive.Generation) bool {
	if len(all) == 0 {
		return false
	}
	g := all[len(all)-1]
	news := g.N != st.generation || g.Tip.Offset != st.offset
	st.generation, st.offset = g.N, g.Tip.Offset
	return news
}

func (s *Server) watch(r *http.Request, st *stream, key transcript.Key) {
	l, err := s.shelf.load(r.Context())
	if err != nil {
		return // the archive is locked for a moment, or the client is away
	}
	e, ok := l.Entry(key)
	switch st.quiet++; {
	case ok && st.tip(e.Generations):
		st.send(fmt.Sprintf("event: grew\ndata: {\"records\":%d}\n\n", e.Kept.Records))
	case st.reading && s.shelf.complete(key):
		st.reading = false
		st.send("event: read\ndata: {}\n\n")
	case time.Duration(st.quiet)*s.Poll >= keepStreams:
		st.send(": open\n\n")
	}
}

// send writes to the client, which has answerTime to take it.
func (st *stream) send(text string) {
	st.quiet = 0
	control := http.NewResponseController(st.ResponseWriter)
	if st.err = control.SetWriteDeadline(time.Now().Add(answerTime)); st.err != nil {
		return
	}
	if _, st.err = st.Write([]byte(text)); st.err == nil {
		st.err = control.Flush()
	}
}
