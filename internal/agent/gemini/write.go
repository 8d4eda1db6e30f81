package gemini

import (
	"cmp"
	"crypto/sha256"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"ccd/internal/agent/parts"
	"ccd/internal/transcript"
)

// write returns the lines of a draft in the form of 0.61: a header, then one line per message. Results are in the reply
// with their calls. Usage is left out. lastUpdated is the time of the copy, because the client deletes old sessions.
// The copy starts a second before its source because --resume latest picks the session that started last.
func write(d transcript.Draft) [][]byte {
	stamps := transcript.Stamps{Last: d.Start.Add(-time.Second)}
	start := stamps.Next(time.Time{})
	var lines [][]byte
	for i := range d.Messages {
		m := &d.Messages[i]
		var said, calls []string
		for j := range m.Blocks {
			switch b := &m.Blocks[j]; b.Kind {
			case transcript.Result: // it is written with its call
			case transcript.Call:
				calls = append(calls, called(b, answer(&d, i+1, b.Call)))
			default:
				said = append(said, parts.Part(b))
			}
		}
		if len(said) == 0 && len(calls) == 0 {
			continue
		}
		kind, used := "user", ""
		if m.Assistant {
			kind = "gemini"
			if len(calls) > 0 {
				used = `,"toolCalls":[` + strings.Join(calls, ",") + `]`
			}
			if m.Model != "" {
				used += `,"model":` + transcript.QuoteText(m.Model)
			}
		}
		lines = append(lines, []byte(`{"id":"`+d.DerivedUUID(len(lines)+1)+`","timestamp":"`+stamps.Next(m.Time)+`","type":"`+kind+
			`","content":[`+strings.Join(said, ",")+`]`+used+`}`))
	}
	header := fmt.Sprintf(`{"sessionId":%s,"projectHash":"%x","startTime":"%s","lastUpdated":"%s","kind":"main","directories":[%s],"summary":%s,%s}`,
		transcript.QuoteText(d.ID), sha256.Sum256([]byte(d.Cwd)), start, stamps.Next(d.Made), transcript.QuoteText(d.Cwd), transcript.QuoteText(transcript.TitlePrefix+d.Title), d.Resumed.JSON(len(lines)+1))
	return append([][]byte{[]byte(header)}, lines...)
}

// answer returns the result of a call from the message after it.
func answer(d *transcript.Draft, i int, call string) *transcript.Block {
	if i == len(d.Messages) {
		return nil
	}
	for j := range d.Messages[i].Blocks {
		if b := &d.Messages[i].Blocks[j]; b.Kind == transcript.Result && b.Call == call {
			return b
		}
	}
	return nil
}

func called(b, result *transcript.Block) string {
	status, answered := "success", ""
	if result != nil {
		if result.Failed {
			status = "error"
		}
		answered = `,"result":[` + parts.Part(result) + `]`
	}
	return `{"id":` + transcript.QuoteText(b.Call) + `,"name":` + transcript.QuoteText(b.Tool) + `,"args":` + string(b.Raw) + answered + `,"status":"` + status + `"}`
}

var notInName = regexp.MustCompile(`[^a-z0-9]+`)

// place returns the path of a draft below the root, with slashes. The client names the directory of a project after the
// last element of its path, adds a number if another project has that name, and writes the owner to .project_root.
func place(d *transcript.Draft, root string) string {
	name := fmt.Sprintf("session-%s-%.8s.jsonl", d.Start.UTC().Format("2006-01-02T15-04"), d.ID)
	owner := func(dir string) string {
		text, err := os.ReadFile(filepath.Join(root, dir, ".project_root"))
		if err != nil {
			return ""
		}
		return strings.TrimSpace(string(text))
	}
	dirs, _ := os.ReadDir(root) // an unreadable root has no session
	for _, dir := range dirs {
		if owner(dir.Name()) == d.Cwd {
			return path.Join(dir.Name(), "chats", name)
		}
	}
	slug := strings.Trim(notInName.ReplaceAllString(strings.ToLower(path.Base(filepath.ToSlash(d.Cwd))), "-"), "-")
	slug = cmp.Or(slug, "project")
	dir := slug
	for n := 1; owner(dir) != ""; n++ {
		dir = fmt.Sprintf("%s-%d", slug, n)
	}
	return path.Join(dir, "chats", name)
}
