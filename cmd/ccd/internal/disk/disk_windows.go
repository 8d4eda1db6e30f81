package disk

import "os"

// Writable fails if dir does not exist; Windows tells permissions only to who tries.
func Writable(dir string) error {
	_, err := os.Stat(dir)
	return err
}

// Readable fails if this user cannot read the file at path.
func Readable(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	return f.Close()
}
