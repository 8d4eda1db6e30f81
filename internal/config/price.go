package config

import "strings"

// mostPrice is the highest price of a million tokens, in USD: ten dollars a token is a mistake.
const mostPrice = 1e7

// Price returns what a million tokens of a model cost in USD: of input, of input from a cache, of input into a cache, of output. ok is false
// if the configuration does not say it.
func (m Models) Price(model string) (p [4]float64, ok bool) {
	longest := ""
	for prefix, price := range m.Prices {
		if strings.HasPrefix(model, prefix) && len(prefix) >= len(longest) {
			longest, ok = prefix, true
			copy(p[:], price) // rules.go wants four
		}
	}
	return p, ok
}

// price checks one of the prices.
func price(numbers []float64) error {
	right := len(numbers) == 4
	for _, n := range numbers {
		right = right && n >= 0 && n <= mostPrice // false for NaN, too
	}
	return must(right, "must be four prices of a million tokens in USD, at most 10000000, such as [5, 0.5, 6.25, 25]")
}
