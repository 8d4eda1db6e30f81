package compactor

// Rows returns the names of the table's rows.
func Rows() (all []string) {
	for _, r := range table {
		all = append(all, r.name)
	}
	return all
}

// Weigh multiplies all that a row of the table says by a factor.
func Weigh(name string, by float64) {
	for i := range table {
		if r := &table[i]; r.name == name {
			r.head, r.body, r.fail, r.minor = r.head*by, r.body*by, r.fail*by, r.minor*by
		}
	}
}
