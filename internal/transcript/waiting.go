package transcript

import "slices"

// Waiting is the messages that a person typed while the agent worked, as far as they are not known to have reached it. T is
// what a reader keeps of one.
type Waiting[T any] struct{ all []waiting[T] }

type waiting[T any] struct {
	text     string
	repeated bool // it stands in a record of its own
	kept     T
}

// maxWaiting is how many messages wait. One more is not kept.
const maxWaiting = 64

// Add adds a message.
func (w *Waiting[T]) Add(text string, kept T) {
	if len(w.all) < maxWaiting {
		w.all = append(w.all, waiting[T]{text: text, kept: kept})
	}
}

// Repeats notes that a message stands in a record of its own, so that it is not delivered twice.
func (w *Waiting[T]) Repeats(text string) {
	for i := range w.all {
		w.all[i].repeated = w.all[i].repeated || w.all[i].text == text
	}
}

// All returns the messages that wait, the oldest first.
func (w *Waiting[T]) All() (all []T) {
	for i := range w.all {
		all = append(all, w.all[i].kept)
	}
	return all
}

// Take takes what a record says of the messages. It returns the one that reached the model and stands nowhere else.
func (w *Waiting[T]) Take(r *Record) (kept T, delivered bool) {
	if len(w.all) == 0 || r.Queue == NoQueue || r.Queue == Enqueued {
		return kept, false
	}
	if r.Queue == Withdrawn {
		w.all = nil
		return kept, false
	}
	i := max(0, slices.IndexFunc(w.all, func(one waiting[T]) bool { return one.text == r.Queued }))
	one := w.all[i]
	w.all = slices.Delete(w.all, i, i+1)
	return one.kept, r.Queue == Delivered && !one.repeated
}
