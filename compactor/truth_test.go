package compactor_test

import "strconv"

const corpus = "../../shared/corpus"

func number(text string) int { n, _ := strconv.Atoi(text); return n }
