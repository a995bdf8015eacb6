-- Places in which people are told of reviews and alerts.
create table channels (
  id uuid primary key,
  name text not null,
  kind text not null check (kind in ('slack', 'email', 'webhook', 'teams', 'pagerduty')),
  enabled boolean not null,
  include_arguments boolean not null,
  -- Addresses, tokens and secrets: sealed JSON, bound to its table, row and column.
  settings text not null,
  -- Those of an e-mail channel, for whom there is a message each.
  recipients text[] not null default '{}',
  -- What came of the last attempt with the present settings.
  state text not null default 'unknown' check (state in ('unknown', 'ok', 'failing')),
  last_success_at timestamptz(3),
  last_error text,
  failing_since timestamptz(3),
  -- Nothing is sent before this: the receiver asked for it.
  paused_until timestamptz(3),
  created_by text not null,
  revision integer not null default 1,
  created_at timestamptz(3) not null default platform_now(),
  updated_at timestamptz(3) not null default platform_now()
);
create unique index channels_name on channels (lower(name));

-- Which channels are told of which reviews and alerts, and when.
create table routes (
  id uuid primary key,
  name text not null,
  enabled boolean not null,
  position integer not null,
  "for" text not null check ("for" in ('reviews', 'alerts')),
  match jsonb not null,
  steps jsonb not null,
  decide_role text check (decide_role in ('member', 'builder', 'admin')),
  created_by text not null,
  revision integer not null default 1,
  created_at timestamptz(3) not null default platform_now(),
  updated_at timestamptz(3) not null default platform_now()
);

-- One row for each review or alert, channel and recipient: what that recipient last saw of it. It is a view of the review
-- or alert, whose row is the truth.
create table channel_messages (
  id uuid primary key,
  subject_type text not null check (subject_type in ('review', 'alert')),
  subject_id uuid not null,
  -- The channel may be gone; its name stays.
  channel_id uuid not null,
  channel_name text not null,
  -- `channel`, or the id of a person.
  recipient text not null,
  recipient_name text,
  state text not null default 'pending' check (state in ('pending', 'delivered', 'failed')),
  -- Raised by each change that has to be shown. An attempt that showed an older one leaves the message pending.
  version integer not null default 1,
  attempts integer not null default 0,
  failures integer not null default 0,
  last_error text,
  next_attempt_at timestamptz(3) default platform_now(),
  -- While an attempt is in flight no other replica sends it.
  leased_until timestamptz(3),
  -- When it was last made due: it is given up a day later.
  due_since timestamptz(3) not null default platform_now(),
  -- What was posted, and what the receiver calls it; null before the first.
  posted jsonb,
  delivered_at timestamptz(3),
  created_at timestamptz(3) not null default platform_now(),
  unique (subject_id, channel_id, recipient)
);
create index channel_messages_pending on channel_messages (channel_id, (posted is null), next_attempt_at)
  where state = 'pending';

-- Steps of routes that were copied when a review or an alert opened, and that are not sent yet.
create table route_steps (
  id uuid primary key default new_id(),
  subject_type text not null check (subject_type in ('review', 'alert')),
  subject_id uuid not null,
  channel_id uuid not null,
  -- `to` of the step.
  recipients jsonb not null,
  due_at timestamptz(3) not null
);
create index route_steps_due on route_steps (due_at);
create index route_steps_subject on route_steps (subject_id);
