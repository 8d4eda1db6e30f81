package main

import (
	"strings"
	"testing"
	"time"
)

// TestExportOfEmptyRecords: records without an entry are read once, not again for each of them.
func TestExportOfEmptyRecords(t *testing.T) {
	home := t.TempDir()
	env := []string{"HOME=" + home, "USERPROFILE=" + home}
	put(t, transcriptPath(home, 1), string(line("user", "please do it", 0))+strings.Repeat("{}\n", 8000)+string(line("user", "the last request", 1)))
	if _, code := inProcess(t, env, "run", "--once", "-q"); code != 0 {
		t.Fatalf("run: exit %d", code)
	}
	done := make(chan string, 1)
	go func() {
		out, _ := inProcess(t, env, "export", id(transcriptPath(home, 1)))
		done <- string(out)
	}()
	select { // a second of work; each record read for each other one takes minutes
	case out := <-done:
		if !strings.Contains(out, "the last request") {
			t.Error("the file lacks what follows the empty records")
		}
	case <-time.After(time.Minute):
		t.Fatal("no end")
	}
}

// TestDeepConfiguration: keys of many parts, and tables within each other, are an error at once.
func TestDeepConfiguration(t *testing.T) {
	home := t.TempDir()
	path := home + "/config.toml"
	env := []string{"HOME=" + home, "USERPROFILE=" + home, "CCD_CONFIG=" + path}
	for what, text := range map[string]string{
		"table": "[a" + strings.Repeat(".b", 30000) + "]\n", "key": "a" + strings.Repeat(".b", 30000) + " = 1\n", "quoted": "['a'" + strings.Repeat(".'b'", 12000) + "]\n",
		"inline": "a = " + strings.Repeat("{a = ", 8000), "lines": "a = [\n" + strings.Repeat("{a = [\n", 8000), "large": "#" + strings.Repeat("x", 100<<10) + "\n",
	} {
		put(t, path, text)
		done := make(chan int, 1)
		go func() {
			_, code := inProcess(t, env, "config")
			done <- code
		}()
		select {
		case code := <-done:
			if code == 0 {
				t.Errorf("%s: accepted", what)
			}
		case <-time.After(30 * time.Second):
			t.Fatalf("%s: no end", what)
		}
	}
}
