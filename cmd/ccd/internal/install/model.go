package install

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"ccd/internal/transcript"
	"ccd/internal/words"
)

// A client that has a model write its summaries is told once that this model is ccd's, and for the seconds of a compaction where it is.
// At any other time the client does not know such a model, and asks its own.

// loopback begins the address of each model of ccd's.
const loopback = "http://127.0.0.1:"

// model is an entry in a client's list of models.
type model struct {
	ID      string `json:"id"`
	URL     string `json:"baseUrl"`
	Env     string `json:"envKey"`
	Options struct {
		Window int `json:"contextWindowSize"`
	} `json:"generationConfig"`
}

// anyWindow is the context window of ccd's model in tokens: whatever the client sends fits in it.
const anyWindow = 1_000_000_000

var errProxy = errors.New("the client uses a proxy, and NO_PROXY does not have 127.0.0.1")

// proxied reports whether the client sends to a proxy what is for loopback.
func (s *Setup) proxied(d *document, m transcript.Model) bool {
	set := func(name string) bool { return s.o.Getenv(name) != "" }
	if strings.Contains(s.o.Getenv("NO_PROXY")+s.o.Getenv("no_proxy"), "127.0.0.1") {
		return false
	}
	return d.get(m.Proxy) != nil || slices.ContainsFunc([]string{"HTTPS_PROXY", "https_proxy", "HTTP_PROXY", "http_proxy"}, set)
}

// summarizes reports whether ccd is to write the agent's summaries in place of a model.
func (s *Setup) summarizes(a agent) bool {
	return a.Model != nil && slices.Contains(s.o.Clients, a.Name)
}

// Offer has the agent's client know ccd's model at url, or no model of ccd's if url is empty. It fails if the client uses a proxy.
func (s *Setup) Offer(id, url string) error {
	a := s.agent(id)
	f, err := read(a.hooks)
	if err != nil {
		return err
	}
	f.comments = a.Comments
	text, err := edit(func(d *document) error {
		for _, m := range slices.Backward(d.offered(*a.Model)) {
			d.remove(m.at)
		}
		switch {
		case url == "":
			return nil
		case s.proxied(d, *a.Model):
			return errProxy
		}
		m := model{ID: a.Model.ID, URL: url, Env: a.Model.Env}
		m.Options.Window = anyWindow
		return d.put(m, append(slices.Clone(a.Model.List), "-")...)
	})(f)
	if err != nil {
		return err
	}
	p := &Plan{}
	if err := p.add(change{file: f, after: text, perm: 0o600}); err != nil {
		return err
	}
	return p.Apply()
}

// model is the name of ccd's model. A model that is not ccd's is never replaced.
func (s *Setup) model(a agent) []entry {
	other := words.Hint(fmt.Errorf("%s: another model is configured", a.Model.Key), "remove it, or %q from live.clients in ccd's configuration", a.Name)
	return []entry{{a.Model.Value, a.Model.Value, []string{a.Model.Key}, other}}
}

// ownModel returns a function that finds the name of ccd's model, and the model if it is offered.
func ownModel(m transcript.Model) func(*document) []mine {
	return func(d *document) (all []mine) {
		if name := stringOf(d.get(m.Key)); name == m.Value {
			all = append(all, mine{pointer(m.Key), name, ""})
		}
		return append(all, d.offered(m)...)
	}
}

// offered finds ccd's model in the client's list.
func (d *document) offered(m transcript.Model) (all []mine) {
	for i, v := range elements(d.get(m.List...)) {
		if stringOf(get(&v, "id")) == m.ID && strings.HasPrefix(stringOf(get(&v, "baseUrl")), loopback) {
			all = append(all, mine{pointer(append(slices.Clone(m.List), strconv.Itoa(i))...), "", ""})
		}
	}
	return all
}
