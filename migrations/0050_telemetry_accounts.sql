-- What each replica's own telemetry log says of each integration, so that any replica can tell the whole. Rows
-- of integrations that are gone and of replicas that are gone stay: their counts are part of the account.
create table telemetry_accounts (
  -- Made once for each telemetry folder, and kept in it.
  replica_id uuid not null,
  -- observability_integrations.number, which is never given twice.
  number integer not null,
  delivered bigint not null,
  rejected bigint not null,
  dead_lettered bigint not null,
  expired bigint not null,
  discarded bigint not null,
  queued bigint not null,
  backlog_bytes bigint not null,
  -- When the oldest queued span was accepted.
  oldest_at timestamptz(3),
  state text not null check (state in ('delivering', 'retrying', 'paused', 'disabled')),
  last_success_at timestamptz(3),
  last_error text,
  next_attempt_at timestamptz(3),
  updated_at timestamptz(3) not null default platform_now(),
  primary key (number, replica_id)
);
