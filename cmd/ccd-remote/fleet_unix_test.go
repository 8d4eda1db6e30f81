//go:build unix

package main

import (
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
)

// tally counts requests as S3 bills them.
type tally struct {
	mu        sync.Mutex
	kinds     map[string]int
	sent, got int64 // bytes of bodies
}

// counted is a response whose bytes are counted.
type counted struct {
	http.ResponseWriter
	t *tally
}

// Write implements io.Writer.
func (c counted) Write(b []byte) (int, error) {
	n, err := c.ResponseWriter.Write(b)
	c.t.mu.Lock()
	defer c.t.mu.Unlock()
	c.t.got += int64(n)
	return n, err
}

func (c *tally) handle(_ int, w http.ResponseWriter, r *http.Request, forward http.HandlerFunc) {
	kind := r.Method
	if kind == http.MethodGet && r.URL.Query().Has("list-type") {
		kind = "LIST"
	}
	c.mu.Lock()
	c.kinds[kind]++
	c.sent += max(r.ContentLength, 0)
	c.mu.Unlock()
	forward(counted{w, c}, r)
}

// TestFleet counts the requests of many machines and their reader at a real server, with the shipped programs.
func TestFleet(t *testing.T) {
	const n = 3
	s := startServer(t)
	reader := newHome(t, s, "reader")
	recipient := reader.reader()
	c := &tally{kinds: map[string]int{}}
	s.inject(c.handle)
	counts := func(what, want string, do func()) {
		t.Helper()
		clear(c.kinds)
		c.sent, c.got = 0, 0
		do()
		got := strings.TrimPrefix(fmt.Sprint(c.kinds), "map")
		t.Logf("%d machines: %s: %s, %d bytes sent, %d received", n, what, got, c.sent, c.got)
		if got != want {
			t.Errorf("%s: %s, want %s", what, got, want)
		}
	}
	all := make([]*home, n)
	each := func(do func(i int, h *home)) { // a few at once, as machines are
		var wait sync.WaitGroup
		for first := range 4 {
			wait.Go(func() {
				for i := first; i < n; i += 4 {
					do(i, all[i])
				}
			})
		}
		wait.Wait()
	}
	for i := range all {
		all[i] = newHome(t, s, fmt.Sprint("machine", i))
	}
	each(func(_ int, h *home) { h.join(recipient) })
	push := func(i int, h *home) { h.ok("remote", "push", "-q") }
	for _, want := range []string{"[PUT:6]", "[GET:3 PUT:6]"} { // pack and head, then the head before
		each(func(i int, h *home) { h.talk(id(i), 5) })
		counts("a push of each", want, func() { each(push) })
	}
	counts("a new reader", fmt.Sprintf("[GET:%d LIST:%d]", 3*n, 1+n), func() { reader.ok("remote", "pull", "-q") })
	counts("a pull without news", "[LIST:1]", func() { reader.ok("remote", "pull", "-q") })
	each(func(i int, h *home) { h.talk(id(i), 5) })
	counts("a push of each", "[GET:3 PUT:6]", func() { each(push) })
	counts("a pull after it", fmt.Sprintf("[GET:%d LIST:1]", 2*n), func() { reader.ok("remote", "pull", "-q") })
	all[0].talk(id(0), 5)
	push(0, all[0])
	counts("a pull of one", "[GET:2 LIST:1]", func() { reader.ok("remote", "pull", "-q", "--machine", "machine0") })
	counts("search --everywhere", "[]", func() { reader.ok("search", "--everywhere", "-q", "needle-"+id(n-1)) })
	other := newHome(t, s, "other")
	other.ok("remote", "keys", "--identity", reader.dir+"/.local/state/ccd/remote/identity.txt", "-q")
	other.join(recipient)
	name := strings.TrimSpace(all[0].ok("remote", "status", "--json"))
	_, name, _ = strings.Cut(name, `"machine": "`)
	counts("a new reader of one machine", "[GET:5 LIST:2]", func() { other.ok("remote", "pull", "-q", "--machine", name[:32]) })
	each(func(_ int, h *home) { h.same(reader) })
	all[1].ok("remote", "push", "--new-name", "-q")
	counts("a pull of one that has a new name", "[GET:2 LIST:1]", func() { // its head and pack
		if out := reader.ok("remote", "pull", "--machine", "machine1"); !strings.Contains(out, "of 2 machines") {
			t.Error(out)
		}
	})
}
