package main

import (
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"ccd/cmd/ccd/internal/status"
	"ccd/internal/testkit"
	"ccd/internal/words"
)

// Invented files that are no transcripts. Output must never contain their last keys and values.
var foreignFiles = map[string]struct {
	content string
	seen    string // in the message
}{
	"another program's lines":      {`{"role":"user","message":"sekret"}` + "\n" + `{"role":"assistant","message":"sekret"}` + "\n", "unknown transcript format in 2 lines"},
	"Cursor, a list":               {`[{"role":"user","message":{"content":[{"type":"text","text":"sekret"}]}}]`, "unknown transcript format in 1 line"},
	"an export with session IDs":   {`{"sessionId":"sekret","type":"user","text":"sekret"}` + "\n" + `{"sessionId":"sekret","type":"assistant","text":"sekret"}` + "\n", "unknown transcript format in 2 lines"},
	"bookkeeping beside strangers": {`{"sessionId":"s","type":"system","subtype":"x"}` + "\n" + `{"sessionId":"s","type":"user","message":{"pieces":[{"text":"sekret"}]}}` + "\n", "unknown transcript format in 2 lines"},
	"a block of another shape":     {`[{"role":"user","content":[{"type":"text","txt":"sekret"}]}]`, "unknown transcript format in 1 line"},
	"a content of another shape":   {`[{"role":"user","content":{"text":"sekret"}}]`, "unknown transcript format in 1 line"},
	"Claude Code, another content": {`{"type":"user","message":{"role":"user","content":{"text":"sekret"}}}` + "\n", "unknown transcript format in 1 line"},
	"CSV":                          {"name,tokens\nsekret,7\n", "unknown transcript format in 2 lines"},
	"binary":                       {"\x7fELF\x02\x01\x01\x00sekret\n\x00\xff\xfe\n", "unknown transcript format in 2 lines"},
	"HTML":                         {"<!doctype html>\n<p>sekret</p>\n", "unknown transcript format in "},
	"an empty list":                {"[]\n", "it has no records"},
	"an empty file":                {"", "it has no records"},
	"blank lines":                  {"\n \n", "unknown transcript format in "},
	"a list of numbers":            {"[1, 2, 3]", "unknown transcript format in 3 lines"},
	"lines of other objects":       {`{"level":"info","msg":"sekret"}` + "\n" + `{"level":"warn","msg":"sekret"}` + "\n", "unknown transcript format in 2 lines"},
	"a string":                     {`"sekret"`, "unknown transcript format in 1 line"},
	"PDF":                          {"%PDF-1.7\n%\xe2\xe3\xcf\xd3\n1 0 obj <</Title (sekret)>>\n", "unknown transcript format in "},
	"UTF-16":                       {"\xff\xfe{\x00\"\x00r\x00o\x00l\x00e\x00\"\x00:\x00\"\x00u\x00\"\x00}\x00\n\x00", "unknown transcript format in "},
	"an indented object":           {"{\n  \"sessionId\": \"sekret\",\n  \"messages\": []\n}\n", "unknown transcript format in "},
}

// lists are those that the filter prints unchanged.
var lists = []string{"an empty list", "a block of another shape", "a content of another shape"}

func TestUnknownInputIsRefused(t *testing.T) {
	for _, name := range testkit.Sample(t, slices.Sorted(maps.Keys(foreignFiles)), 6) {
		c := foreignFiles[name]
		t.Run(name, func(t *testing.T) {
			home := t.TempDir()
			file := filepath.Join(home, "input.jsonl")
			put(t, file, c.content)
			for _, args := range []string{"compact FILE", "compact --no-archive FILE", "compact --dry-run FILE", "compact -", "compact --no-archive --format messages -"} {
				code, out, said := ccdIn(home, c.content, strings.Fields(strings.ReplaceAll(args, "FILE", file))...)
				if strings.Contains(args, "messages") && slices.Contains(lists, name) { // the filter accepts these as lists
					if code != words.ExitDone || out != c.content {
						t.Errorf("%s: exit %d, stdout %q, stderr %q", args, code, out, said)
					}
					continue
				}
				if code != words.ExitFailed || out != "" || !strings.Contains(said, c.seen) || strings.Contains(said, "sekret") {
					t.Errorf("%s: exit %d, stdout %q, stderr %q", args, code, out, said)
				}
			}
			if left, _ := filepath.Glob(filepath.Join(home, "*.ccd.md")); len(left) > 0 {
				t.Errorf("left %v", left)
			}
			if code, out, _ := ccdIn(home, "", "ls", "--all", "--json"); code != words.ExitDone || strings.TrimSpace(out) != "[]" {
				t.Errorf("ls: exit %d, %s", code, out)
			}
		})
	}
}

// TestForeignFileBelowARoot: an unknown file is archived but gets no companion.
func TestForeignFileBelowARoot(t *testing.T) {
	home := t.TempDir()
	dir := filepath.Join(home, ".claude", "projects", "-src-mill")
	sessions := map[string]string{
		"11111111-2222-4333-8444-555555555555": strings.Repeat(`{"type":"later_kind","sessionId":"s","message":{"role":"user","content":[{"type":"text","text":"`+strings.Repeat("sack ", 2000)+`"}]}}`+"\n", 40),
		"22222222-2222-4333-8444-555555555555": claudeSession(150000), // the control
	}
	for id, content := range sessions {
		put(t, filepath.Join(dir, id+".jsonl"), content)
	}
	once(t, home)
	for id, content := range sessions {
		foreign := id[0] == '1'
		if code, out, said := ccdIn(home, "", "restore", "--session", id); code != words.ExitDone || out != content {
			t.Errorf("restore %s: exit %d, %d bytes of %d, %s", id, code, len(out), len(content), said)
		}
		code, _, said := ccdIn(home, "", "compact", id)
		if foreign != (code == words.ExitFailed && strings.Contains(said, "unknown format: none of 40 records")) {
			t.Errorf("compact %s: exit %d, %s", id, code, said)
		}
		if _, err := os.Stat(filepath.Join(dir, id+".ccd.md")); foreign != os.IsNotExist(err) {
			t.Errorf("companion of %s: %v", id, err)
		}
	}
	code, out, _ := ccdIn(home, "", "ls")
	if code != words.ExitDone || strings.Count(out, "not parsed") != 1 {
		t.Errorf("ls: %s", out)
	}
	var report status.Report
	_, out, _ = ccdIn(home, "", "status", "--json")
	if err := json.Unmarshal([]byte(out), &report); err != nil || report.Foreign != 1 || report.Companions != 1 {
		t.Errorf("status: %d not understood, %d companions, %v", report.Foreign, report.Companions, err)
	}
}
