create table schedules (
  id uuid primary key,
  agent_id uuid not null references agents (id) on delete cascade,
  cron_expression text not null,
  timezone text not null,
  enabled boolean not null default true,
  catch_up boolean not null default true,
  work_item_name text,
  message text not null default '',
  payload jsonb not null default '{}',
  metadata jsonb not null default '{}',
  -- When it last fired.
  last_run_at timestamptz(3),
  -- The next nominal time; null while paused, and where none can be computed.
  next_run_at timestamptz(3),
  -- The last nominal time that was fired or skipped: a recomputation never goes back to it.
  last_occurrence timestamptz(3),
  -- The version of the time-zone rules that made next_run_at.
  zone_rules text collate "C" not null,
  -- Raised by changes through the API only.
  revision integer not null default 1,
  created_at timestamptz(3) not null default platform_now(),
  updated_at timestamptz(3) not null default platform_now()
);
create index schedules_agent on schedules (agent_id, id);
-- The firing loop reads the head of this index, whatever the number of schedules.
create index schedules_due on schedules (next_run_at) where next_run_at is not null;
create index schedules_zone_rules on schedules (zone_rules) where next_run_at is not null;

-- What happened to each occurrence. Without foreign keys: a herd inserts thousands at once.
create table occurrences (
  id uuid not null,
  schedule_id uuid not null,
  -- The nominal time; of several skipped together, the first.
  scheduled_for timestamptz(3) not null,
  outcome text not null check (outcome in ('fired', 'caught_up', 'skipped', 'manual')),
  work_item_id uuid,
  at timestamptz(3) not null,
  count integer not null default 1,
  reason text,
  primary key (schedule_id, id)
);
create index occurrences_at on occurrences (at);

create function forget_occurrences() returns trigger language plpgsql as $$
begin
  delete from occurrences where schedule_id = old.id;
  return old;
end $$;
create trigger schedules_forget_occurrences after delete on schedules
  for each row execute function forget_occurrences();
