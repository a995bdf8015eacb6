create table work_items (
  id uuid primary key,
  -- No foreign key: a Work Item outlives its agent and its schedule.
  agent_id uuid not null,
  schedule_id uuid,
  occurrence timestamptz(3),
  work_item_name text,
  message text not null,
  payload jsonb not null,
  status text not null check (status in ('DRAFT', 'PENDING', 'EXECUTING', 'NEEDS_REVIEW', 'INDETERMINATE',
    'COMPLETED', 'ERROR', 'CANCELLED')),
  result jsonb,
  error jsonb,
  usage jsonb,
  attempts integer not null default 0,
  created_by text not null,
  created_at timestamptz(3) not null default platform_now(),
  updated_at timestamptz(3) not null default platform_now(),
  started_at timestamptz(3),
  finished_at timestamptz(3),
  cancel_requested_at timestamptz(3),
  -- Messages belong to a conversation; a restart begins another.
  conversation_id uuid not null,
  -- A retry after a failed attempt waits until then.
  not_before timestamptz(3),
  -- The lease of the worker that has it: each claim raises the fencing token, and only its bearer may write.
  fencing bigint not null default 0,
  lease_owner text,
  lease_expires_at timestamptz(3),
  -- A tool call that was not declared idempotent has begun and not ended: to run again might do it twice.
  unsafe_tool_in_flight boolean not null default false,
  trace_id text,
  check ((status = 'EXECUTING') = (lease_expires_at is not null))
);
-- Exactly one Work Item an occurrence, whoever fires it and however often.
create unique index work_items_occurrence on work_items (schedule_id, occurrence);
create index work_items_agent on work_items (agent_id, id);
-- What workers look for: the oldest that wait, those that wait for a moment, the leases that are out.
create index work_items_pending on work_items (created_at, id) include (agent_id, not_before)
  where status = 'PENDING';
create index work_items_not_before on work_items (not_before) where status = 'PENDING' and not_before is not null;
create index work_items_leases on work_items (lease_expires_at) include (agent_id) where status = 'EXECUTING';
create index work_items_finished on work_items (finished_at) where finished_at is not null;

-- One row a transition, written in its transaction. No foreign key: its check would cost every firing, and rows
-- are only written beside the Work Item's own and removed together with it.
create table work_item_events (
  work_item_id uuid not null,
  seq bigint not null generated always as identity,
  id uuid not null,
  from_status text,
  to_status text not null,
  action text not null,
  principal jsonb not null,
  details jsonb not null,
  at timestamptz(3) not null default platform_now(),
  primary key (work_item_id, seq)
);

create table work_item_messages (
  work_item_id uuid not null references work_items (id) on delete cascade,
  seq bigint not null generated always as identity,
  id uuid not null,
  conversation_id uuid not null,
  role text not null,
  content jsonb not null,
  created_at timestamptz(3) not null default platform_now(),
  primary key (work_item_id, seq)
);
