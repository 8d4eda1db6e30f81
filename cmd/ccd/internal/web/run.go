package web

import (
	"context"
	"crypto/hmac"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"time"

	"ccd/internal/atomicfile"
	"ccd/internal/ownfile"
)

// The files of a server in ccd's state directory.
const (
	runName  = "web.json" // its address, and while it runs the key of its tokens
	openName = "web.html" // redirects a browser to the page
)

// runFile remembers the address of the server, so that an address that was kept works again, and lets another `ccd web` make
// a token for it.
type runFile struct{ path string }

type running struct {
	Address string `json:"address"`
	Key     string `json:"key,omitempty"` // in hexadecimal
}

func (f runFile) read() (r running) {
	if data, err := ownfile.Read(f.path, maxHeader); err == nil {
		_ = json.Unmarshal(data, &r) // a broken file is replaced by the next server
	}
	return r
}

// listen opens addr. Port 0 is the port of last time if it is free, because browsers keep addresses and marks per port.
func (f runFile) listen(host, addr string) (net.Listener, error) {
	_, port, err := net.SplitHostPort(addr)
	if err != nil {
		return nil, err
	}
	if _, last, err := net.SplitHostPort(f.read().Address); port == "0" && err == nil {
		if l, err := net.Listen("tcp", net.JoinHostPort(host, last)); err == nil {
			return l, nil
		}
	}
	return net.Listen("tcp", addr)
}

// note writes the file. Its mode keeps other users from making tokens.
func (f runFile) note(address string, key []byte) error {
	if err := os.MkdirAll(filepath.Dir(f.path), 0o700); err != nil {
		return err
	}
	return f.write(running{address, hex.EncodeToString(key)})
}

func (f runFile) write(r running) error {
	data, err := json.Marshal(r)
	if err != nil {
		return err
	}
	return atomicfile.Write(f.path, 0o600, append(data, '\n'))
}

// forget removes the key of a server that ends, unless another server has written its own.
func (f runFile) forget(address string) {
	if f.read().Address == address {
		_ = f.write(running{Address: address}) // without the server the key is useless
	}
	_ = os.Remove(filepath.Join(filepath.Dir(f.path), openName))
}

// Running returns the address of a page with a token for the server that runs already, "" if none does. It asks the server
// to prove that it has the key, because another program may have its port now.
func Running(ctx context.Context, stateDir, page string) string {
	r := runFile{filepath.Join(stateDir, runName)}.read()
	key, err := hex.DecodeString(r.Key)
	if _, bad := loopback(r.Address); err != nil || len(key) == 0 || bad != nil {
		return ""
	}
	g := &gate{key: key}
	nonce := random()
	ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
	defer cancel()
	q, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+r.Address+alivePath+"?"+url.Values{"nonce": {nonce}}.Encode(), nil)
	if err != nil {
		return ""
	}
	direct := &http.Transport{Proxy: nil, DisableKeepAlives: true} // a proxy of the environment must not see it
	answer, err := direct.RoundTrip(q)
	if err != nil {
		return ""
	}
	defer answer.Body.Close()
	said, err := io.ReadAll(io.LimitReader(answer.Body, 200))
	if err != nil || !hmac.Equal(said, []byte(g.sign("alive "+nonce))) {
		return ""
	}
	return withToken(r.Address, page, g.token())
}

// OpenFile writes a page that redirects to address, for a program that opens the browser: an argument would show the token
// to every user of the machine.
func OpenFile(stateDir, address string) (path string, err error) {
	path = filepath.Join(stateDir, openName)
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", err
	}
	text, err := newLook(false).text("open", address)
	if err != nil {
		return "", err
	}
	return path, atomicfile.Write(path, 0o600, text)
}
