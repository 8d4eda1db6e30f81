// Package web serves the local page of `ccd web` and writes the page of `ccd export`.
//
// Invariant: it only reads the archive, listens only on loopback, connects to nothing, and answers only GET and HEAD of a
// browser that has exchanged a one-time token. Text from transcripts reaches a page only through html/template, with control
// characters made visible, and a secret only through an address that ends in /exact. What a session is, is up to packages
// status and view; web knows how it looks.
package web

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"log"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"ccd/cmd/ccd/internal/reader"
	"ccd/cmd/ccd/internal/view"
	"ccd/internal/atomicfile"
	"ccd/internal/transcript"
	"ccd/internal/words"
)

// Options say what is served, and where.
type Options struct {
	Library *reader.Library         // opened read-only, not loaded
	Addr    string                  // a loopback address; with port 0, the usual port or a free one
	Hosts   []string                // further names under which a proxy reaches the page
	Idle    time.Duration           // the server ends after so long without requests, which an open page makes; 0: never
	Unused  func(agent string) bool // reports whether ccd could add to the agent's context at a compaction, or write it, and is not set up to
}

// Server serves the page.
type Server struct {
	Options
	listener net.Listener
	hosts    map[string]bool // what a request's Host may be
	cookie   string          // of browsers that are admitted
	tokens   sync.Map        // that admit one, and are not used yet
	cache    cache
	unused   *time.Timer // nil: the server never ends by itself
	look     *look
}

// The limits of a request.
const (
	maxHeader  = 16 << 10
	readTime   = 10 * time.Second
	answerTime = time.Minute
)

// Listen opens the socket. The page is served once Serve is called.
func Listen(o Options) (*Server, error) {
	host, err := loopback(o.Addr)
	if err != nil {
		return nil, err
	}
	s := &Server{Options: o, cache: cache{library: o.Library}}
	if s.listener, err = listen(host, o.Addr, o.Library.StateDir); err != nil {
		return nil, err
	}
	s.cookie, s.look = rand.Text(), newLook(false)
	s.hosts = hostsOf(s.port(), o.Hosts)
	return s, nil
}

// Close closes the socket of a server that is not served.
func (s *Server) Close() error { return s.listener.Close() }

// loopback returns the host of an address, which must be of the loopback interface.
func loopback(addr string) (string, error) {
	host, _, err := net.SplitHostPort(addr)
	if ip := net.ParseIP(host); err != nil || host != "localhost" && (ip == nil || !ip.IsLoopback()) {
		err = fmt.Errorf("listen on %s: only loopback addresses such as 127.0.0.1:0 are allowed", addr)
		return "", words.Hint(words.Usage(err), "ccd help web")
	}
	return host, nil
}

// hostsOf returns the exact values of Host that are answered. Any other name may be one that a hostile page made resolve to
// 127.0.0.1.
func hostsOf(port string, more []string) map[string]bool {
	all := map[string]bool{}
	for _, name := range append([]string{"127.0.0.1", "localhost", "[::1]"}, more...) {
		all[strings.ToLower(net.JoinHostPort(strings.Trim(name, "[]"), port))] = true
	}
	for _, name := range more { // a proxy on port 80 or 443
		all[strings.ToLower(name)] = true
	}
	return all
}

func (s *Server) port() string {
	_, port, _ := net.SplitHostPort(s.listener.Addr().String())
	return port
}

// Address returns the address of a page with a one-time token. Page is a path, with a query if it has one.
func (s *Server) Address(page string) string {
	u, err := url.Parse("/" + strings.TrimLeft(page, "/"))
	if err != nil {
		u = &url.URL{Path: "/"}
	}
	q := u.Query()
	token := rand.Text() // admits a browser once
	s.tokens.Store(token, true)
	q.Set(tokenParam, token)
	u.Scheme, u.Host, u.RawQuery = "http", s.listener.Addr().String(), q.Encode()
	return u.String()
}

// Serve answers requests until ctx ends or the page has not been used for Idle.
func (s *Server) Serve(ctx context.Context) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	defer os.Remove(filepath.Join(s.Library.StateDir, openName))
	h := &http.Server{
		Handler: s.guard(s.routes()), DisableGeneralOptionsHandler: true, MaxHeaderBytes: maxHeader, ReadHeaderTimeout: readTime,
		ReadTimeout: readTime, WriteTimeout: answerTime + readTime, IdleTimeout: answerTime,
		BaseContext: func(net.Listener) context.Context { return ctx }, ErrorLog: log.New(io.Discard, "", 0), // it would report clients that go away
	}
	failed, unused := make(chan error, 1), (<-chan time.Time)(nil)
	if s.Idle > 0 {
		s.unused = time.NewTimer(s.Idle)
		unused = s.unused.C
	}
	go func() { failed <- h.Serve(s.listener) }()
	var err error
	select {
	case err = <-failed:
	case <-ctx.Done():
		err = context.Cause(ctx)
	case <-unused:
	}
	stop()
	end, cancel := context.WithTimeout(context.WithoutCancel(ctx), readTime)
	defer cancel()
	if down := h.Shutdown(end); down != nil {
		err = errors.Join(err, h.Close())
	}
	if errors.Is(err, http.ErrServerClosed) {
		err = nil
	}
	return err
}

// openName is a file in ccd's state directory that redirects a browser to the page.
const openName = "web.html"

// listen opens addr. Port 0 is, if it is free, one that depends on the state directory alone, because browsers keep addresses and marks
// per port.
func listen(host, addr, stateDir string) (net.Listener, error) {
	if _, port, err := net.SplitHostPort(addr); err == nil && port == "0" {
		usual := firstPort + crc32.ChecksumIEEE([]byte(stateDir))%ports
		if l, err := net.Listen("tcp", net.JoinHostPort(host, strconv.Itoa(int(usual)))); err == nil {
			return l, nil
		}
	}
	return net.Listen("tcp", addr)
}

// The usual ports are below those that systems give away.
const (
	firstPort = 20000
	ports     = 10000
)

// OpenFile writes a page that redirects to address, for a program that opens the browser: an argument would show the token
// to every user of the machine.
func OpenFile(stateDir, address string) (path string, err error) {
	path = filepath.Join(stateDir, openName)
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", err
	}
	text, err := newLook(false).text("open", address)
	if err != nil {
		return "", err
	}
	return path, atomicfile.Write(path, 0o600, text)
}

const (
	maxIndexes = 8       // sessions of which the index is kept
	freedBytes = 8 << 20 // indexed at once, after which memory is given back
)

// cache keeps what was read of the archive until it changes: the sessions, and the indexes of those looked at last.
type cache struct {
	mu      sync.Mutex
	library *reader.Library // replaced when it is read again
	indexes []*index        // the last used first

	glances map[transcript.Key]glance
}

// load returns the sessions as they are now, and reads the archive if it has changed. Each caller gets its own copy of the Library,
// because looking up an original may load it again.
func (s *cache) load(ctx context.Context) (*reader.Library, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	l := *s.library
	if changed, replaced := l.Changed(); changed {
		if err := l.Load(ctx); err != nil {
			return nil, err
		}
		if replaced { // sessions and generations may be other ones, or lack texts
			s.indexes = nil
		}
		kept := l
		s.library = &kept
	}
	l.Damage = slices.Clip(l.Damage)
	return &l, nil
}

// index is the index of one session.
type index struct {
	key transcript.Key

	mu sync.Mutex // a view.Index is used by one at a time
	view.Index
}

// index returns the index of a session, which may be empty.
func (s *cache) index(k transcript.Key) *index {
	s.mu.Lock()
	defer s.mu.Unlock()
	one := &index{key: k}
	if i := slices.IndexFunc(s.indexes, func(one *index) bool { return one.key == k }); i >= 0 {
		one = s.indexes[i]
		s.indexes = slices.Delete(s.indexes, i, i+1)
	}
	s.indexes = slices.Insert(s.indexes, 0, one)
	s.indexes = s.indexes[:min(len(s.indexes), maxIndexes)]
	return one
}

// use indexes what is new of a session and calls do.
func (s *cache) use(ctx context.Context, l *reader.Library, e *reader.Entry, do func(one *view.Index) error) error {
	one := s.index(e.Key)
	one.mu.Lock()
	defer one.mu.Unlock()
	if one.Records == 0 && e.Tip().Offset > freedBytes {
		defer debug.FreeOSMemory() // indexing leaves many times what the index takes, and the page may now be idle for hours
	}
	if err := one.Grow(ctx, l, e); err != nil {
		return err
	}
	return do(&one.Index)
}
