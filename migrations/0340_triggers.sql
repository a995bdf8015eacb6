-- Event triggers: each distinct event becomes at most one Work Item of a Worker agent.
create table triggers (
  id uuid primary key,
  agent_id uuid not null references agents (id) on delete cascade,
  name text not null,
  kind text not null check (kind in ('webhook', 'nats', 'kafka', 'work_item', 'absence')),
  -- The settings of the kind with their secrets, sealed.
  settings text not null,
  -- What statements need of the settings.
  scheme text,
  connection_id uuid,
  watched_agent_id uuid,
  watched_trigger_id uuid,
  watched_statuses text[],
  enabled boolean not null default true,
  filter text,
  mapping jsonb not null,
  dedup jsonb,
  rate_limit jsonb,
  previous_secret_expires_at timestamptz(3),
  -- Why it cannot receive events, in the words of whoever tried last.
  blocked_reason text,
  -- When something is missing (kind absence).
  due_at timestamptz(3),
  -- When the bucket of rate_limit is full again, in milliseconds since 1970, not rounded.
  bucket_full_at double precision,
  -- Raised by changes through the API only.
  revision integer not null default 1,
  created_at timestamptz(3) not null default platform_now(),
  updated_at timestamptz(3) not null default platform_now()
);
create unique index triggers_name on triggers (agent_id, lower(name));
create index triggers_agent on triggers (agent_id, id);
create index triggers_due on triggers (due_at) where due_at is not null;
create index triggers_connection on triggers (connection_id) where connection_id is not null;
create index triggers_watched on triggers (watched_trigger_id) where watched_trigger_id is not null;
-- Read by every change of status of a Work Item.
create index triggers_transitions on triggers (id) where kind = 'work_item';

-- The versions of a definition, with who made them and why.
create table trigger_definitions (
  trigger_id uuid not null references triggers (id) on delete cascade,
  revision integer not null,
  from_at timestamptz(3) not null,
  enabled boolean not null,
  -- {name, settings (without secrets), filter, mapping, dedup, rate_limit}
  definition jsonb not null,
  action text not null,
  -- {kind, id, name}
  principal jsonb not null,
  reason text,
  -- The fields that a replacement changed.
  changed text[],
  primary key (trigger_id, revision)
);
create index trigger_definitions_replaced on trigger_definitions (from_at) where revision > 1;

-- The ledger: each distinct event of a trigger, and what came of it. Without foreign keys: a storm inserts thousands a
-- second, and the deletion of a trigger must not wait for its events, which retention deletes.
create table trigger_events (
  id uuid primary key,
  trigger_id uuid not null,
  -- SHA-256 of what makes the event the same one again.
  identity bytea not null,
  -- The name that the sender gave the event.
  event_id text collate "C" not null,
  -- Place in the stream or partition of a broker.
  position text collate "C",
  type text,
  at timestamptz(3) not null,
  outcome text not null check (outcome in ('invalid', 'paused', 'filtered', 'duplicate', 'limited', 'fired', 'manual', 'lost', 'pending')),
  reason text,
  work_item_id uuid,
  starts_at timestamptz(3),
  original_id uuid,
  deliveries integer not null default 1,
  -- Deliveries with another body than the first.
  differing integer not null default 0,
  last_delivery_at timestamptz(3) not null,
  body_hash bytea,
  -- Of the Work Item: how many agents and triggers came before it.
  depth integer not null default 0,
  -- The revision of the trigger that decided.
  revision integer not null,
  -- {kind, id, name}; who redelivered it.
  principal jsonb,
  -- The event of a change of status, until it is judged.
  pending_event jsonb
);
create unique index trigger_events_identity on trigger_events (trigger_id, identity);
create index trigger_events_list on trigger_events (trigger_id, at, id);
create index trigger_events_outcome on trigger_events (trigger_id, outcome, at, id);
create index trigger_events_name on trigger_events (trigger_id, event_id, at);
create index trigger_events_position on trigger_events (trigger_id, position) where position is not null;
create index trigger_events_at on trigger_events (at);
create index trigger_events_pending on trigger_events (id) where outcome = 'pending';

-- Headers and raw bodies, sealed, for a few days.
create table trigger_event_bodies (
  id uuid primary key,
  at timestamptz(3) not null,
  content text not null
);
create index trigger_event_bodies_at on trigger_event_bodies (at);

-- What `dedup` remembers: the event that started a Work Item for a key, and when.
create table trigger_dedup_keys (
  trigger_id uuid not null,
  -- SHA-256 of the key.
  key bytea not null,
  event_id uuid not null,
  at timestamptz(3) not null,
  primary key (trigger_id, key)
);
create index trigger_dedup_keys_at on trigger_dedup_keys (at);

-- Counts of a minute: by outcome, and `refused` with a reason and `repeated`. A row for each replica, so that they do not
-- wait for each other.
create table trigger_event_counts (
  trigger_id uuid not null,
  minute timestamptz(3) not null,
  replica_id uuid not null,
  outcome text not null,
  reason text not null default '',
  count integer not null,
  primary key (trigger_id, minute, outcome, reason, replica_id)
);
create index trigger_event_counts_minute on trigger_event_counts (minute);

-- The trigger that made a Work Item, and the entry of its ledger.
alter table work_items add column trigger_id uuid, add column occurrence_id uuid;
-- At most one Work Item an event, whoever stores it and however often.
create unique index work_items_event on work_items (occurrence_id) where occurrence_id is not null;
create index work_items_trigger on work_items (trigger_id, id) where trigger_id is not null;
create index work_items_by_trigger on work_items (trigger_id, status, created_at, id)
  where status not in ('PENDING', 'EXECUTING') and trigger_id is not null;
-- What keys and people created: no event of a trigger is in it.
drop index work_items_by_hand;
create index work_items_by_hand on work_items (by_person, status, created_at, id)
  where status not in ('PENDING', 'EXECUTING') and occurrence is null and created_by <> 'trigger';
