package fold

import (
	"slices"

	"ccd/internal/transcript"
)

// applyPlan applies a call that writes the plan. It keeps the old plan until the result shows that the call succeeded.
func (t *tables) applyPlan(i int32, a *transcript.Action) {
	if !a.Replace && len(a.Plan) == 0 {
		return
	}
	t.oldPlan, t.oldRow = nil, t.planRow
	if a.Replace {
		t.oldPlan = slices.Clone(t.plan)
		t.plan = t.plan[:0]
	}
	t.planRow = i
	for _, p := range a.Plan {
		t.plan = putPlan(t.plan, p, i)
	}
}

// putPlan adds an item to the plan or updates the one with its key.
func putPlan(plan []PlanItem, p transcript.PlanItem, row int32) []PlanItem {
	for i := range plan {
		if q := &plan[i]; q.Key == clip(p.Key, maxText) && p.Key != "" {
			if p.Status == "deleted" {
				return append(plan[:i], plan[i+1:]...)
			}
			if p.Text != "" {
				q.Text = clip(p.Text, maxText)
			}
			if p.Status != "" {
				q.Status = clip(p.Status, maxName)
			}
			return plan
		}
	}
	if p.Status == "deleted" || p.Text == "" {
		return plan
	}
	if len(plan) >= maxPlan {
		plan = append(plan[:0], plan[1:]...)
	}
	return append(plan, PlanItem{Key: clip(p.Key, maxText), Text: clip(p.Text, maxText), Status: clip(p.Status, maxName), Row: row})
}

// applyPlanResult applies the result of a call about the plan, which names the new items, lists all items, or reports a
// failure.
func (t *tables) applyPlanResult(p *call, out *transcript.Outcome, ok bool) {
	switch {
	case !ok:
		t.revertPlan(p)
	case p.action.Replace:
		t.oldPlan = nil
	case len(p.action.Plan) == 0 && len(out.Plan) > 0: // the call requested the list
		t.plan, t.planRow = t.plan[:0], p.row
		for _, item := range out.Plan {
			t.plan = putPlan(t.plan, item, p.row)
		}
	case out.PlanID != "":
		for i := range t.plan {
			if q := &t.plan[i]; q.Row == p.row && q.Key == "" {
				q.Key = clip(out.PlanID, maxText)
			}
		}
	}
}

// revertPlan undoes a call that failed.
func (t *tables) revertPlan(p *call) {
	switch {
	case p.action.Replace && t.planRow == p.row:
		t.plan, t.oldPlan, t.planRow = t.oldPlan, nil, t.oldRow
	case !p.action.Replace:
		t.plan = slices.DeleteFunc(t.plan, func(q PlanItem) bool { return q.Row == p.row && q.Key == "" })
	}
}
