//go:build !unix

package ownfile

const noWait = 0
