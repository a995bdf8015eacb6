-- The telemetry log of the replica, and how large it is: replicas that share a log have the same id.
alter table replicas add column telemetry_log_id uuid, add column telemetry_log_bytes bigint;
-- The replicas that were seen last come first.
create index replicas_seen_at on replicas (seen_at);

-- What was last found wrong with the audit log, until a verification finds that it is right.
create table audit_faults (
  singleton boolean primary key default true check (singleton),
  found_at timestamptz(3) not null default platform_now(),
  -- The first position that does not match; null if only a checkpoint is wrong or gone.
  position bigint,
  fault text not null
);
