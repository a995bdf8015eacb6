-- Extractions of data from documents. The documents themselves are not kept.
create table extractions (
  id uuid primary key,
  status text not null check (status in ('PENDING', 'RUNNING', 'COMPLETED', 'ERROR')),
  -- Sealed: what was read and found.
  record text not null,
  created_by text not null,
  -- The replica that does it, which writes alive_at every few seconds.
  replica text not null,
  alive_at timestamptz(3) not null default platform_now(),
  created_at timestamptz(3) not null default platform_now(),
  finished_at timestamptz(3),
  check ((finished_at is not null) = (status in ('COMPLETED', 'ERROR')))
);
create index extractions_open on extractions (alive_at) where finished_at is null;
create index extractions_finished on extractions (finished_at) where finished_at is not null;
