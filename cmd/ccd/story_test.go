package main

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"

	"ccd/internal/mark"
)

// commands are the additional commands of scripts.
var commands = map[string]func(ts *testscript.TestScript, neg bool, args []string){
	"ccd":     cmdCCD,
	"code":    cmdCode,
	"story":   cmdStory,
	"pick":    cmdPick,
	"flip":    cmdFlip,
	"idof":    cmdIDOf,
	"twins":   cmdTwins,
	"turns":   cmdTurns,
	"lost":    cmdLost,
	"unlike":  cmdUnlike,
	"spoil":   cmdSpoil,
	"schema":  cmdSchema,
	"older":   cmdOlder,
	"workday": cmdWorkday,
	"rpc":     cmdRPC,

	"snapshot": cmdSnapshot,
	"tree":     cmdTree,
	"talks":    cmdTalks,
	"asks":     cmdAsks,
	"event":    cmdEvent,
	"demoted":  cmdDemoted,
	"fill":     cmdFill,
}

// cmdFill makes a small transcript long enough to compact: it replaces each FILL by a long text.
func cmdFill(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: fill FILE")
	}
	was := ts.ReadFile(args[0])
	long := strings.ReplaceAll(was, "FILL", strings.Repeat("another bushel of grain\\n", 1000))
	if was == long {
		ts.Fatalf("no FILL in %s", args[0])
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), []byte(long), 0o600))
}

// cmdStory appends the demo's session to a transcript: `story FILE [FROM TO]`, lines counted from 0.
func cmdStory(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 && len(args) != 3 {
		ts.Fatalf("usage: story FILE [FROM TO]")
	}
	lines := newStory().lines
	if len(args) == 3 {
		from, err := strconv.Atoi(args[1])
		ts.Check(err)
		to, err := strconv.Atoi(args[2])
		ts.Check(err)
		lines = lines[from:to]
	}
	path := ts.MkAbs(args[0])
	ts.Check(os.MkdirAll(filepath.Dir(path), 0o700))
	f, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	ts.Check(err)
	_, err = f.Write(bytes.Join(lines, nil))
	ts.Check(errors.Join(err, f.Close()))
}

// cmdPick sets $ID to an ID of a companion that names an output of the story, and writes that output to a file: `pick
// COMPANION OUT`.
func cmdPick(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: pick COMPANION OUT")
	}
	known := map[mark.ID]string{}
	for _, out := range newStory().outputs {
		known[mark.Sum(quoted(out)).ID()] = out
	}
	text := ts.ReadFile(args[0])
	for _, id := range mark.IDs(text) {
		if out, ok := known[id]; ok && !strings.Contains(text, "[ccd "+string(id)+" content unavailable: ") {
			ts.Setenv("ID", string(id))
			ts.Setenv("PREFIX", string(id[:6]))
			ts.Check(os.WriteFile(ts.MkAbs(args[1]), []byte(out), 0o600))
			return
		}
	}
	ts.Fatalf("%s points at no output of the story", args[0])
}

// cmdFlip flips one bit in every 4096 bytes of a file, except in its first eighth: `flip FILE`.
func cmdFlip(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: flip FILE")
	}
	path := ts.MkAbs(args[0])
	data, err := os.ReadFile(path)
	ts.Check(err)
	for at := len(data) / 8; at < len(data); at += 4096 {
		data[at] ^= 0x10
	}
	ts.Check(os.WriteFile(path, data, 0o600))
}

// cmdSnapshot lists the files below some directories with size and modification time: `snapshot OUT DIR...`.
func cmdSnapshot(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: snapshot OUT DIR...")
	}
	var b bytes.Buffer
	for _, dir := range args[1:] {
		ts.Check(filepath.WalkDir(ts.MkAbs(dir), func(path string, d fs.DirEntry, err error) error {
			if err != nil {
				return err
			}
			info, err := d.Info()
			if err != nil {
				return err
			}
			fmt.Fprintln(&b, path, info.Size(), info.Mode(), info.ModTime().UnixNano())
			return nil
		}))
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), b.Bytes(), 0o600))
}

// cmdIDOf sets a variable to the ID of a file's bytes: `idof VAR FILE`.
func cmdIDOf(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: idof VAR FILE")
	}
	ts.Setenv(args[0], string(mark.Sum([]byte(ts.ReadFile(args[1]))).ID()))
}

// cmdTwins writes a session with two requests whose IDs start alike, and sets $PREFIX to that start: `twins FILE`.
func cmdTwins(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: twins FILE")
	}
	seen := map[string]string{}
	for i := 0; ; i++ {
		wish := fmt.Sprintf("wish %d", i)
		prefix := string(mark.Sum(quoted(wish)).ID()[:mark.MinPrefix])
		if other, ok := seen[prefix]; ok {
			s := &story{}
			s.user(other)
			s.user(wish)
			ts.Setenv("PREFIX", prefix)
			path := ts.MkAbs(args[0])
			ts.Check(os.MkdirAll(filepath.Dir(path), 0o700))
			ts.Check(os.WriteFile(path, bytes.Join(s.lines, nil), 0o600))
			return
		}
		seen[prefix] = wish
	}
}

// cmdWorkday writes a long invented session: `workday FILE [KIND]`. For KIND see rich.
func cmdWorkday(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 1 || len(args) > 2 {
		ts.Fatalf("usage: workday FILE [KIND]")
	}
	path := ts.MkAbs(args[0])
	ts.Check(os.MkdirAll(filepath.Dir(path), 0o700))
	ts.Check(os.WriteFile(path, rich(append(args, "")[1]), 0o600))
}
