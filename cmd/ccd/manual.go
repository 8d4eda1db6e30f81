package main

import (
	"errors"
	"fmt"
	"strconv"

	"ccd/compactor"
)

type focusWords struct{ to *[]string }

func (focusWords) String() string { return "" }

func (focusWords) Type() string { return "WORDS" }

// Set implements pflag.Value. If the flag is given more than once, the words add up.
func (f focusWords) Set(text string) (err error) {
	for _, w := range *f.to {
		text += " " + w
	}
	*f.to, err = compactor.FocusWords(text)
	return err
}

type levelName struct{ to *compactor.Level }

func (levelName) String() string { return "" }

func (levelName) Type() string { return "LEVEL" }

func (l levelName) Set(name string) (err error) {
	*l.to, err = compactor.ParseLevel(name)
	return err
}

// budget is the value of --max-tokens, in estimated tokens.
type budget struct {
	to    *int
	least int
	holds string // what has no room in less
}

// leastTokens is the smallest budget of a companion, in estimated tokens.
const leastTokens = 1000

// mostTokens is the largest budget: more than any context window, and small enough that computations do not overflow.
const mostTokens = 1_000_000_000

func (budget) String() string { return "" }

func (budget) Type() string { return "N" }

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
