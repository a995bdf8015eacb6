-- When the last error of an integration was reported.
alter table telemetry_accounts add column last_error_at timestamptz(3);

-- Once a minute, how far each integration was, over all replicas: what the application draws.
create table telemetry_samples (
  -- observability_integrations.number
  number integer not null,
  -- The start of the minute.
  at timestamptz(3) not null,
  -- Spans delivered, and spans that became dead letters, since the integration was created.
  delivered bigint not null,
  dead_lettered bigint not null,
  queued bigint not null,
  -- The age of the oldest queued span, in seconds; 0 if nothing is queued.
  lag_seconds double precision not null,
  primary key (number, at)
);
create index telemetry_samples_at on telemetry_samples (at);
