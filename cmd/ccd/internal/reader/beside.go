package reader

import (
	"os"
	"sync"
	"time"

	"ccd/internal/ownfile"
	"ccd/internal/transcript"
)

// maxBeside is how much of a file beside transcripts is read, in bytes.
const maxBeside = 8 << 20

// besides are the files beside transcripts that were read. One that has not changed since is not read again.
type besides struct {
	mu    sync.Mutex
	files map[string]beside
}

type beside struct {
	size    int64
	changed time.Time
	facts   map[string]transcript.Facts
}

// addFacts adds to the sessions what files beside their transcripts say and their records do not. What cannot be read is left out.
func (l *Library) addFacts() {
	if l.Machine != "" {
		return
	}
	if l.beside == nil {
		l.beside = &besides{}
	}
	fresh := map[string]map[string]transcript.Facts{}
	for i := range l.Sessions {
		e := &l.Sessions[i]
		if e.Path == "" || !e.Conversation() {
			continue
		}
		row, _ := l.Agents.Lookup(e.Agent)
		for _, index := range row.Beside {
			path, name := index.Of(e.Session.Session, e.Kept.Team)
			if path == "" {
				continue
			}
			facts, known := fresh[path]
			if !known {
				facts = l.beside.read(path, index.Read)
				fresh[path] = facts
			}
			e.know(facts[name])
		}
	}
}

// know takes what the records of a session do not tell.
func (e *Entry) know(f transcript.Facts) {
	if e.Kept.Title == "" {
		e.Kept.Title = f.Title
	}
	if e.Kept.Cwd == "" {
		e.Kept.Cwd, e.Kept.Start = f.Cwd, f.Cwd
	}
	if e.Parent == "" && f.Parent != e.ID {
		e.setParent(f.Parent)
	}
}

// read returns what a file says, nil if it cannot be read.
func (b *besides) read(path string, parse func([]byte) map[string]transcript.Facts) map[string]transcript.Facts {
	info, err := os.Stat(path)
	if err != nil {
		return nil
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	one, ok := b.files[path]
	if ok && one.size == info.Size() && one.changed.Equal(info.ModTime()) {
		return one.facts
	}
	text, err := ownfile.Read(path, maxBeside)
	if err != nil {
		return nil
	}
	if b.files == nil {
		b.files = map[string]beside{}
	}
	facts := parse(text)
	b.files[path] = beside{info.Size(), info.ModTime(), facts}
	return facts
}
