package look

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"ccd/cmd/ccd/internal/cli"
	"ccd/cmd/ccd/internal/reader"
	"ccd/internal/atomicfile"
	"ccd/internal/words"
)

// deliver sends what write produces to stdout or to a file that appears completely or not at all. It escapes control
// characters only on a terminal, unless raw is set.
func (a *app) deliver(l *reader.Library, file string, force, raw bool, write func(io.Writer) error) error {
	if file == "" || file == "-" {
		end := &lastByte{}
		through := func(w io.Writer) error {
			end.w = w
			return write(end)
		}
		var err error
		if raw {
			err = through(a.Out)
		} else {
			err = a.Shown(through)
		}
		if err == nil && end.inLine() && cli.IsTTY(a.Out) {
			fmt.Fprintln(a.Err) // a newline on stderr for the prompt; stdout stays exact
		}
		return err
	}
	file = a.Path(file)
	refuse := words.Hint(fmt.Errorf("write %s: %w", file, fs.ErrExist), "use --force to overwrite it")
	mode := fs.FileMode(0o600)
	if info, err := os.Stat(file); err == nil {
		root, watched := l.WatchedRoot(file)
		switch {
		case !info.Mode().IsRegular(): // which nothing may replace
			return fmt.Errorf("write %s: it is no regular file", file)
		case watched:
			return words.Hint(fmt.Errorf("write %s: it is below the watched root %s, where ccd changes nothing", file, root), "choose a FILE elsewhere")
		}
		mode = info.Mode().Perm()
	}
	if _, err := os.Lstat(file); err == nil && !force {
		return refuse
	}
	p, err := atomicfile.Create(file, mode)
	if err != nil {
		return err
	}
	b := bufio.NewWriterSize(p, 256<<10)
	if err := errors.Join(write(b), b.Flush()); err != nil {
		p.Discard()
		return err
	}
	if force {
		return p.Commit()
	}
	if err := p.CommitNew(); errors.Is(err, fs.ErrExist) {
		return refuse
	} else if err != nil {
		return err
	}
	return nil
}

// lastByte remembers the last byte written through it.
type lastByte struct {
	w    io.Writer
	last byte
	any  bool
}

// Write implements io.Writer.
func (l *lastByte) Write(p []byte) (int, error) {
	if len(p) > 0 {
		l.last, l.any = p[len(p)-1], true
	}
	return l.w.Write(p)
}

// inLine reports whether what was written ends within a line.
func (l *lastByte) inLine() bool { return l.any && l.last != '\n' }

// heading writes a line above what comes, with an empty one after what came before.
func (l *lastByte) heading(text string) {
	if l.any {
		text = "\n" + text
	}
	fmt.Fprintln(l, text)
}

// endLine ends a line that is not ended.
func (l *lastByte) endLine() error {
	if !l.inLine() {
		return nil
	}
	if _, err := io.WriteString(l, "\n"); err != nil {
		return fmt.Errorf("write output: %w", err)
	}
	return nil
}
