package daemon

import (
	"bytes"
	"fmt"
	"reflect"
	"testing"
	"time"
)

// fill sets everything in v to values that differ.
func fill(v reflect.Value, n *int64) {
	*n++
	switch {
	case v.Type() == reflect.TypeFor[time.Time]():
		v.Set(reflect.ValueOf(time.Unix(*n, *n).UTC()))
	case v.Kind() == reflect.Struct:
		for i := range v.NumField() {
			fill(v.Field(i), n)
		}
	case v.Kind() == reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 2, 2))
		fill(v.Index(0), n)
		fill(v.Index(1), n)
	case v.Kind() == reflect.Map:
		v.Set(reflect.MakeMap(v.Type()))
		for _, k := range []string{"a", "b"} {
			e := reflect.New(v.Type().Elem()).Elem()
			fill(e, n)
			v.SetMapIndex(reflect.ValueOf(k), e)
		}
	case v.Kind() == reflect.String:
		v.SetString(fmt.Sprint("text ", *n))
	case v.Kind() == reflect.Bool:
		v.SetBool(true)
	case v.CanFloat():
		v.SetFloat(float64(*n) / 7)
	case v.CanUint():
		v.SetUint(uint64(*n))
	default:
		v.SetInt(-*n)
	}
}

func filled() (s State) {
	fill(reflect.ValueOf(&s).Elem(), new(int64))
	return s
}

func TestEveryFieldOfAStateIsStored(t *testing.T) {
	for _, want := range []State{filled(), {}, {Companion: "/a\xff", Source: Stat{Inode: 1<<64 - 1}}} {
		raw := want.Encode()
		if got, err := DecodeState(raw); !reflect.DeepEqual(got, want) || err != nil {
			t.Errorf("stored %+v\nread   %+v, %v", want, got, err)
		}
	}
	if got, err := DecodeState([]byte(`{"Records":3,"Later":{"x":[1]}}`)); got.Records != 3 || err != nil {
		t.Errorf("with the field of a later version: %+v, %v", got, err)
	}
}

func FuzzDecodeState(f *testing.F) {
	raw := filled().Encode()
	for n := range raw {
		f.Add(raw[:n])
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		s, err := DecodeState(raw)
		if err != nil {
			return
		}
		stored := s.Encode()
		if again, err := DecodeState(stored); err != nil || !bytes.Equal(again.Encode(), stored) {
			t.Fatalf("%q\nbecame %+v, %v", stored, again, err)
		}
	})
}
