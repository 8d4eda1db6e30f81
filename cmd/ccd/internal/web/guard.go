package web

import (
	"crypto/subtle"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"ccd/internal/words"
)

// csp is the content security policy of every page. form-action is 'self' and not 'none' because the search field is a plain
// GET form, which works without JavaScript.
const csp = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; " +
	"frame-ancestors 'none'; base-uri 'none'; form-action 'self'"

// bareCSP is the policy of originals: nothing in them runs or loads, also if a browser takes them for a page.
const bareCSP = "default-src 'none'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'; sandbox"

// headers returns the headers of every answer.
func headers() map[string]string {
	return map[string]string{
		"Content-Security-Policy": csp, "X-Content-Type-Options": "nosniff", "X-Frame-Options": "DENY", "Referrer-Policy": "no-referrer",
		"Cache-Control": "no-store", "Cross-Origin-Opener-Policy": "same-origin", "Cross-Origin-Resource-Policy": "same-origin",
	}
}

const (
	tokenParam = "token"
	assetsPath = "/assets/"
)

// spend reports whether a token is valid and not used before.
func (s *Server) spend(token string) bool {
	_, valid := s.tokens.LoadAndDelete(token)
	return valid
}

// cookieName contains the port, because browsers send the cookies of a host to all of its ports.
func (s *Server) cookieName() string { return "ccd_" + s.port() }

// admitted reports whether the request has the cookie.
func (s *Server) admitted(r *http.Request) bool {
	return slices.ContainsFunc(r.CookiesNamed(s.cookieName()), func(c *http.Cookie) bool {
		return subtle.ConstantTimeCompare([]byte(c.Value), []byte(s.cookie)) == 1
	})
}

// refusal is why a request is not answered.
type refusal struct {
	Status int
	Why    string
	Help   string // what to do
	Code   string // a command line for that
	Page   string // that a person may open from here

	List     bool  // the list of the sessions is open to the browser
	Sessions []row // that may be meant
}

// guard answers what the page must not, and passes on the rest.
func (s *Server) guard(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		for name, value := range headers() {
			w.Header().Set(name, value)
		}
		if no := s.refuse(r); no != nil {
			s.deny(w, *no)
			return
		}
		if s.unused != nil && s.admitted(r) { // what is refused does not keep the server alive
			s.unused.Reset(s.Idle)
		}
		switch token := r.URL.Query().Get(tokenParam); {
		case strings.HasPrefix(r.URL.Path, assetsPath): // the page of a refusal needs them, and they are public
			next.ServeHTTP(w, r)
		case token != "" && r.Method == http.MethodGet && (s.admitted(r) || s.spend(token)):
			s.admit(w, r)
		case !s.admitted(r):
			s.deny(w, refusal{
				Status: http.StatusForbidden, Why: "This browser has no access to the page.",
				Help: "An address works once. To get a new address of this page, run:", Code: "ccd web " + words.Shell(pageOf(r.URL)),
			})
		default:
			next.ServeHTTP(w, r)
		}
	})
}

// refuse makes the checks that do not depend on the path.
func (s *Server) refuse(r *http.Request) *refusal {
	host := strings.ToLower(r.Host)
	site, origin := r.Header.Get("Sec-Fetch-Site"), r.Header.Get("Origin")
	switch {
	case !s.hosts[host]:
		return &refusal{
			Status: http.StatusForbidden, Why: "The name in the address is not one of this page's.",
			Help: "Use 127.0.0.1 or localhost. If you reach the page through a proxy, allow the proxy's name:", Code: "ccd web --allow-host NAME",
		}
	case r.Method != http.MethodGet && r.Method != http.MethodHead:
		return &refusal{Status: http.StatusMethodNotAllowed, Why: "This page only answers GET and HEAD."}
	case origin != "" && !s.ownOrigin(origin), site != "" && site != "same-origin" && site != "none" && !opens(r):
		return &refusal{
			Status: http.StatusForbidden, Why: "Another site sent this request.", Page: pageOf(r.URL),
			Help: "To get a new address of this page, run:", Code: "ccd web " + words.Shell(pageOf(r.URL)),
		}
	}
	return nil
}

func (s *Server) ownOrigin(origin string) bool {
	u, err := url.Parse(origin)
	return err == nil && (u.Scheme == "http" || u.Scheme == "https") && s.hosts[strings.ToLower(u.Host)]
}

// opens reports whether a person opened an address with a token from elsewhere: a terminal in a browser, or the file that
// ccd gives to the browser. The token, which no other site knows, is the permission.
func opens(r *http.Request) bool {
	return r.URL.Query().Has(tokenParam) && r.Header.Get("Sec-Fetch-Mode") == "navigate" && r.Header.Get("Sec-Fetch-Dest") == "document"
}

// admit sets the cookie and removes the token from the address. If another site led here, a redirect would count as that
// site's request and come without the cookie, so the page then goes on by itself.
func (s *Server) admit(w http.ResponseWriter, r *http.Request) {
	http.SetCookie(w, &http.Cookie{Name: s.cookieName(), Value: s.cookie, Path: "/", HttpOnly: true, SameSite: http.SameSiteStrictMode})
	page := pageOf(r.URL)
	if site := r.Header.Get("Sec-Fetch-Site"); site != "" && site != "none" && site != "same-origin" {
		s.write(w, http.StatusOK, "open", page)
		return
	}
	w.Header().Set("Location", page)
	w.WriteHeader(http.StatusSeeOther)
}

// pageOf returns the path and the query of an address, without the token. It is never the address of another site.
func pageOf(u *url.URL) string {
	q := u.Query()
	q.Del(tokenParam)
	page := "/" + strings.TrimLeft(u.EscapedPath(), `/\`)
	if len(q) > 0 {
		page += "?" + q.Encode()
	}
	return page
}

func (s *Server) deny(w http.ResponseWriter, no refusal) {
	if no.Status == http.StatusMethodNotAllowed {
		w.Header().Set("Allow", "GET, HEAD")
	}
	s.write(w, no.Status, "refused", no)
}
