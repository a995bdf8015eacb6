-- An attempt in the waterfall: its trace, who executed it, and what the Work Item had used before, by which its own
-- usage is known at its end. Null in the other steps, and in those of the release before.
alter table work_item_steps
  add column trace_id text,
  add column worker text,
  add column usage_before jsonb;
