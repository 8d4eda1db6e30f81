package filter

import (
	"strings"
	"testing"
)

const restOfNote = " The rest of it is ordinary Text about the orchard, long enough that the rules look at it at all, and nobody will" +
	" ever need it word for word again."

func TestShapeOfText(t *testing.T) {
	for _, c := range []struct {
		name, text string
		hard       string
	}{
		{"prose", "We walked to the mill and back." + restOfNote, ""},
		{"one arrow", "Take the path from the mill -> the orchard." + restOfNote, ""},
		{"a price", "It costs $5 now and $7 later." + restOfNote, ""},
		{"boolean", "The switch is a boolean, returning to true at night." + restOfNote, ""},
		{"commit", "It came with 3f786850e387550fdab836ed7e6dc881de23001b today." + restOfNote, ""},
		{"sum", "Its sum is " + strings.Repeat("0a1b2c3d", 8) + "." + restOfNote, ""},
		{"path", "Look in /usr/local/lib/mill/Planner/island2/reports/Tonight for it." + restOfNote, ""},
		{"two keys", "name: mill planner\nowner: the office\n" + restOfNote, ""},
		{"report", "Status: done\nBranch: main\nTests: all of them\n" + restOfNote, ""},
		{"headings", "# Plan\n\nWe go on with the mill, as was said, and then with the orchard behind it.\n\n## Open\n\n- the roof\n- the door of the mill, which sticks\n" + restOfNote, ""},
		{"select a seat", "Please select a seat from the map and set it aside, then update the list." + restOfNote, ""},
		{"updates", "I will update the docs to set expectations, create a table of contents and delete from the list what is old." + restOfNote, ""},
		{"flow", "Then a -> b -> c." + restOfNote, ""},
		{"numbered", "1. open the gate\n2. lift the bar\n3. close the gate\n" + restOfNote, ""},
		{"status number", "We sold 404 apples and 500 pears." + restOfNote, ""},
		{"nested bullets", "- the mill\n    - its roof\n    - its door\n      which sticks in winter\n" + restOfNote, ""},
		{"shell names", "Set $HOME and $PATH before the call of the script." + restOfNote, ""},
		{"windows path", `Open C:\new\table{1} in the editor.` + restOfNote, ""},
		{"camel path", "See src/main/java/com/Example/OrderBookServiceFactoryImplementation2Test.java now." + restOfNote, ""},

		{"indented", "What I ran:\n\n    turn left\n    lift bar\n\nThen it was quiet." + restOfNote, "indented code"},
		{"one indented line", "Run this:\n\n    make all\n\nThen it was quiet." + restOfNote, "indented code"},
		{"two-space code", "function list(mill) {\n  const rows = mill.rows;\n  return rows;\n}\n" + restOfNote, "code"},
		{"python", "def total(rows):\n  seen = set()\n  for r in rows:\n    seen.add(r.key)\n  return len(seen)\n" + restOfNote, "code"},
		{"json", `{"mills": 4, "open": true, "names": ["a", "b"]}`, "json"},
		{"cut json", `{"mills": 4, open: tru` + restOfNote, "json"},
		{"array", `[{"mills": 4}, {"mills": 5}]`, "json"},
		{"brackets", "[mill] the door sticks." + restOfNote, ""},
		{"yaml", "name: mill\nport: 80\nhosts:\n  - a\n" + restOfNote, "yaml"},
		{"sql", "Then SELECT name FROM mills WHERE open = 1 told us." + restOfNote, "sql"},
		{"small sql", "select id, name from mills where open = 1;\n" + restOfNote, "sql"},
		{"ddl", "We ran create table mills (id integer primary key) before." + restOfNote, "sql"},
		{"insert", "INSERT INTO mills VALUES (1)" + restOfNote, "sql"},
		{"latex", `It is \frac{a}{b} here.` + restOfNote, "latex"},
		{"formula", "It is $E = mc^2$ here." + restOfNote, "latex"},
		{"a secret", "Use [redacted github-pat 1] for it." + restOfNote, "secret"},
		{"one frame", "It said\n    at mill.open (mill.js:3:4)\nand no more." + restOfNote, "traceback"},
		{"at in brackets", "We were\nat the mill (closed)\nfor an hour." + restOfNote, ""},
		{"sql inside", "It ran select name from mills where open = 1 and no more." + restOfNote, "sql"},
		{"a variable", "Let $x$ be the mill." + restOfNote, "latex"},
		{"base64", "It is aGVsbG8gd29ybGQsIGhvdyBhcmUgeW91IHRvZGF5PyBHb29kLiBZZXM= here." + restOfNote, "base64"},
		{"traceback", "Traceback (most recent call last)\n" + restOfNote, "traceback"},
		{"frames", "Then\n  at mill.open (mill.js:3:4)\n  at mill.close (mill.js:9:4)\n" + restOfNote, "traceback"},
		{"http", "It said HTTP 503 twice." + restOfNote, "http error"},
		{"http text", "It said 404 Not Found twice." + restOfNote, "http error"},
		{"failure", "The copy ended with permission denied on the disk." + restOfNote, "failure"},
		{"exit", "It ended with exit code 2." + restOfNote, "failure"},
		{"exit zero", "It ended with exit code 0." + restOfNote, ""},
		{"exception", "It said ValueError: no mill." + restOfNote, "failure"},
		{"reasoning", "The bar sticks, therefore the wheel stops. Thus it is wet. As a result we slip." + restOfNote, "reasoning"},
		{"steps", "1. open the gate\n2. lift the bar\n3. close it\nTo summarize, it is simple." + restOfNote, "reasoning"},
		{"verse", "The mill wheel sleeps beneath the moon\nThe ropes are grey with morning dew\nThe miller waits for water still\n" + restOfNote, "verse"},
		{"status lines", "PASS the mill opens\nPASS the mill closes\nFAIL the bar is sorted\nSKIP island map drawing\n" + restOfNote, ""},
		{"table", "| mill | open |\n|---|---|\n| east | yes |\n" + restOfNote, "table"},
		{"columns", "east    yes    3\nwest    no     4\nsouth   yes    5\n" + restOfNote, "table"},
		{"ragged", strings.Repeat("gate\n"+strings.Repeat("east of the mill and the pond ", 8)+"\n", 6), "ragged lines"},
		{"symbols", strings.Repeat("{a<b>=|c^d~e&f;} ", 9), "symbols"},
	} {
		if got := shapeOf(c.text).why.hard(); got != c.hard && (c.hard == "" || !strings.Contains(got, c.hard)) {
			t.Errorf("%s: hard for %q, want %q", c.name, got, c.hard)
		}
	}
}
