package transcript

import (
	"slices"
	"strings"
)

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
