package config

import (
	"errors"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Price is what a model costs from a day on, in USD for a million tokens.
type Price struct {
	From                     time.Time
	In, Cached, Written, Out float64
}

// mostPrice is the highest price: ten dollars a token is a mistake.
const mostPrice = 1e7

// Price returns what a model cost at a time. ok is false if the configuration does not say it.
func (m Models) Price(model string, at time.Time) (p Price, ok bool) {
	longest := ""
	for prefix := range m.Prices {
		if strings.HasPrefix(model, prefix) && len(prefix) >= len(longest) {
			longest = prefix
		}
	}
	if longest == "" {
		return p, false
	}
	all, _ := prices(m.Prices[longest]) // it was checked
	for _, one := range slices.Backward(all) {
		if !at.Before(one.From) {
			return one, true
		}
	}
	return p, false
}

// prices reads "DAY IN CACHED WRITTEN OUT", several of them separated by semicolons, the oldest first.
func prices(text string) (all []Price, err error) {
	bad := errors.New(`must be a day and four prices of a million tokens in USD, at most 10000000, such as "2026-01-29 5 0.5 6.25 25"`)
	for part := range strings.SplitSeq(text, ";") {
		fields := strings.Fields(part)
		if len(fields) != 5 {
			return nil, bad
		}
		day, err := time.Parse(time.DateOnly, fields[0])
		if err != nil || len(all) > 0 && !day.After(all[len(all)-1].From) {
			return nil, bad
		}
		var numbers [4]float64
		for i, field := range fields[1:] {
			if numbers[i], err = strconv.ParseFloat(field, 64); err != nil || !(numbers[i] >= 0 && numbers[i] <= mostPrice) {
				return nil, bad
			}
		}
		all = append(all, Price{day, numbers[0], numbers[1], numbers[2], numbers[3]})
	}
	return all, nil
}
