package qwen

import (
	"cmp"
	"path"
	"regexp"
	"strings"
	"time"

	"ccd/internal/agent/parts"
	"ccd/internal/transcript"
)

// version is the client version in a copy of another agent's session: one that is known to read it.
const version = "0.24.4"

// write returns the lines of a draft: one record per message, each with the previous one as its parent, and each result
// in its own record. Usage is left out so that the client does not compact the copy at once.
func write(d transcript.Draft) [][]byte {
	var lines []string
	stamps := transcript.Stamps{Last: d.Start}
	parent := "null"
	record := func(at time.Time, kind, members string) {
		uuid := `"` + d.DerivedUUID(len(lines)+1) + `"`
		branch := ""
		if d.Branch != "" {
			branch = `,"gitBranch":` + transcript.QuoteText(d.Branch)
		}
		lines = append(lines, `"uuid":`+uuid+`,"parentUuid":`+parent+`,"sessionId":`+transcript.QuoteText(d.ID)+`,"timestamp":"`+stamps.Next(at)+`","type":"`+kind+
			`","cwd":`+transcript.QuoteText(d.Cwd)+`,"version":`+transcript.QuoteText(cmp.Or(d.Version, version))+branch+members+`}`)
		parent = uuid
	}
	for i := range d.Messages {
		m := &d.Messages[i]
		var said []string
		for j := range m.Blocks {
			b := &m.Blocks[j]
			switch part := parts.Part(b); b.Kind {
			case transcript.Summary:
				record(m.Time, "user", message("user", part))
			case transcript.Result:
				status := "success"
				if b.Failed {
					status = "error"
				}
				record(m.Time, "tool_result", message("user", part)+`,"toolCallResult":{"callId":`+transcript.QuoteText(b.Call)+`,"status":"`+status+`"}`)
			default:
				said = append(said, part)
			}
		}
		switch {
		case m.Assistant:
			model := ""
			if m.Model != "" {
				model = `,"model":` + transcript.QuoteText(m.Model)
			}
			record(m.Time, "assistant", model+message("model", said...))
		case len(said) > 0:
			record(m.Time, "user", `,"provenance":"real_user"`+message("user", said...))
		}
	}
	record(time.Time{}, "system", `,"subtype":"custom_title","systemPayload":{"customTitle":`+transcript.QuoteText(transcript.TitlePrefix+d.Title)+`,"titleSource":"manual"}`)
	all := make([][]byte, len(lines))
	for i, line := range lines {
		begin := "{"
		if i == 0 {
			begin += d.Resumed.JSON(len(lines)) + ","
		}
		all[i] = []byte(begin + line)
	}
	return all
}

func message(role string, said ...string) string {
	return `,"message":{"role":"` + role + `","parts":[` + strings.Join(said, ",") + `]}`
}

var notInName = regexp.MustCompile(`[^a-zA-Z0-9]`)

// project returns the name of the directory in which the client stores the sessions of a working directory.
func project(cwd string) string { return notInName.ReplaceAllString(cwd, "-") }

// place returns the path of a draft below the root, with slashes.
func place(d *transcript.Draft, _ string) string {
	return path.Join(project(d.Cwd), "chats", d.ID+".jsonl")
}
