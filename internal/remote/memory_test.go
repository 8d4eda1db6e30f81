package remote

import (
	"context"
	"fmt"
	"iter"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"
)

// memory is a Store in memory that counts its requests and can fail or lie.
type memory struct {
	mu       sync.Mutex
	objects  map[string][]byte
	modified map[string]time.Time
	requests map[string]int                                // by kind; a list is one for each page of 1,000
	before   func(kind, name string) error                 // fails a request instead of doing it
	after    func(kind, name string) error                 // loses the answer of a request that was done
	show     func(name string, data []byte) ([]byte, bool) // what Get and List say instead
}

func newMemory() *memory {
	return &memory{objects: map[string][]byte{}, modified: map[string]time.Time{}, requests: map[string]int{}}
}

var errCut = fmt.Errorf("%w: connection reset", ErrBusy)

// cut fails request at, from 1, or loses its answer, until mended is called, which returns how many requests there were.
func (m *memory) cut(at int, lost bool) (mended func() int) {
	n := 0
	fail := func(string, string) error {
		if n++; n == at {
			return errCut
		}
		return nil
	}
	if m.before = fail; lost {
		m.before, m.after = nil, fail
	}
	return func() int {
		m.before, m.after = nil, nil
		return n
	}
}

func (m *memory) begin(kind, name string) error {
	m.requests[kind]++
	if m.before != nil {
		return m.before(kind, name)
	}
	return nil
}

func (m *memory) end(kind, name string) error {
	if m.after != nil {
		return m.after(kind, name)
	}
	return nil
}

func tagOf(data []byte) string { return fmt.Sprintf("%x", hash(data)[:8]) }

func (m *memory) read(name string) ([]byte, bool) {
	data, ok := m.objects[name]
	if ok && m.show != nil {
		data, ok = m.show(name, data)
	}
	return data, ok
}

func (m *memory) Get(ctx context.Context, name string, n int64) ([]byte, string, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := m.begin("get", name); err != nil {
		return nil, "", err
	}
	data, ok := m.read(name)
	if !ok {
		return nil, "", fmt.Errorf("get %s: %w", name, ErrAbsent)
	}
	tag := tagOf(data)
	if n >= 0 {
		data = data[:min(n, int64(len(data)))]
	}
	return slices.Clone(data), tag, m.end("get", name)
}

func (m *memory) Put(ctx context.Context, name string, data []byte, create bool) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := m.begin("put", name); err != nil {
		return err
	}
	if _, ok := m.objects[name]; ok && create {
		return fmt.Errorf("put %s: %w", name, ErrConflict)
	}
	m.objects[name], m.modified[name] = slices.Clone(data), time.Now()
	return m.end("put", name)
}

func (m *memory) List(ctx context.Context, prefix, after string) iter.Seq2[Object, error] {
	return func(yield func(Object, error) bool) {
		m.mu.Lock()
		err := m.begin("list", prefix)
		var all []Object
		for _, name := range slices.Sorted(maps.Keys(m.objects)) {
			if data, ok := m.read(name); ok && strings.HasPrefix(name, prefix) && name > prefix+after {
				all = append(all, Object{name, int64(len(data)), m.modified[name], tagOf(data)})
			}
		}
		m.requests["list"] += max(len(all)-1, 0) / 1000
		m.mu.Unlock()
		if err != nil {
			yield(Object{}, err)
			return
		}
		for _, o := range all {
			if !yield(o, nil) {
				return
			}
		}
	}
}

func (m *memory) Delete(ctx context.Context, name string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := m.begin("delete", name); err != nil {
		return err
	}
	delete(m.objects, name)
	return m.end("delete", name)
}

// named returns the names of the objects that contain a text.
func (m *memory) named(text string) (names []string) {
	for _, name := range slices.Sorted(maps.Keys(m.objects)) {
		if strings.Contains(name, text) {
			names = append(names, name)
		}
	}
	return names
}
