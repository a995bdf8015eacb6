-- Work Items that wait for the next period of a budget: {budget_id, name, period_id, limit}, the limit being that which left
-- no room. Their time is in `not_before`.
alter table work_items add column budget_wait jsonb;
create index work_items_budget_waits on work_items (id) where status = 'PENDING' and budget_wait is not null;
-- Those that wait for an administrator. Queries name the expression literally.
create index work_items_budget_reviews on work_items (id)
  where status = 'NEEDS_REVIEW' and pending_approvals @> '[{"kind": "budget"}]';
create index conversation_runs_budget_reviews on conversation_runs (id)
  where status = 'needs_review' and pending_approvals @> '[{"kind": "budget"}]';
