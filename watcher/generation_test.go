package watcher

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"ccd/internal/testkit"
	"ccd/internal/transcript"
)

var sameHead = strings.Repeat(`{"same":"head"}`+"\n", 400) // more than a fingerprint covers

// lives are the ways in which a file can go on, or turn into another one.
var lives = []struct {
	name   string
	first  string
	change func(t *testing.T, path string)
	want   map[int]string
}{
	{
		"append", "a\n", func(t *testing.T, path string) { testkit.Append(t, path, "b\n") },
		map[int]string{1: "a\nb\n"},
	},
	{
		"touched", "a\n", func(t *testing.T, path string) { testkit.Append(t, path, "") },
		map[int]string{1: "a\n"},
	},
	{
		"truncated and rewritten shorter", "aaa\nbbb\n", func(t *testing.T, path string) { testkit.Put(t, path, "ccc\n") },
		map[int]string{1: "aaa\nbbb\n", 2: "ccc\n"},
	},
	{
		"truncated and regrown past the offset", "aaa\n", func(t *testing.T, path string) { testkit.Put(t, path, "ccc\nddd\neee\n") },
		map[int]string{1: "aaa\n", 2: "ccc\nddd\neee\n"},
	},
	{
		"regrown past the offset with the same head", sameHead + "old\n", func(t *testing.T, path string) { testkit.Put(t, path, sameHead+"new\nmore\n") },
		map[int]string{1: sameHead + "old\n", 2: sameHead + "new\nmore\n"},
	},
	{
		"same length, other head", "aaa\n" + sameHead, func(t *testing.T, path string) { testkit.Put(t, path, "bbb\n"+sameHead) },
		map[int]string{1: "aaa\n" + sameHead, 2: "bbb\n" + sameHead},
	},
	{
		"a line inserted long before the cursor", numbered(0, 1000), func(t *testing.T, path string) {
			testkit.Put(t, path, numbered(0, 10)+"{}\n"+numbered(10, 1100))
		},
		map[int]string{1: numbered(0, 1000), 2: numbered(0, 10) + "{}\n" + numbered(10, 1100)},
	},
	{
		"a line removed long before the cursor", numbered(0, 1000), func(t *testing.T, path string) {
			testkit.Put(t, path, numbered(0, 10)+numbered(11, 1100))
		},
		map[int]string{1: numbered(0, 1000), 2: numbered(0, 10) + numbered(11, 1100)},
	},
	{
		"replaced by rename", "aaa\n", func(t *testing.T, path string) {
			testkit.Put(t, path+".new", "other\nfile\n")
			must(t, os.Rename(path+".new", path))
		},
		map[int]string{1: "aaa\n", 2: "other\nfile\n"},
	},
	{
		"replaced by a copy that goes on", "aaa\n", func(t *testing.T, path string) { // copied, synced back: the same life
			testkit.Put(t, path+".new", "aaa\nbbb\n")
			must(t, os.Rename(path+".new", path))
		},
		map[int]string{1: "aaa\nbbb\n"},
	},
	{
		"deleted and made anew", "aaa\n", func(t *testing.T, path string) { // the inode is likely to be used again
			must(t, os.Remove(path))
			testkit.Put(t, path, "bbb\nccc\n")
		},
		map[int]string{1: "aaa\n", 2: "bbb\nccc\n"},
	},
	{
		"emptied, then the same again", "aaa\n", func(t *testing.T, path string) { testkit.Put(t, path, ""); testkit.Put(t, path, "aaa\nbbb\n") },
		map[int]string{1: "aaa\nbbb\n"},
	},
}

func TestTailGenerations(t *testing.T) {
	for _, c := range lives {
		t.Run(c.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "a.jsonl")
			testkit.Put(t, path, c.first)
			f := follow(t, path)
			f.tail(TailOptions{})
			c.change(t, path)
			f.tail(TailOptions{})
			if len(f.gens) != len(c.want) {
				t.Fatalf("%d generations, want %d", len(f.gens), len(c.want))
			}
			for n, text := range c.want {
				f.want(n, []byte(text))
			}
		})
	}
}

// Control: without the fingerprint before the cursor, a file that was truncated and regrew would be read on in the
// middle. It is what finds it.
func TestTailBackFingerprintIsNeeded(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.jsonl")
	head := strings.Repeat("h", backBytes) + "\n"
	testkit.Put(t, path, head+"old\n")
	f := follow(t, path)
	f.tail(TailOptions{})
	f.at.Back = transcript.Fingerprint{}
	testkit.Put(t, path, head+"NEW\nnext\n")
	if got := f.tail(TailOptions{}); strings.Join(got, "") != "next\n" {
		t.Fatalf("got %q: the control did not go wrong, so the test above proves nothing", got)
	}
}

// numbered returns lines that all differ.
func numbered(from, to int) string {
	var b strings.Builder
	for i := from; i < to; i++ {
		fmt.Fprintf(&b, `{"n":%d,"text":"the same words in each line"}`+"\n", i)
	}
	return b.String()
}
