package daemon

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"ccd/internal/atomicfile"
	"ccd/internal/ownfile"
	"ccd/watcher"
)

// A request is a file in STATE/asked that contains the path of a transcript. Another process writes it; the running
// daemon, which follows the session, brings the session and its companion up to date and removes the file.
// If it cannot, it empties the file. The other process waits for either, and removes what is left.

const (
	requestSuffix = ".path" // the temporary file before it has another name
	maxRequest    = 8 << 10 // bytes
	requestEvery  = 5 * time.Millisecond
	requestAge    = time.Minute // an older one has been given up
	maxRequests   = 64          // transcripts that wait
)

// ErrNotServed is returned by Ask if no daemon has brought the session up to date in time.
var ErrNotServed = errors.New("not brought up to date by a running daemon")

// RequestDir returns the directory of requests. It exists while a daemon serves them.
func RequestDir(stateDir string) string { return filepath.Join(stateDir, "asked") }

// Ask has the running daemon bring the session of a transcript and its companion up to date, and waits for it until ctx
// ends. If no daemon runs, it fails at once.
func Ask(ctx context.Context, stateDir, path string) error {
	dir := RequestDir(stateDir)
	if _, _, running, err := readLock(stateDir); err != nil || !running {
		return ErrNotServed
	}
	if info, err := os.Lstat(dir); err != nil || !info.IsDir() {
		return ErrNotServed
	}
	file := filepath.Join(dir, fmt.Sprintf("%d-%d%s", os.Getpid(), time.Now().UnixNano(), requestSuffix))
	if err := atomicfile.Write(file, 0o600, []byte(path)); err != nil {
		return fmt.Errorf("ask daemon: %w", err)
	}
	defer os.Remove(file)
	tick := time.NewTicker(requestEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return ErrNotServed
		case <-tick.C:
		}
		info, err := os.Lstat(file)
		if errors.Is(err, os.ErrNotExist) {
			return nil
		}
		if err != nil || info.Size() == 0 {
			return ErrNotServed
		}
	}
}

// requests are the files of STATE/asked that wait for an answer, by the path that they contain. Another goroutine finds
// them.
type requests struct {
	mu    sync.Mutex
	files map[string][]string
}

// startRequests starts the goroutine that finds requests and has their transcripts offered. Without file events there
// are none. The returned function ends it: later requests fail at once.
func (d *Daemon) startRequests(ctx context.Context, again chan<- string) (stop func()) {
	dir := RequestDir(d.StateDir)
	ctx, cancel := context.WithCancel(ctx)
	ended := make(chan struct{})
	err := os.Mkdir(dir, 0o700)
	if info, unseen := os.Lstat(dir); unseen == nil && info.IsDir() {
		err = nil
	}
	var found <-chan string
	if err == nil {
		found, err = watcher.Created(ctx, dir)
	}
	if err != nil {
		d.Log.Info("hooks update companions themselves", "why", err)
		_ = os.Remove(dir)
		cancel()
		return func() {}
	}
	clearRequests(dir)
	go func() {
		defer close(ended)
		for file := range found {
			path, ok := d.requests.add(file)
			if !ok {
				continue
			}
			select {
			case again <- path:
			case <-ctx.Done():
			}
		}
	}()
	return func() {
		cancel()
		<-ended
		clearRequests(dir)
		_ = os.Remove(dir)
	}
}

// clearRequests refuses the requests that nobody will serve, and removes the remains of processes that ended.
func clearRequests(dir string) {
	entries, _ := os.ReadDir(dir)
	for _, e := range entries {
		file := filepath.Join(dir, e.Name())
		if info, err := e.Info(); err == nil && (time.Since(info.ModTime()) > requestAge || info.Size() == 0) {
			_ = os.Remove(file)
		} else {
			refuse(file)
		}
	}
}

// refuse empties a request.
func refuse(file string) {
	if info, err := os.Lstat(file); err != nil || !info.Mode().IsRegular() { // a link might lead to a file of the user
		return
	}
	if f, err := ownfile.Open(file, os.O_WRONLY, 0); err == nil {
		_ = f.Truncate(0)
		f.Close()
	}
}

// add reads a request. ok is false if the file is none.
func (r *requests) add(file string) (path string, ok bool) {
	if !strings.HasSuffix(file, requestSuffix) {
		return "", false
	}
	b, err := ownfile.Read(file, maxRequest)
	if path = string(b); err != nil || !filepath.IsAbs(path) || strings.ContainsRune(path, 0) {
		return "", false
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.files) >= maxRequests { // those that the watcher does not offer, because no watched root contains them
		for _, all := range r.files {
			refuseAll(all)
		}
		r.files = nil
	}
	if r.files == nil {
		r.files = map[string][]string{}
	}
	r.files[path] = append(r.files[path], file)
	return path, true
}

// take returns the requests for a path, which are the caller's to answer.
func (r *requests) take(path string) (files []string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	files = r.files[path]
	delete(r.files, path)
	return files
}

// answering returns done with the answers to requests for path.
func (d *Daemon) answering(files []string, path string, done func(watcher.Offer, error)) func(watcher.Offer, error) {
	return func(o watcher.Offer, err error) {
		if o.Path == path {
			d.answer(files, path, err)
			files = nil
		}
		done(o, err)
	}
}

// answer answers requests for a session, with the error of its sync. If the session is offered again, they wait for that.
func (d *Daemon) answer(files []string, path string, err error) {
	s := d.sessions[d.owners[path]]
	switch {
	case len(files) == 0:
	case repeats(err):
		d.requests.mu.Lock()
		defer d.requests.mu.Unlock()
		d.requests.files[path] = append(d.requests.files[path], files...)
	case err != nil || s == nil || s.state.Covers != s.state.At:
		refuseAll(files)
	default:
		for _, file := range files {
			_ = os.Remove(file)
		}
	}
}

func refuseAll(files []string) {
	for _, file := range files {
		refuse(file)
	}
}
