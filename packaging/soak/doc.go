// Package soak has one test: many sessions grow in torn pieces for a while, under kills, frozen processes and a full
// disk. It owns no code that ships.
package soak
