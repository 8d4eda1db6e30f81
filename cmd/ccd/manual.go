package main

import (
	"errors"
	"fmt"
	"strconv"

	"ccd/compactor"
)

// focusWords is the value of --focus.
type focusWords struct{ to *[]string }

// String implements pflag.Value.
func (focusWords) String() string { return "" }

// Type implements pflag.Value.
func (focusWords) Type() string { return "WORDS" }

// Set implements pflag.Value. Given more than once, all the words count.
func (f focusWords) Set(text string) (err error) {
	for _, w := range *f.to {
		text += " " + w
	}
	*f.to, err = compactor.FocusWords(text)
	return err
}

// levelName is the value of --level.
type levelName struct{ to *compactor.Level }

// String implements pflag.Value.
func (levelName) String() string { return "" }

// Type implements pflag.Value.
func (levelName) Type() string { return "LEVEL" }

// Set implements pflag.Value.
func (l levelName) Set(name string) (err error) {
	*l.to, err = compactor.ParseLevel(name)
	return err
}

// budget is the value of a --max-tokens, in estimated tokens.
type budget struct {
	to    *int
	least int
	holds string // what less than that holds
}

// leastTokens is the smallest budget of a companion, estimated tokens.
const leastTokens = 1000

// mostTokens is the largest budget, more than any model holds: what is counted from it fits a number.
const mostTokens = 1_000_000_000

// String implements pflag.Value.
func (budget) String() string { return "" }

// Type implements pflag.Value.
func (budget) Type() string { return "N" }

// Set implements pflag.Value.
func (b budget) Set(text string) error {
	n, err := strconv.Atoi(text)
	if err != nil {
		return errors.New("not a whole number")
	}
	if n < b.least {
		return fmt.Errorf("must be %d or more: less has room for %s", b.least, b.holds)
	}
	if n > mostTokens {
		return fmt.Errorf("must be %d or less", mostTokens)
	}
	*b.to = n
	return nil
}
