package scorecard

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"ccd/compactor/lexicon"
	"ccd/internal/transcript"
)

func TestFacts(t *testing.T) {
	long := strings.Repeat("The wheel turns and the flour falls. ", 80)
	for _, c := range []struct {
		name  string
		log   *log
		class Class
		want  []string
	}{
		{"a message stands whole, once", newLog().human("Grind\n the  rye.").human("Grind the rye."), Asked, []string{"Grind the rye."}},
		{"a long one has ends", newLog().human("BEGIN " + long + "END"), Asked, []string{lexicon.Head("BEGIN "+normal(long), 200) + " … " + lexicon.Tail(normal(long)+" END", 100)}},
		{"what a machine writes is no message", newLog().human("<system-reminder>Be brief.</system-reminder>"), Asked, nil},
		{"paths are below the working directory", newLog().file("Write", "/home/me/mill/src/wheel.go").file("Edit", "/home/me/mill/src/wheel.go"), Edited, []string{"src/wheel.go"}},
		{"a path elsewhere keeps its directory", newLog().file("Write", "/etc/mill/mill.conf"), Edited, []string{"mill/mill.conf"}},
		{"a path of Windows is a path", (&log{dir: `C:\mill`, agent: "claude-code"}).file("Write", `C:\mill\src\wheel.go`).file("Edit", `src\wheel.go`), Edited, []string{`src\wheel.go`}},
		{"what failed changed nothing", newLog().do("Edit", map[string]any{"file_path": "/home/me/mill/a.go"}, "String to replace not found", true), Edited, nil},
		{"rm deletes", newLog().file("Write", "/home/me/mill/a.go").bash("rm -f a.go && ls", ""), Deleted, []string{"a.go"}},
		{"rm that failed does not", newLog().file("Write", "/home/me/mill/a.go").fails("rm a.go", "no such file"), Deleted, nil},
		{"rm of what is not named is not certain", newLog().bash("rm $FILES", "").bash("rm *.go", "").bash("cd $DIR && rm a.go", ""), Deleted, nil},
		{"rm elsewhere counts there", newLog().bash("cd /tmp/x && rm a.go", ""), Deleted, []string{"x/a.go"}},
		{"commands have their last status", newLog().bash("make  all", "ok").fails("make all", "error: no flour"), Commands, []string{"make all = 1"}},
		{"error lines, once", newLog().fails("make", "grinding\nerror: no flour\nerror: no flour\nwarming up"), Errors, []string{"error: no flour"}},
		{"an output that is no failure has none", newLog().bash("make", "error: no flour"), Errors, nil},
		{"an error is open", newLog().fails("make", "error: no flour").bash("make other", "ok"), OpenErrors, []string{"error: no flour"}},
		{"until the command succeeds", newLog().fails("make", "error: no flour").bash("make", "ok"), OpenErrors, nil},
		{"one without an error line has its last line", newLog().fails("make", "grinding"), OpenErrors, []string{"grinding"}},
		{"a silent one is an answer", newLog().fails("grep -q rye list", ""), OpenErrors, nil},
		{"made good by a run of more", newLog().fails("cd /home/me/mill && go test ./wheel | tail -5", "error: no flour").bash("go test -v ./wheel ./stone", "ok"), OpenErrors, nil},
		{"a failed look-up is an answer", newLog().fails("ls /nowhere", "ls: cannot access"), OpenErrors, nil},
		{"one error line of a result", newLog().fails("make", "error: no flour\nerror: no rye"), Errors, []string{"error: no flour"}},
		{"in any language the last line", newLog().fails("make", "mahlen\nEs fehlt an Mehl"), Errors, []string{"Es fehlt an Mehl"}},
		{"the last words of each turn", newLog().human("Grind.").say("I look at the wheel.").bash("ls", "x").say("It is ground. Sieve it next?\n\n- rye is left").human("Yes.").say("# Done\nThe rye is sieved."), Answers, []string{"It is ground.", "Sieve it next?", "rye is left", "The rye is sieved."}},
		{"or what was said before the last call", newLog().human("Grind.").say("I look at the wheel.").bash("ls", "x").human("Stop."), Answers, []string{"I look at the wheel."}},
		{"sentences end in any script", newLog().human("磨").say("黑麦已经磨好了。接下来要筛面粉吗？是的"), Answers, []string{"黑麦已经磨好了。", "接下来要筛面粉吗？"}},
		{"a row of a table is one sentence, code and lead-ins are none", newLog().say("Here it is:\n```\ngrind it all day. And night.\n```\n| rye | 12 sacks. Dry. |\n|---|---|"), Answers, []string{"| rye | 12 sacks. Dry. |"}},
		{"decisions stand between calls", newLog().say("I keep the stone wheel for the rye. Now I turn it by hand once more.\nLike this:").bash("make", "x").say("That is all there is to it today."), Decisions, []string{"I keep the stone wheel for the rye.", "Now I turn it by hand once more."}},
		{"numbers in their sentence", newLog().say("It takes 12.5 ms and 40 % of 7 sacks for some 300kg since 2026-04-01.\n- 48213"), Numbers, []string{"12.5", "40 %", "300kg", "2026-04-01", "48213"}},
		{"identifiers in theirs", newLog().say("Turn every wheel with grindRye, mill_stone, FlourBin, os.Stat and `rye -x`, e.g. here. See `turn()`."), Identifiers, []string{"grindRye", "mill_stone", "FlourBin", "os.Stat", "rye -x"}},
		{"a list of names says nothing", newLog().human("grindRye, mill_stone, FlourBin"), Identifiers, nil},
		{"also between signs of Chinese", newLog().say("请用grindRye把所有的黑麦磨成面粉"), Identifiers, []string{"grindRye"}},
		{"addresses", newLog().human("Read everything about it at https://mill.example/rye?x=1, please."), URLs, []string{"https://mill.example/rye?x=1"}},
		{"the line before may say it", newLog().say("The request for the wheel is open:\nhttps://mill.example/pull/7"), URLs, []string{"https://mill.example/pull/7"}},
		{"hashes and versions", newLog().say("The commit 9f31c07 stands in v1.4 and since 2.0.1-rc.1, but never in deadbeef or 1234567."), Hashes, []string{"9f31c07", "v1.4", "2.0.1-rc.1"}},
		{"what tools print names nothing", newLog().bash("cat", "Read everything about it at https://mill.example"), URLs, nil},
		{"outcomes", newLog().bash("make", "grinding\n14 tests passed, 2 failed\nbye").bash("go run . | tail -1", "12 sacks").bash("ls", "one").bash("go test ./...", "ok a\nok b").bash("make sieve", "one\ntwo"), Outcomes, []string{"make … 14 tests passed, 2 failed", "go run . … 12 sacks"}},
		{"git as last seen", newLog().
			bash("git commit -qam x; git status", "[rye 1234abc] Old\nOn branch rye\n\tmodified:   old.go").
			bash("git checkout -b oats", "Switched to a new branch 'oats'").
			bash("git commit -am y", "[oats 9f31c07] Grind oats").bash("git push", "To mill\n   1234abc..9f31c07  oats -> oats").
			bash("git stash", "Saved working directory and index state WIP on oats: 9f31c07 Grind oats").
			bash("git status", "On branch oats\n\tmodified:   src/wheel.go"), Git, []string{"oats = branch", "9f31c07 … Grind oats", "9f31c07 Grind oats = stash", "9f31c07 = pushed", "src/wheel.go = uncommitted"}},
		{"what was committed is not pushed", newLog().bash("git push", "a..b  x -> x").bash("git commit -am y", "[x 9f31c07] Grind"), Git, []string{"x = branch", "9f31c07 … Grind"}},
		{"a question with its answer", newLog().do("AskUserQuestion", map[string]any{"questions": []any{map[string]any{"question": "Which grain?", "options": []any{}}}},
			`User has answered your questions: "Which grain?"="Rye". You can now continue with the user's answers in mind.`, false), Questions, []string{"Which grain? … Rye"}},
		{"it is no message", newLog().do("AskUserQuestion", map[string]any{"questions": []any{map[string]any{"question": "Which grain?"}}},
			`User has answered your questions: "Which grain?"="Rye". You can now continue with the user's answers in mind.`, false), Asked, nil},
		{"a plan that was refused", newLog().do("ExitPlanMode", map[string]any{"plan": "# Grind rye\nFirst."}, sorry+"Oats first, please.", true), Questions, []string{"Grind rye = refused"}},
		{"what was said of it is asked", newLog().do("ExitPlanMode", map[string]any{"plan": "# Grind rye\nFirst."}, sorry+"Oats first, please.", true), Asked, []string{"Oats first, please."}},
		{"a refusal with its reason", newLog().do("Bash", map[string]any{"command": "git push --force"}, sorry+"Never force it.", true), Refusals, []string{"git push --force … Never force it. = refused"}},
		{"one without", newLog().do("Bash", map[string]any{"command": "rm -r /mill"}, "The user doesn't want to proceed with this tool use. STOP.", true), Refusals, []string{"rm -r /mill = refused"}},
		{"what a rule refused is none", newLog().do("Bash", map[string]any{"command": "rm x"}, "Permission to use Bash has been denied.", true), Refusals, nil},
		{"a report from the background", newLog().human("<task-notification><task-id>a1</task-id><status>completed</status><result>Four sacks are left.</result></task-notification>"), Reports, []string{"Four sacks are left."}},
		{"the plan as last left", newLog().
			do("TodoWrite", todos("Buy rye", "pending", "Grind it", "pending"), "ok", false).
			do("TodoWrite", todos("Buy rye", "completed", "Grind it", "in_progress"), "ok", false), Plan, []string{"Buy rye = completed", "Grind it = in_progress"}},
		{"reports", newLog().do("Task", map[string]any{"prompt": "count"}, "I counted them twice. Four sacks are left.", false), Reports, []string{"I counted them twice.", "Four sacks are left."}},
		{"hits", newLog().do("Grep", map[string]any{"pattern": "rye"}, strings.Repeat("src/wheel.go:14: rye\n", 60), false), Hits, []string{"src/wheel.go:14: rye"}},
		{"contents", newLog().do("Read", map[string]any{"file_path": "/home/me/mill/a.go"}, numbered(60), false), Contents, []string{"/home/me/mill/a.go … " + lexicon.Head(normal(strings.Repeat("grind the rye by hand\n", 60)), 120) + " = 60"}},
		{"code", newLog().say("Like so:\n```go\nfunc grind() {}\n```\nand on."), Code, []string{"func grind() {}"}},
	} {
		if got := c.log.of(c.class); !slices.Equal(got, c.want) {
			t.Errorf("%s: %s\ngot  %q\nwant %q", c.name, c.class, got, c.want)
		}
	}
}

const sorry = "The user doesn't want to proceed with this tool use. The tool use was rejected (eg. if it was a file edit, the new_string was NOT written to the file). To tell you how to proceed, the user said:\n"

func todos(pairs ...string) map[string]any {
	var all []any
	for i := 0; i < len(pairs); i += 2 {
		all = append(all, map[string]any{"content": pairs[i], "status": pairs[i+1], "activeForm": "x"})
	}
	return map[string]any{"todos": all}
}

func numbered(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "%6d\tgrind the rye by hand\n", i+1)
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// The same statements in another language give as many facts of the same weight, because no word of a language decides
// what a fact is.
func TestAnyLanguage(t *testing.T) {
	counts := func(say [4]string) map[Class]Count {
		l := newLog().human(say[0]).say(say[1]).file("Edit", "/home/me/mill/src/wheel.go").fails("make rye", "x\n"+say[2]).say(say[3])
		f := l.facts()
		g := grade(t, f, l.plain(), nil)
		if g.All.Visible != g.All.Facts {
			t.Errorf("the plain text of %q: %+v", say[0], g.Classes)
		}
		if g := grade(t, f, shuffled(l.plain()), nil); g.Mean > 0.2 {
			t.Errorf("shuffled words of %q: %+v", say[0], g.Classes)
		}
		return g.Classes
	}
	want := counts([4]string{
		"Grind all of the rye before the evening comes.", "The steel wheel is much too fast for this grain. Now I grind all of it slowly.", "There is no more flour in the bin",
		"All of the rye is ground with grindRye in 48213 turns. Shall the flour also be sieved?",
	})
	for language, say := range map[string][4]string{
		"German":   {"Mahle den ganzen Roggen noch vor dem Abend.", "Das Stahlrad ist viel zu schnell für dieses Korn. Jetzt mahle ich alles sehr langsam.", "Kein Mehl mehr im Kasten", "Der ganze Roggen ist mit grindRye in 48213 Drehungen gemahlen. Soll das Mehl noch gesiebt werden?"},
		"Russian":  {"Смели всю рожь ещё до вечера.", "Стальное колесо слишком быстрое для этого зерна. Теперь мелю всё очень медленно вручную.", "В ящике больше нет муки", "Вся рожь смолота командой grindRye за 48213 оборотов. Нужно ли ещё просеять муку?"},
		"Chinese":  {"请在傍晚之前把所有的黑麦磨完。", "钢轮对这种谷物来说实在太快了。现在我慢慢地把它全部磨完。", "箱子里没有面粉了", "所有的黑麦都用grindRye磨好了，一共转了48213圈。还要不要筛一下面粉？"},
		"Japanese": {"夕方までにライ麦を全部挽いてください。", "鋼の車輪はこの穀物には速すぎます。今からゆっくり全部挽きます。", "箱にもう粉がありません", "ライ麦は全部grindRyeで挽き終わり、48213回転でした。粉をふるいにかけますか？"},
	} {
		got := counts(say)
		for class, n := range want {
			if got[class].Facts != n.Facts || got[class].Weight != n.Weight {
				t.Errorf("%s: %s %+v, in English %+v", language, class, got[class], n)
			}
		}
	}
}

func TestStrongFacts(t *testing.T) {
	l := newLog().say("Turn every wheel with grindRye and millStone. Every wheel is turned with grindRye.").human("What about that flourBin there?").say("Nothing.")
	strong := map[string]bool{}
	for _, one := range l.facts().all()[Identifiers] {
		strong[one.text] = one.strong
	}
	if !strong["grindRye"] || strong["millStone"] || !strong["flourBin"] {
		t.Errorf("strong: %v, want what was named twice or by the human", strong)
	}
}

// Items of an inline sub-agent are not the session's facts.
func TestSideItemsAreNoFacts(t *testing.T) {
	l := newLog().human("Grind.")
	l.add("assistant", []any{map[string]any{"type": "text", "text": "Turn every wheel with grindRye."}}, map[string]any{"isSidechain": true})
	if got := l.of(Identifiers); len(got) > 0 {
		t.Errorf("got %q", got)
	}
}

// Memory is limited however long the session is: a class has a largest number of facts, and only so many calls wait for
// a result.
func TestFactsAreBounded(t *testing.T) {
	f := New()
	item := transcript.Item{Kind: transcript.Call, Tool: "Read", Raw: []byte(`{"file_path":"/a"}`)}
	for i := range maxCalls + 100 {
		item.Call = strconv.Itoa(i)
		f.addCall(&item, item.Raw)
	}
	if len(f.calls) > maxCalls {
		t.Errorf("%d calls wait", len(f.calls))
	}
	for i := range maxFacts + 100 {
		f.note(Numbers, strconv.Itoa(i), fact{text: strconv.Itoa(i)})
	}
	if n := len(f.classes[Numbers].all); n != maxFacts {
		t.Errorf("%d facts of a class, want %d", n, maxFacts)
	}
	one := f.note(Numbers, "7", fact{})
	for range 100 {
		f.note(Numbers, "7", fact{})
	}
	if len(one.sources) > maxSources {
		t.Errorf("%d sources of a fact", len(one.sources))
	}
}
