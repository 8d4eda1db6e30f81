package transcript

import "strings"

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
