-- Databases of the company that semantic data models read.
create table data_connections (
  id uuid primary key,
  name text not null,
  description text,
  engine text not null check (engine in ('postgres', 'mysql', 'sqlite')),
  -- Sealed JSON, bound to its table, row and column.
  settings text not null,
  tags text[] not null default '{}',
  -- What came of the last attempt to use it. It is not part of the revision.
  state text not null default 'unverified' check (state in ('ok', 'unreachable', 'unverified')),
  checked_at timestamptz(3),
  detail text,
  created_by text not null,
  revision integer not null default 1,
  created_at timestamptz(3) not null default platform_now(),
  updated_at timestamptz(3) not null default platform_now()
);
create index data_connections_engine on data_connections (engine, id);
