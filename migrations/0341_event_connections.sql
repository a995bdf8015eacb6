-- Brokers whose messages triggers read.
create table event_connections (
  id uuid primary key,
  name text not null,
  kind text not null check (kind in ('nats', 'kafka')),
  -- Servers, TLS and credentials: sealed JSON, bound to its table, row and column.
  settings text not null,
  created_by text not null,
  revision integer not null default 1,
  created_at timestamptz(3) not null default platform_now(),
  updated_at timestamptz(3) not null default platform_now()
);
create unique index event_connections_name on event_connections (lower(name));
