package walk

// steps is the whole way, in its order.
func steps() []step {
	return []step{
		{"machine boots", true, booted},
		{"package installed, nothing started", true, packaged},
		{"ccd install as an ordinary user", true, installed},
		{"transcripts arrive, come back", true, arrived},
		{"kill -9 ten times", false, killed},
	}
}
