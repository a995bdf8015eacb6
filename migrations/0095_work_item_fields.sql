alter table agents
  -- Who executes the Work Items: workers of the platform, or programs of the user that claim them.
  add column execution text not null default 'platform' check (execution in ('platform', 'external')),
  -- The public part of the agent's callbacks; the table of that name has the secrets.
  add column callbacks jsonb;
-- Few agents are external, and each claim of the platform's own workers leaves them out.
create index agents_external on agents (id) where execution = 'external';

-- Null instead of an empty list: a firing writes none of these.
alter table work_items
  add column model text,
  -- Why it waits for a person, and what is to be decided; null unless it waits.
  add column review_reason text,
  add column pending_approvals jsonb,
  -- What was decided last, for the next claim of an external worker.
  add column decisions jsonb,
  -- The public part of its callbacks.
  add column callbacks jsonb;
create index work_items_reviews on work_items (id) where status in ('NEEDS_REVIEW', 'INDETERMINATE');

-- What happened in each attempt, without content: the waterfall. Each row is written in the step's own transaction.
create table work_item_steps (
  work_item_id uuid not null references work_items (id) on delete cascade,
  seq bigint not null generated always as identity,
  attempt integer not null,
  -- The `seq` of the step that this one is part of.
  parent bigint,
  kind text not null check (kind in ('attempt', 'model', 'tool', 'wait', 'review')),
  name text not null,
  started_at timestamptz(3) not null default platform_now(),
  ended_at timestamptz(3),
  status text not null check (status in ('running', 'ok', 'error')),
  error text,
  model text,
  tokens jsonb,
  -- The message that the step stored.
  message_seq bigint,
  primary key (work_item_id, seq)
);
