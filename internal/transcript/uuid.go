package transcript

// IsUUID reports whether s has the form 8-4-4-4-12 in hexadecimal.
func IsUUID(s string) bool {
	if len(s) != 36 {
		return false
	}
	for i := range len(s) {
		switch i {
		case 8, 13, 18, 23:
			if s[i] != '-' {
				return false
			}
		default:
			if !IsHex(s[i : i+1]) {
				return false
			}
		}
	}
	return true
}

// IsHex reports whether a text is one or more hexadecimal digits.
func IsHex(s string) bool {
	for i := range len(s) {
		if c := s[i]; (c < '0' || c > '9') && (c < 'a' || c > 'f') && (c < 'A' || c > 'F') {
			return false
		}
	}
	return s != ""
}
