package web

import (
	"errors"
	"hash/crc32"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strconv"

	"ccd/internal/atomicfile"
)

// openName is a file in ccd's state directory that redirects a browser to the page.
const openName = "web.html"

// listen opens addr. Port 0 is, if it is free, one that depends on the state directory alone, because browsers keep addresses and marks
// per port.
func listen(host, addr, stateDir string) (net.Listener, error) {
	if _, port, err := net.SplitHostPort(addr); err == nil && port == "0" {
		usual := firstPort + crc32.ChecksumIEEE([]byte(stateDir))%ports
		if l, err := net.Listen("tcp", net.JoinHostPort(host, strconv.Itoa(int(usual)))); err == nil {
			return l, nil
		}
	}
	return net.Listen("tcp", addr)
}

// The usual ports are below those that systems give away.
const (
	firstPort = 20000
	ports     = 10000
)

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
