package transcript

import "strings"

// Copy is what a client keeps of a file beside a result, for its own screen: Claude Code's toolUseResult. The model
// never saw it; it is whole also where the result is cut. Line ends are newlines, whatever the file has.
type Copy struct {
	Path    string
	Before  Content // before a change; nothing is known where the file was new
	Seen    Content // what a read found
	Amended bool    // the human changed what the call was to write
}

// CopyOf returns what a record keeps of the one file that its one result is about; ok is false where it keeps nothing.
func CopyOf(r *Record) (c Copy, ok bool) {
	results := 0
	for i := range r.Items {
		if r.Items[i].Kind == Result {
			results++
		}
	}
	if results != 1 || !valid(r.Raw) {
		return c, false
	}
	told := node{raw: r.Raw}.field("toolUseResult")
	if file := told.field("file"); file.is('{') && told.field("type").text() == "text" {
		c.Path, c.Seen = file.field("filePath").text(), seenCopy(file)
		return c, c.Path != ""
	}
	c.Path = told.field("filePath").text()
	for _, name := range []string{"originalFile", "originalFileContents"} {
		if before := told.field(name); before.is('"') {
			c.Before = Whole(before.text())
		}
	}
	c.Amended = told.field("userModified").isTrue()
	return c, c.Path != ""
}

// seenCopy is the content that a read found, if its numbers agree with it.
func seenCopy(file node) Content {
	text := file.field("content")
	first, count, total := int(file.field("startLine").integer()), int(file.field("numLines").integer()), int(file.field("totalLines").integer())
	if !text.is('"') || first < 1 {
		return Content{}
	}
	s := text.text()
	if strings.Count(s, "\n")+1 != count || first+count-1 > total {
		return Content{}
	}
	return Some(first, s, first+count-1 < total)
}
