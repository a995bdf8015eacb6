-- The telemetry log on NATS JetStream (TELEMETRY_LOG_URL), as far as it must be agreed on by all replicas: the
-- stream holds what was accepted, these tables how far each integration has come in it.
create table telemetry_streams (
  -- The name under which the stream's counts stand in telemetry_accounts.
  id uuid primary key,
  -- A stream that was made anew under the same name is another one: its sequence numbers begin again.
  name text not null,
  created text not null,
  -- The replica that saves marks, expires and purges.
  keeper uuid,
  kept_until timestamptz(3),
  unique (name, created)
);

-- How far each integration has come; only the owner, with its fencing token, moves it.
create table telemetry_cursors (
  stream_id uuid not null references telemetry_streams (id) on delete cascade,
  number integer not null,
  -- Everything up to this sequence number is passed, and so many of its spans in the next record for it.
  seq bigint not null,
  inside integer not null default 0,
  delivered bigint not null default 0,
  rejected bigint not null default 0,
  dead_lettered bigint not null default 0,
  expired bigint not null default 0,
  discarded bigint not null default 0,
  removed boolean not null default false,
  owner uuid,
  owned_until timestamptz(3),
  -- Raised by each change of the owner.
  fence bigint not null default 0,
  -- Raised by each change: tells an older reading of the row from a newer one.
  version bigint not null default 0,
  primary key (stream_id, number)
);

-- What had been accepted for each integration up to a sequence number, so that a start need not read the stream
-- from its beginning, and the account outlives what is purged.
create table telemetry_marks (
  stream_id uuid not null references telemetry_streams (id) on delete cascade,
  seq bigint not null,
  state jsonb not null,
  primary key (stream_id, seq)
);

create table telemetry_dead_letters (
  stream_id uuid not null references telemetry_streams (id) on delete cascade,
  number integer not null,
  -- The span's place among all that were accepted for the integration.
  ordinal bigint not null,
  at timestamptz(3) not null,
  status integer not null,
  reason text not null,
  -- The span as an ExportTraceServiceRequest.
  span bytea not null,
  primary key (stream_id, number, ordinal)
);
create index telemetry_dead_letters_at on telemetry_dead_letters (stream_id, at);
