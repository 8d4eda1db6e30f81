package web

import (
	"encoding/json"
	"errors"
	"io/fs"
	"net"
	"os"
	"path/filepath"

	"ccd/internal/atomicfile"
	"ccd/internal/ownfile"
)

// The files of a server in ccd's state directory.
const (
	lastName = "web.json" // its address, so that one that was kept works again
	openName = "web.html" // redirects a browser to the page
)

// listen opens addr. Port 0 is the port of last time if it is free, because browsers keep addresses and marks per port.
func listen(host, addr, stateDir string) (net.Listener, error) {
	_, port, err := net.SplitHostPort(addr)
	if err != nil {
		return nil, err
	}
	var last struct {
		Address string `json:"address"`
	}
	file := filepath.Join(stateDir, lastName)
	if data, err := ownfile.Read(file, maxHeader); err == nil {
		_ = json.Unmarshal(data, &last) // a broken file is replaced
	}
	_, before, err := net.SplitHostPort(last.Address)
	again := port == "0" && err == nil
	if again {
		if l, err := net.Listen("tcp", net.JoinHostPort(host, before)); err == nil {
			return l, nil
		}
	}
	l, err := net.Listen("tcp", addr)
	if err != nil || again { // another ccd web has the port, which stays the one of last time
		return l, err
	}
	last.Address = l.Addr().String()
	if data, err := json.Marshal(last); err == nil && os.MkdirAll(stateDir, 0o700) == nil {
		_ = atomicfile.Write(file, 0o600, append(data, '\n')) // on a read-only disk, only this address is lost for the next time
	}
	return l, nil
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
