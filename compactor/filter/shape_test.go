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
		hard       reasons
	}{
		{"prose", "We walked to the mill and back." + restOfNote, 0},
		{"one arrow", "Take the path from the mill -> the orchard." + restOfNote, 0},
		{"a price", "It costs $5 now and $7 later." + restOfNote, 0},
		{"boolean", "The switch is a boolean, returning to true at night." + restOfNote, 0},
		{"commit", "It came with 3f786850e387550fdab836ed7e6dc881de23001b today." + restOfNote, 0},
		{"sum", "Its sum is " + strings.Repeat("0a1b2c3d", 8) + "." + restOfNote, 0},
		{"path", "Look in /usr/local/lib/mill/Planner/island2/reports/Tonight for it." + restOfNote, 0},
		{"two keys", "name: mill planner\nowner: the office\n" + restOfNote, 0},
		{"report", "Status: done\nBranch: main\nTests: all of them\n" + restOfNote, 0},
		{"headings", "# Plan\n\nWe go on with the mill, as was said, and then with the orchard behind it.\n\n## Open\n\n- the roof\n- the door of the mill, which sticks\n" + restOfNote, 0},
		{"select a seat", "Please select a seat from the map and set it aside, then update the list." + restOfNote, 0},
		{"updates", "I will update the docs to set expectations, create a table of contents and delete from the list what is old." + restOfNote, 0},
		{"flow", "Then a -> b -> c." + restOfNote, 0},
		{"numbered", "1. open the gate\n2. lift the bar\n3. close the gate\n" + restOfNote, 0},
		{"status number", "We sold 404 apples and 500 pears." + restOfNote, 0},
		{"nested bullets", "- the mill\n    - its roof\n    - its door\n      which sticks in winter\n" + restOfNote, 0},
		{"shell names", "Set $HOME and $PATH before the call of the script." + restOfNote, 0},
		{"windows path", `Open C:\new\table{1} in the editor.` + restOfNote, 0},
		{"camel path", "See src/main/java/com/Example/OrderBookServiceFactoryImplementation2Test.java now." + restOfNote, 0},

		{"indented", "What I ran:\n\n    turn left\n    lift bar\n\nThen it was quiet." + restOfNote, hasIndentedCode},
		{"one indented line", "Run this:\n\n    make all\n\nThen it was quiet." + restOfNote, hasIndentedCode},
		{"two-space code", "function list(mill) {\n  const rows = mill.rows;\n  return rows;\n}\n" + restOfNote, hasCode},
		{"python", "def total(rows):\n  seen = set()\n  for r in rows:\n    seen.add(r.key)\n  return len(seen)\n" + restOfNote, hasCode},
		{"json", `{"mills": 4, "open": true, "names": ["a", "b"]}`, hasJSON},
		{"cut json", `{"mills": 4, open: tru` + restOfNote, hasJSON},
		{"array", `[{"mills": 4}, {"mills": 5}]`, hasJSON},
		{"brackets", "[mill] the door sticks." + restOfNote, 0},
		{"yaml", "name: mill\nport: 80\nhosts:\n  - a\n" + restOfNote, hasYAML},
		{"sql", "Then SELECT name FROM mills WHERE open = 1 told us." + restOfNote, hasSQL},
		{"small sql", "select id, name from mills where open = 1;\n" + restOfNote, hasSQL},
		{"ddl", "We ran create table mills (id integer primary key) before." + restOfNote, hasSQL},
		{"insert", "INSERT INTO mills VALUES (1)" + restOfNote, hasSQL},
		{"latex", `It is \frac{a}{b} here.` + restOfNote, hasLaTeX},
		{"formula", "It is $E = mc^2$ here." + restOfNote, hasLaTeX},
		{"aws key", "Use AKIAABCDEFGHIJKLMNOP for it." + restOfNote, hasSecret},
		{"token", "Use ghp_16C7e42F292c6912E7710c838347Ae178B4a for it." + restOfNote, hasSecret},
		{"letters only", "Use sk-abcdefghijklmnopqrstuvwxyzab for it." + restOfNote, hasSecret},
		{"a name with dashes", "Use sk-something-like-this-here for it, or npm_config_registry_url." + restOfNote, 0},
		{"private key", "-----BEGIN RSA PRIVATE KEY-----\n" + restOfNote, hasSecret},
		{"bearer", "Send Bearer 0a1b2c3d4e5f6a7b with it." + restOfNote, hasSecret},
		{"one frame", "It said\n    at mill.open (mill.js:3:4)\nand no more." + restOfNote, hasTrace},
		{"at in brackets", "We were\nat the mill (closed)\nfor an hour." + restOfNote, 0},
		{"sql inside", "It ran select name from mills where open = 1 and no more." + restOfNote, hasSQL},
		{"a variable", "Let $x$ be the mill." + restOfNote, hasLaTeX},
		{"password", "The password: hunter2hunter is the old one." + restOfNote, hasSecret},
		{"env secret", "It has API_TOKEN=s3cr3ts3cr3t set." + restOfNote, hasSecret},
		{"base64", "It is aGVsbG8gd29ybGQsIGhvdyBhcmUgeW91IHRvZGF5PyBHb29kLiBZZXM= here." + restOfNote, hasBase64},
		{"traceback", "Traceback (most recent call last)\n" + restOfNote, hasTrace},
		{"frames", "Then\n  at mill.open (mill.js:3:4)\n  at mill.close (mill.js:9:4)\n" + restOfNote, hasTrace},
		{"http", "It said HTTP 503 twice." + restOfNote, hasHTTPError},
		{"http text", "It said 404 Not Found twice." + restOfNote, hasHTTPError},
		{"failure", "The copy ended with permission denied on the disk." + restOfNote, hasFailure},
		{"exit", "It ended with exit code 2." + restOfNote, hasFailure},
		{"exit zero", "It ended with exit code 0." + restOfNote, 0},
		{"exception", "It said ValueError: no mill." + restOfNote, hasFailure},
		{"reasoning", "The bar sticks, therefore the wheel stops. Thus it is wet. As a result we slip." + restOfNote, hasReasoning},
		{"steps", "1. open the gate\n2. lift the bar\n3. close it\nTo summarize, it is simple." + restOfNote, hasReasoning},
		{"verse", "The mill wheel sleeps beneath the moon\nThe ropes are grey with morning dew\nThe miller waits for water still\n" + restOfNote, hasVerse},
		{"status lines", "PASS the mill opens\nPASS the mill closes\nFAIL the bar is sorted\nSKIP island map drawing\n" + restOfNote, 0},
		{"table", "| mill | open |\n|---|---|\n| east | yes |\n" + restOfNote, hasTable},
		{"columns", "east    yes    3\nwest    no     4\nsouth   yes    5\n" + restOfNote, hasTable},
		{"ragged", strings.Repeat("gate\n"+strings.Repeat("east of the mill and the pond ", 8)+"\n", 6), hasRagged},
		{"symbols", strings.Repeat("{a<b>=|c^d~e&f;} ", 9), hasSymbols},
	} {
		if got := shapeOf(c.text).why.hard(); got != c.hard && (c.hard == 0 || got&c.hard == 0) {
			t.Errorf("%s: hard for %q, want %q", c.name, got, c.hard)
		}
	}
}
