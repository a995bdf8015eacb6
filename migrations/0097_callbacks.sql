-- A new id, a UUID version 7 (RFC 9562), for rows that a statement makes by itself.
create function new_id() returns uuid language sql volatile as $$
  select encode(set_bit(set_bit(overlay(uuid_send(gen_random_uuid())
    placing substring(int8send((extract(epoch from clock_timestamp()) * 1000)::bigint) from 3) from 1 for 6),
    52, 1), 53, 1), 'hex')::uuid
$$;

-- Who is notified of a Work Item, or of all Work Items of an agent. A row never changes. One that is taken off an agent
-- stays while deliveries need it.
create table callbacks (
  id uuid primary key,
  -- No foreign key: when an agent is deleted, the end of its Work Items is still delivered.
  agent_id uuid,
  work_item_id uuid references work_items (id) on delete cascade,
  url text not null,
  -- Of the url.
  origin text not null,
  events text[] not null,
  -- Sealed: the signing secret and the headers.
  settings text not null,
  removed_at timestamptz(3),
  created_at timestamptz(3) not null default platform_now(),
  check (num_nonnulls(agent_id, work_item_id) = 1)
);
create index callbacks_agent on callbacks (agent_id) where agent_id is not null and removed_at is null;
create index callbacks_work_item on callbacks (work_item_id) where work_item_id is not null;
create index callbacks_removed on callbacks (removed_at) where removed_at is not null;

-- One row a transition and callback, written in the transition's transaction. The id is the `webhook-id`.
create table callback_deliveries (
  id uuid primary key default new_id(),
  callback_id uuid not null references callbacks (id) on delete cascade,
  work_item_id uuid not null references work_items (id) on delete cascade,
  event text not null,
  -- What the body says.
  agent_id uuid not null,
  schedule_id uuid,
  work_item_name text,
  status text not null,
  previous_status text,
  created_at timestamptz(3) not null default platform_now(),
  -- Where it goes; the origin is that of the url, so that one that hangs does not delay the others.
  url text not null,
  origin text not null,
  state text not null default 'pending' check (state in ('pending', 'delivered', 'failed', 'gone')),
  -- Raised by each claim, so that only the last one may write the result.
  attempts integer not null default 0,
  -- Since it was recorded or a person retried it: the place in the retry table.
  failures integer not null default 0,
  last_status integer,
  last_error text,
  -- When it is due; while it is in flight, when its lease ends.
  next_attempt_at timestamptz(3) default platform_now(),
  delivered_at timestamptz(3),
  check ((state = 'pending') = (next_attempt_at is not null))
);
create index callback_deliveries_due on callback_deliveries (origin, next_attempt_at) where state = 'pending';
create index callback_deliveries_item on callback_deliveries (work_item_id, id);
create index callback_deliveries_callback on callback_deliveries (callback_id);

-- Whoever writes a row wakes the delivery: a firing writes it inside a larger statement.
create function callback_delivery_recorded() returns trigger language plpgsql as $$
begin
  perform pg_notify('callbacks', '');
  return null;
end $$;
create trigger callback_delivery_recorded after insert on callback_deliveries
  for each row execute function callback_delivery_recorded();
