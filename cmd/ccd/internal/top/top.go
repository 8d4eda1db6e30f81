// Package top is the live view of sessions on a terminal: a list that is read again every two seconds, and texts about one
// session.
//
// Invariant: it changes nothing, and what it shows comes from Feed, whose functions run beside the screen, so that a slow
// archive never blocks a key. It knows how keys move between screens, and nothing of archives and columns; its caller has
// escaped all texts.
package top

import (
	"context"
	"fmt"
	"os"
	"strings"
	"time"
	"unicode"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/term"

	"ccd/cmd/ccd/internal/table"
	"ccd/internal/lazy"
)

// Row is a session of the list.
type Row struct {
	Key    string // names the session for the functions of Feed
	Match  string // what a filter is compared with
	ID     string // what y copies
	Marked bool   // it needs attention
	Why    string // why it needs attention, "" if it does not
}

// List is what the first screen shows.
type List struct {
	Head  []string                 // lines above the table
	Rows  []Row                    // in their order
	Table func(width int) []string // a heading, then a line for each row
}

// Feed reads what is shown. Its functions run beside the screen and end with the view.
type Feed struct {
	List func(width int) (List, error)
	// Text returns a text about a session: what is one of the keys below. Original returns the text of an ID.
	Text     func(key string, what rune) (string, error)
	Original func(key, id string) (string, error)
}

// every is how often the list is read.
const every = 2 * time.Second

// Keys that show a text about a session.
const (
	Detail    = '\r'
	Companion = 'c'
	Dropped   = 'd'
)

var titles = map[rune]string{Detail: "session", Companion: "companion", Dropped: "dropped by the agent's last compaction"}

// Run shows the view until the person quits or ctx ends. It returns the key of the session that is to be resumed, "" if the
// person asked for none. It fails if the terminal does.
func Run(ctx context.Context, in, out *os.File, env []string, f Feed) (string, error) {
	m := &model{feed: f, quit: make(chan string, 1)}
	return draw(ctx, in, out, env, m, m.quit)
}

// model is the state of the view. All of it changes in Update.
type model struct {
	feed          Feed
	width, height int
	list          List
	loaded        bool
	err           error
	shown         []int // rows that match the filter
	at, first     int   // the marked row and the first one on the screen, of shown
	filter        string
	typing        bool
	page          *page
	note          string // below the list
	asked         string // the session that one more r resumes
	resumes       string // what Run returns
	quit          chan string
}

// page is a text about a session.
type page struct {
	key, title string
	text       string
	lines      []string
	at, first  int
	loading    bool
	back       *page
}

type (
	listed struct {
		list List
		err  error
	}
	tick  struct{}
	ready struct {
		page *page
		text string
		err  error
	}
)

// Init implements tea.Model.
func (m *model) Init() tea.Cmd { return nil } // the first size message reads the list

func (m *model) read() tea.Cmd {
	width := m.width
	return func() tea.Msg {
		list, err := m.feed.List(width)
		return listed{list, err}
	}
}

// open shows a text, which is read beside the screen.
func (m *model) open(key, title string, read func() (string, error)) tea.Cmd {
	p := &page{key: key, title: title, loading: true, back: m.page}
	m.page = p
	return func() tea.Msg {
		text, err := read()
		return ready{p, text, err}
	}
}

// Update implements tea.Model.
func (m *model) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		first := m.width == 0
		m.width, m.height = msg.Width, msg.Height
		m.layout()
		if first {
			return m, m.read()
		}
	case listed:
		if m.err = msg.err; msg.err == nil {
			m.take(msg.list)
		}
		return m, tea.Tick(every, func(time.Time) tea.Msg { return tick{} })
	case tick:
		return m, m.read()
	case ready:
		msg.page.loading, msg.page.text = false, msg.text
		if msg.err != nil {
			msg.page.text = "error: " + msg.err.Error()
		}
		m.layout()
	case tea.KeyPressMsg:
		return m, m.key(msg)
	}
	return m, nil
}

// layout breaks the texts of the pages into lines for the screen.
func (m *model) layout() {
	for p := m.page; p != nil; p = p.back {
		p.lines = table.WrapLines(p.text, m.width-2)
	}
	m.move(0)
}

// take replaces the list, and keeps the marked session marked.
func (m *model) take(l List) {
	key := m.row().Key
	m.list, m.loaded = l, true
	m.match()
	for n, i := range m.shown {
		if l.Rows[i].Key == key {
			m.at = n
		}
	}
	m.move(0)
}

// row is the marked row, the zero Row if there is none.
func (m *model) row() Row {
	if m.at >= len(m.shown) || m.shown[m.at] >= len(m.list.Rows) {
		return Row{}
	}
	return m.list.Rows[m.shown[m.at]]
}

// match finds the rows that have every word of the filter.
func (m *model) match() {
	m.shown = m.shown[:0]
	words := strings.Fields(strings.ToLower(m.filter))
rows:
	for i, r := range m.list.Rows {
		text := strings.ToLower(r.Match)
		for _, w := range words {
			if !strings.Contains(text, w) {
				continue rows
			}
		}
		m.shown = append(m.shown, i)
	}
}

// room is how many lines of the list, or of a page, fit on the screen.
func (m *model) room() int {
	if m.page != nil {
		return max(1, m.height-2)
	}
	return max(1, m.height-len(m.list.Head)-2) // the heading and the keys
}

func (m *model) move(by int) {
	at, first, n := &m.at, &m.first, len(m.shown)
	if m.page != nil {
		at, first, n = &m.page.at, &m.page.first, len(m.page.lines)
	}
	*at = max(0, min(*at+by, n-1))
	*first = max(min(*first, *at), *at-m.room()+1)
}

func (m *model) key(k tea.KeyPressMsg) tea.Cmd {
	name := k.String()
	switch {
	case name == "ctrl+c":
		return m.end()
	case m.typing:
		m.edit(name, k.Text)
		return nil
	}
	m.note = ""
	if name != "r" {
		m.asked = ""
	}
	switch name {
	case "up", "k", "ctrl+p":
		m.move(-1)
	case "down", "j", "ctrl+n":
		m.move(1)
	case "pgup", "ctrl+b":
		m.move(-m.room())
	case "pgdown", "ctrl+f", "space":
		m.move(m.room())
	case "home", "g":
		m.move(-1 << 30)
	case "end", "G":
		m.move(1 << 30)
	case "?":
		m.page = &page{title: "Keys", text: help, back: m.page}
		m.layout()
	case "esc", "q", "left", "h":
		return m.leave(name)
	default:
		return m.act(name)
	}
	return nil
}

// leave goes back, or ends the view.
func (m *model) leave(name string) tea.Cmd {
	switch {
	case m.page != nil:
		m.page = m.page.back
		m.layout()
	case m.filter != "" && name == "esc":
		m.filter = ""
		m.match()
		m.move(0)
	case name == "q":
		return m.end()
	}
	return nil
}

func (m *model) end() tea.Cmd {
	select {
	case m.quit <- m.resumes:
	default: // it has ended already
	}
	return tea.Quit
}

// act does what a key does with the marked session, or the marked line of a page.
func (m *model) act(name string) tea.Cmd {
	row := m.row()
	key := row.Key
	if m.page != nil {
		key = m.page.key
	}
	if key == "" {
		m.typing = name == "/" && m.page == nil
		return nil
	}
	switch name {
	case "/":
		m.typing = m.page == nil
	case "enter", "right", "l":
		if m.page != nil {
			return m.original(key)
		}
		return m.show(key, Detail)
	case "c":
		return m.show(key, Companion)
	case "d":
		return m.show(key, Dropped)
	case "o":
		return m.original(key)
	case "r":
		if m.asked == key {
			m.resumes = key
			return m.end()
		}
		m.asked, m.note = key, "r again: write a smaller copy and start the agent with it"
	case "y":
		id := row.ID
		if m.page != nil {
			id = m.markedID()
		}
		if id == "" {
			m.note = "this line has no ID"
			return nil
		}
		m.note = "copied " + id
		return tea.SetClipboard(id)
	}
	return nil
}

func (m *model) show(key string, what rune) tea.Cmd {
	return m.open(key, titles[what], func() (string, error) { return m.feed.Text(key, what) })
}

// original shows the original of the ID in the marked line.
func (m *model) original(key string) tea.Cmd {
	id := m.markedID()
	if id == "" {
		m.note = "mark a line with an ID, then press o"
		return nil
	}
	return m.open(key, "original "+id, func() (string, error) { return m.feed.Original(key, id) })
}

// idIn finds an ID, or the number of a record before it.
var idIn = lazy.Regexp(`\b[0-9a-hjkmnp-tv-z]{12}\b`)

// markedID is the last ID in the marked line of a page, "" if it has none.
func (m *model) markedID() string {
	if m.page == nil || m.page.at >= len(m.page.lines) {
		return ""
	}
	all := idIn().FindAllString(m.page.lines[m.page.at], -1)
	if len(all) == 0 {
		return ""
	}
	return all[len(all)-1]
}

// edit changes the filter.
func (m *model) edit(name, text string) {
	switch name {
	case "enter":
		m.typing = false
	case "esc":
		m.typing, m.filter = false, ""
	case "backspace", "ctrl+h":
		runes := []rune(m.filter)
		m.filter = string(runes[:max(0, len(runes)-1)])
	case "ctrl+u", "ctrl+w":
		m.filter = ""
	case "up":
		m.move(-1)
		return
	case "down":
		m.move(1)
		return
	default:
		m.filter += strings.Map(func(r rune) rune {
			if !unicode.IsPrint(r) {
				return -1
			}
			return r
		}, text)
	}
	m.at, m.first = 0, 0
	m.match()
}

// View implements tea.Model.
func (m *model) View() tea.View {
	v := tea.NewView("")
	if m.width > 0 {
		v = tea.NewView(strings.Join(m.lines(), "\n"))
	}
	v.AltScreen = true
	return v
}

const keys = "Enter open  c companion  d dropped  r resume  / filter  ? keys  q quit"

const help = `up, down, j, k    move
PgUp, PgDn, g, G  move by a page, to the first, to the last
Enter             the session's requests, files, problems, compactions
c                 its companion: what an agent can read after a compaction
d                 what the agent's last compaction dropped, each with its ID
o, Enter          open the original on the marked line
r, r              write a smaller copy, and start the agent with it
y                 copy the ID of the session, or of the marked line
/                 filter by words; Enter keeps the filter, Esc clears it
Esc, h, q         back; in the list, q quits
Ctrl-C            quit
`

// lines are the lines of the screen, at most height.
func (m *model) lines() []string {
	var out []string
	switch {
	case m.page != nil:
		out = m.pageLines()
	case !m.loaded && m.err == nil:
		out = []string{"reading the archive …"}
	case !m.loaded:
		out = table.WrapLines("error: "+m.err.Error(), m.width)
	default:
		out = m.listLines()
	}
	return out[:min(len(out), m.height)]
}

// cut shortens a line to the screen.
func (m *model) cut(line string) string {
	if got := table.WrapLines(line, m.width); len(got) > 0 && len(got[0]) < len(strings.TrimSpace(line)) {
		return got[0]
	}
	return line
}

func (m *model) listLines() (out []string) {
	for _, line := range m.list.Head {
		out = append(out, m.cut(line))
	}
	if last := len(out) - 1; last >= 0 && out[last] == "" && m.row().Why != "" {
		out[last] = m.cut("! " + m.row().Why) // of the marked session
	}
	rows := m.list.Table(m.width - 2)
	out = append(out, "  "+rows[0])
	end := min(len(m.shown), m.first+m.room())
	for n := m.first; n < end; n++ {
		line := rows[1+m.shown[n]]
		switch {
		case n == m.at:
			line = "\x1b[7m> " + line + "\x1b[0m"
		case m.list.Rows[m.shown[n]].Marked:
			line = "! " + line
		default:
			line = "  " + line
		}
		out = append(out, line)
	}
	for len(out) < m.height-1 {
		out = append(out, "")
	}
	return append(out, m.footer())
}

func (m *model) footer() string {
	count := fmt.Sprintf("%d of %d", min(m.at+1, len(m.shown)), len(m.shown))
	switch {
	case m.typing:
		return "/" + m.filter + "_   (" + count + ")"
	case m.note != "":
		return m.cut(m.note)
	case m.err != nil:
		return m.cut("error: " + m.err.Error())
	case m.filter != "":
		return m.cut(count + "  filter: " + m.filter + "  (Esc clears)")
	}
	return m.cut(count + "  " + keys)
}

func (m *model) pageLines() []string {
	p := m.page
	if p.loading {
		return []string{m.cut(p.title), "", "reading …"}
	}
	out := []string{"\x1b[1m" + m.cut(p.title) + "\x1b[0m"}
	for n := p.first; n < min(len(p.lines), p.first+m.room()); n++ {
		if n == p.at {
			out = append(out, "\x1b[7m> "+p.lines[n]+"\x1b[0m")
		} else {
			out = append(out, "  "+p.lines[n])
		}
	}
	for len(out) < m.height-1 {
		out = append(out, "")
	}
	foot := fmt.Sprintf("line %d of %d  o original of the marked ID  y copy ID  Esc back", p.at+1, max(1, len(p.lines)))
	if m.note != "" {
		foot = m.note
	}
	return append(out, m.cut(foot))
}

// endSoon limits how long draw waits for the screen to be restored: a terminal that takes no output blocks Bubble Tea
// forever.
const endSoon = 500 * time.Millisecond

// draw draws a model on a terminal until it quits or ctx ends, and returns what it sent on quit, which must have room for one
// value.
func draw(ctx context.Context, in, out *os.File, env []string, m tea.Model, quit chan string) (said string, err error) {
	before, stateErr := term.GetState(in.Fd())
	p := tea.NewProgram(m, tea.WithInput(in), tea.WithOutput(out), tea.WithEnvironment(env), tea.WithoutSignalHandler(), tea.WithFilter(sized))
	ended := make(chan error, 1)
	go func() {
		_, err := p.Run()
		ended <- err
	}()
	select {
	case err = <-ended:
		ended <- nil
		if len(quit) > 0 {
			said = <-quit
		}
	case said = <-quit:
	case <-ctx.Done():
		go p.Quit() // a context of Bubble Tea's would close the terminal while it is read
	}
	select {
	case <-ended:
	case <-time.After(endSoon):
		if stateErr == nil {
			_ = term.Restore(in.Fd(), before)
		}
	}
	switch {
	case ctx.Err() != nil:
		return said, ctx.Err()
	case err != nil:
		return said, fmt.Errorf("draw on terminal: %w", err)
	}
	return said, nil
}

// sized gives a terminal that does not know its size the usual one.
func sized(_ tea.Model, msg tea.Msg) tea.Msg {
	if size, ok := msg.(tea.WindowSizeMsg); ok && (size.Width <= 0 || size.Height <= 0) {
		return tea.WindowSizeMsg{Width: 80, Height: 24}
	}
	return msg
}
