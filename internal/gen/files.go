package gen

import (
	"slices"
	"strconv"
)

// file is a file of the invented project, its lines in escaped form.
type file struct {
	path    string // absolute
	dialect int
	lines   [][]byte
}

var fileLines = quantiles{{0, 12}, {250, 60}, {500, 150}, {750, 320}, {900, 600}, {980, 1100}, {1000, 2200}}

// workspace is the project that a session works on.
type workspace struct {
	files []*file
}

func newWorkspace(v *vocabulary, r *rng, cwd string, n int) *workspace {
	w := &workspace{}
	for range n {
		path := cwd + "/" + pick(r, v.paths) + "/" + v.words[40+r.n(2000)] + pick(r, []string{".go", ".go", "_test.go", ".ts", ".py", ".md"})
		f := &file{path: path, dialect: v.dialect(r)}
		f.lines = v.listing(r, f.dialect, fileLines.draw(r))
		w.files = append(w.files, f)
	}
	return w
}

// listing returns n lines of code; they share one block of memory.
func (v *vocabulary) listing(r *rng, dialect, n int) [][]byte {
	block, lines := make([]byte, 0, 48*n), make([][]byte, n)
	for i := range lines {
		from := len(block)
		block = v.code(block, r, dialect)
		lines[i] = block[from:len(block):len(block)]
	}
	return lines
}

// whole appends the file's content.
func (f *file) whole(b []byte) []byte {
	for _, l := range f.lines {
		b = append(append(b, l...), '\\', 'n')
	}
	return b
}

// part appends lines from to from+n.
func (f *file) part(b []byte, from, n int) []byte {
	for i, l := range f.lines[from : from+n] {
		if i > 0 {
			b = append(b, '\\', 'n')
		}
		b = append(b, l...)
	}
	return b
}

// numbered appends lines as the reading tool shows them.
func (f *file) numbered(b []byte, from, n int) []byte {
	for i, l := range f.lines[from : from+n] {
		num := strconv.Itoa(from + i + 1)
		b = append(b, "      "[min(len(num), 6):]...)
		b = append(append(append(b, num...), "→"...), l...)
		b = append(b, '\\', 'n')
	}
	return b
}

// change replaces n lines from from by new ones.
func (f *file) change(v *vocabulary, r *rng, from, n int) [][]byte {
	made := v.listing(r, f.dialect, max(1, n+r.between(-2, 5)))
	f.lines = slices.Concat(f.lines[:from], made, f.lines[from+n:])
	return made
}

func join(b []byte, lines [][]byte) []byte {
	return (&file{lines: lines}).part(b, 0, len(lines))
}
