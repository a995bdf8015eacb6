create table conversations (
  id uuid primary key,
  agent_id uuid not null references agents (id) on delete cascade,
  name text,
  -- The beginning of the first message: the name if it was given none.
  title text,
  metadata jsonb not null default '{}',
  created_by text not null,
  revision integer not null default 1,
  created_at timestamptz(3) not null default platform_now(),
  updated_at timestamptz(3) not null default platform_now(),
  message_count integer not null default 0,
  last_message_at timestamptz(3),
  -- The run that is queued, is running or waits for a person: one at a time.
  active_run_id uuid,
  -- The number of its last event. Who holds the lock of this row writes the next ones.
  last_seq bigint not null default 0,
  -- What of the conversation models no longer get.
  context_cut jsonb
);
create index conversations_agent on conversations (agent_id, id);
create index conversations_own on conversations (agent_id, created_by, id);

-- One message of a person and what the agent does about it. The row of its conversation is always locked first.
create table conversation_runs (
  id uuid primary key,
  conversation_id uuid not null references conversations (id) on delete cascade,
  agent_id uuid not null,
  status text not null default 'queued'
    check (status in ('queued', 'running', 'completed', 'needs_review', 'error', 'cancelled')),
  -- How many agents called each other before this one.
  depth integer not null default 0,
  -- The number of the event with which it began or was continued.
  first_seq bigint not null,
  -- The message that began it.
  message_id uuid not null,
  answer text,
  error jsonb,
  usage jsonb,
  model text,
  trace_id text,
  pending_approvals jsonb,
  -- What people decided, for the next attempt.
  decisions jsonb,
  -- The calls in flight that must not be repeated.
  unsafe_calls jsonb,
  -- Input and output tokens that were used before the budget began: when it was continued.
  tokens_before bigint not null default 0,
  attempts integer not null default 0,
  -- A retry after a failed attempt waits until then.
  not_before timestamptz(3),
  -- The lease of the worker that has it: each claim and each cancel raises the fencing token.
  fencing bigint not null default 0,
  lease_owner text,
  lease_expires_at timestamptz(3),
  created_by text not null,
  created_at timestamptz(3) not null default platform_now(),
  started_at timestamptz(3),
  finished_at timestamptz(3),
  check ((status = 'running') = (lease_expires_at is not null))
);
create unique index conversation_runs_open on conversation_runs (conversation_id)
  where status in ('queued', 'running', 'needs_review');
create index conversation_runs_conversation on conversation_runs (conversation_id, id);
create index conversation_runs_queued on conversation_runs (created_at, id) where status = 'queued';
create index conversation_runs_leases on conversation_runs (lease_expires_at) where status = 'running';

create table conversation_messages (
  conversation_id uuid not null references conversations (id) on delete cascade,
  seq bigint not null generated always as identity,
  id uuid not null unique,
  run_id uuid not null,
  role text not null check (role in ('user', 'assistant', 'tool')),
  -- `json` keeps the order of the keys.
  content json not null,
  -- The reply as its provider gave it: for the next model call, never shown.
  provider_parts json,
  created_at timestamptz(3) not null default platform_now(),
  primary key (conversation_id, seq)
);
create index conversation_messages_run on conversation_messages (run_id, seq);

-- What happened in a conversation, for those who follow it. Written in the transaction of what it tells.
create table stream_events (
  scope uuid not null,
  seq bigint not null,
  run_id uuid not null,
  type text not null,
  -- Of a delta: the message that it is part of.
  message_id uuid,
  data json not null,
  created_at timestamptz(3) not null default platform_now(),
  -- From then on it is not sent any more.
  remove_at timestamptz(3) not null default platform_now() + interval '24 hours',
  primary key (scope, seq)
);
create index stream_events_remove_at on stream_events (remove_at);
create index stream_events_deltas on stream_events (message_id) where message_id is not null;
