package transcript

import "github.com/google/uuid"

// IsUUID reports whether s has the form 8-4-4-4-12 in hexadecimal.
func IsUUID(s string) bool { return len(s) == 36 && uuid.Validate(s) == nil }
