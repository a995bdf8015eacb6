-- Reviews: each stay of a Work Item in NEEDS_REVIEW or INDETERMINATE, and of a run of a conversation in needs_review. What
-- waits when this is applied gets its review from the loop that gives them to Work Items of the release before.
create table reviews (
  id uuid primary key,
  source text not null,
  state text default 'open' not null,
  work_item_id uuid references work_items (id) on delete cascade,
  conversation_id uuid references conversations (id) on delete cascade,
  run_id uuid references conversation_runs (id) on delete cascade,
  agent_id uuid not null,
  -- As it was called at the opening: the agent may be deleted.
  agent_name text not null,
  -- The Work Item's, or the conversation's.
  name text,
  -- The principal whose conversation it is: members see no others. Null: all see it.
  owner_id text,
  reason text,
  -- What is asked, with what was decided about each.
  approvals jsonb not null,
  required_role text not null,
  -- Whose people asked for the work, if they may not approve it.
  barred text[],
  -- How long people have; null: as long as they need.
  timeout_seconds integer,
  on_expiry text,
  expires_at timestamp(3) with time zone,
  opened_at timestamp(3) with time zone not null,
  escalated_at timestamp(3) with time zone,
  closed_at timestamp(3) with time zone,
  closed_by jsonb,
  via text,
  constraint reviews_source_check check (
    case source when 'work_item' then work_item_id is not null and conversation_id is null and run_id is null
      when 'conversation' then work_item_id is null and conversation_id is not null and run_id is not null
      else false end),
  constraint reviews_state_check check (state in ('open', 'decided', 'expired', 'withdrawn')),
  constraint reviews_closed_check check ((state = 'open') = (closed_at is null)),
  constraint reviews_required_role_check check (required_role in ('member', 'builder', 'admin')),
  constraint reviews_on_expiry_check check (on_expiry in ('deny', 'cancel', 'escalate')),
  constraint reviews_via_check check (via in ('api', 'console', 'slack', 'expiry'))
);
-- One review at a time, whoever opens it.
create unique index reviews_open_work_item on reviews (work_item_id) where state = 'open' and work_item_id is not null;
create unique index reviews_open_run on reviews (run_id) where state = 'open' and run_id is not null;
create index reviews_open on reviews (id) where state = 'open';
create index reviews_due on reviews (expires_at) where state = 'open' and expires_at is not null;
create index reviews_agent on reviews (agent_id, id);
create index reviews_work_item on reviews (work_item_id, id) where work_item_id is not null;
create index reviews_conversation on reviews (conversation_id, id) where conversation_id is not null;
create index reviews_run on reviews (run_id) where run_id is not null;

-- Runs that wait for people: the loop looks for those without a review.
create index conversation_runs_waiting on conversation_runs (id) where status = 'needs_review';

alter table agents
  add column approval_timeout_seconds integer,
  add column approval_timeout_outcome text default 'deny' not null;

-- Versions and drafts that were frozen before have the defaults, not what the agent has by then.
create function with_approval_timeout(content json) returns json language sql immutable as $$
  select json_object_agg(key, value) from (
    select key, value from json_each(content)
    union all values ('approval_timeout_seconds', 'null'::json), ('approval_timeout_outcome', '"deny"'::json)) fields
$$;
update agent_versions set content = with_approval_timeout(content);
update agents set draft = with_approval_timeout(draft) where draft is not null;
drop function with_approval_timeout(json);
