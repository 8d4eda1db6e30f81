//go:build !windows

package config

const homeVariable = "HOME"
