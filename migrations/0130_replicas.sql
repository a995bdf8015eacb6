-- Who runs: a row for each start of a process, kept for a week after it was last seen.
create table replicas (
  id uuid primary key,
  -- Of the machine.
  name text not null,
  roles text[] not null,
  version text not null,
  started_at timestamptz(3) not null default platform_now(),
  seen_at timestamptz(3) not null default platform_now(),
  -- When its firing loop was last seen at work; null if it never was.
  scheduling_at timestamptz(3),
  -- When it was stopped in order; null while it runs, and if it was lost.
  stopped_at timestamptz(3),
  -- The clock of the machine minus that of the database; null before the second heartbeat.
  clock_skew_ms bigint,
  -- What its loops last did: [{name, idle_ms, error}], idle_ms being how long before seen_at a pass last ended.
  loops jsonb not null default '[]'
);
create index replicas_scheduling_at on replicas (scheduling_at) where scheduling_at is not null;

-- When no replica was scheduling. The first one that is at work again writes it, because only then its end is known.
create table scheduling_outages (
  from_at timestamptz(3) primary key,
  to_at timestamptz(3) not null,
  cause text not null check (cause in ('stopped', 'lost', 'database', 'firing', 'stalled', 'clock'))
);
create index scheduling_outages_to_at on scheduling_outages (to_at);
