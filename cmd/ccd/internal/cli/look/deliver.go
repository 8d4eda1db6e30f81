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
		case info.IsDir():
			return fmt.Errorf("write %s: it is a directory", file)
		case !info.Mode().IsRegular(): // which nothing may replace
			return writeInto(file, info, write)
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
	if err := buffered(p, write); err != nil {
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

// writeInto writes to a device. A terminal shows what stdout has, and a pipe waits for who reads it: neither is one of these.
func writeInto(file string, info os.FileInfo, write func(io.Writer) error) error {
	if info.Mode()&os.ModeDevice == 0 {
		return words.Hint(fmt.Errorf("write %s: it is no regular file", file), "leave out -o, and send stdout there")
	}
	f, err := os.OpenFile(file, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	if cli.IsTTY(f) {
		return errors.Join(words.Hint(fmt.Errorf("write %s: it is a terminal", file), "leave out -o"), f.Close())
	}
	return errors.Join(buffered(f, write), f.Close())
}

func buffered(w io.Writer, write func(io.Writer) error) error {
	b := bufio.NewWriterSize(w, 256<<10)
	return errors.Join(write(b), b.Flush())
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
