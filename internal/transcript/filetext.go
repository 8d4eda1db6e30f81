package transcript

import (
	"iter"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// numberedLines yields the lines at the beginning of a result that have consecutive numbers.
func numberedLines(result string) iter.Seq2[int, string] {
	return func(yield func(int, string) bool) {
		next := 0
		for line := range strings.Lines(result) {
			n, text, ok := numberedLine(strings.TrimSuffix(line, "\n"))
			if !ok || next > 0 && n != next || isDemotion(text) || !yield(n, text) {
				return
			}
			next = n + 1
		}
	}
}

// numberedLine splits "  12→text" or "12\ttext".
func numberedLine(line string) (n int, text string, ok bool) {
	digits := strings.TrimLeft(line, " ")
	end := 0
	for end < len(digits) && end < 10 && digits[end] >= '0' && digits[end] <= '9' {
		end++
	}
	if end == 0 {
		return 0, "", false
	}
	n, err := strconv.Atoi(digits[:end])
	if err != nil {
		return 0, "", false
	}
	if text, ok = strings.CutPrefix(digits[end:], "→"); ok {
		return n, text, true
	}
	text, ok = strings.CutPrefix(digits[end:], "\t")
	return n, text, ok
}

// Limits of Claude Code's reading tool: lines without an explicit limit, and chars of a line.
const (
	readLines = 2000
	readLine  = 2000
)

// Reading returns what the result of a call shows of the one file that it reads, or the zero Content if that is
// uncertain. Line ends are newlines, because the result does not show others.
func (c *Client) Reading(tool string, a *Action, o *Outcome) Content {
	switch {
	case o.Failed || o.Rejected || o.Images > 0 || o.Spilled != "" || len(a.Files) != 1 || a.Files[0].Op != Read:
		return Content{}
	case a.Op == Read && c.Bare != nil:
		if o.Text == "" || strings.ContainsRune(o.Text, utf8.RuneError) { // nothing recorded, or not text
			return Content{}
		}
		return c.Bare(a, o.Text)
	case a.Op == Read:
		return numbered(o.Text, a.Lines[1])
	case a.Op == Command && o.HasExit && o.Exit == 0 && !strings.EqualFold(tool, "bash"): // Bash's output is trimmed
		return printed(a.Command, o.Text)
	}
	return Content{}
}

// numbered reads the first lines of a result with line numbers. It reaches the end of the file if nothing follows and there
// are fewer lines than requested.
func numbered(result string, limit int) Content {
	if limit <= 0 {
		limit = readLines
	}
	first, count, cut, rest := 0, 0, false, result
	var lines []string
	for n, text := range numberedLines(result) {
		if count == 0 {
			first = n
		}
		if cut = cut || len(text) >= readLine; !cut { // perhaps truncated
			lines = append(lines, text)
		}
		count++
		_, rest, _ = strings.Cut(rest, "\n")
	}
	if len(lines) == 0 {
		return Content{}
	}
	rest = strings.TrimSpace(rest)
	return Some(first, strings.Join(lines, "\n"), cut || count >= limit || rest != "" && !strings.HasPrefix(rest, "<system-reminder>"))
}

// printed reads the output of one plain command that prints a file: cat, nl, head or sed -n.
func printed(cmd, text string) Content {
	list, ok := parseShell(cmd)
	lower := strings.ToLower(text)
	if !ok || len(list) != 1 || strings.Contains(lower, "truncated") || strings.Contains(lower, "omitted") {
		return Content{}
	}
	name, args := list[0].name()
	from, lines := 1, 1<<30
	switch {
	case name == "cat" && len(args) == 1:
	case name == "nl", name == "cat" && len(args) == 2 && args[0].text == "-n":
		c := numbered(text, lines)
		c.end = false // unknown whether the last line has a newline
		return c
	case name == "head":
		if _, lines = linesArgs(args); lines < 1 {
			return Content{}
		}
	case name == "sed":
		a, b, _, ok := printArgs(args)
		if !ok {
			return Content{}
		}
		from, lines = a, b-a+1
	default:
		return Content{}
	}
	body, ended := strings.CutSuffix(text, "\n")
	switch {
	case text == "":
		return Content{}
	case ended && strings.Count(text, "\n") < lines:
		return Some(from, text, false)
	}
	return Some(from, body, true)
}

// Content is what is known of a file's text: nothing (the zero Content), some lines, or all. Parts are not put together: in real
// sessions that never gave a whole file. Content is a value: no method changes it.
type Content struct {
	text  string
	first int  // number of the first known line, from 1
	end   bool // the text reaches the end of the file
}

// Whole returns the content of a file whose text is known.
func Whole(text string) Content { return Content{text, 1, true} }

// Some returns the content of a file whose lines from number first are known. more is false if the text reaches the end
// of the file.
func Some(first int, text string, more bool) Content {
	if first < 1 {
		return Content{}
	}
	return Content{text, first, !more}
}

// Text returns the whole text; ok is false if not all of it is known.
func (c Content) Text() (text string, ok bool) {
	if c.first != 1 || !c.end {
		return "", false
	}
	return c.text, true
}

// Known reports whether anything is known.
func (c Content) Known() bool { return c.first > 0 }

// Seen returns the content after reading the file again: what was read, unless it is a part of the whole that was known.
func (c Content) Seen(read Content) Content {
	if !read.Known() {
		return c
	}
	whole, ok := c.Text()
	lines, part := strings.Split(whole, "\n"), strings.Split(read.text, "\n")
	from := read.first - 1
	to := from + len(part)
	if ok && to <= len(lines) && (!read.end || to == len(lines)) && slices.Equal(lines[from:to], part) {
		return c
	}
	return read
}

// replaced replaces old by new, as editing tools do: old must occur once, or all occurrences are meant. Some clients also remove
// the newline behind it if nothing replaces it. It returns the zero Content if that is not known to succeed.
func (c Content) replaced(old, new string, all, swallow bool) Content {
	text, ok := c.Text()
	if n := strings.Count(text, old); !ok || old == "" || n == 0 || n > 1 && !all {
		return Content{}
	}
	if swallow && new == "" && !strings.HasSuffix(old, "\n") && strings.Contains(text, old+"\n") {
		old += "\n"
	}
	if all {
		return Whole(strings.ReplaceAll(text, old, new))
	}
	return Whole(strings.Replace(text, old, new, 1))
}

// Copy is the client's own copy of a file, stored with a result for display: Claude Code's toolUseResult. The model
// never saw it, and it is whole even if the result is truncated. Line ends are newlines, whatever the file has.
type Copy struct {
	Path    string
	Before  Content // before a change; unknown if the file was new
	Seen    Content // result of a read
	Amended bool    // the human changed what the call was to write
}

// CopyOf returns the copy that a record with one result has of one file; ok is false if there is none.
func CopyOf(r *Record) (c Copy, ok bool) {
	results := 0
	for i := range r.Items {
		if r.Items[i].Kind == Result {
			results++
		}
	}
	if results != 1 || !Valid(r.Raw) {
		return c, false
	}
	told := Node{Raw: r.Raw}.Field("toolUseResult")
	if file := told.Field("file"); file.Is('{') && told.Field("type").Text() == "text" {
		c.Path, c.Seen = file.Field("filePath").Text(), seenCopy(file)
		return c, c.Path != ""
	}
	c.Path = told.Field("filePath").Text()
	for _, name := range []string{"originalFile", "originalFileContents"} {
		if before := told.Field(name); before.Is('"') {
			c.Before = Whole(before.Text())
		}
	}
	c.Amended = told.Field("userModified").IsTrue()
	return c, c.Path != ""
}

// seenCopy returns the content that a read found, if its line numbers are consistent.
func seenCopy(file Node) Content {
	text := file.Field("content")
	first, count, total := int(file.Field("startLine").Integer()), int(file.Field("numLines").Integer()), int(file.Field("totalLines").Integer())
	if !text.Is('"') || first < 1 {
		return Content{}
	}
	s := text.Text()
	if strings.Count(s, "\n")+1 != count || first+count-1 > total {
		return Content{}
	}
	return Some(first, s, first+count-1 < total)
}
