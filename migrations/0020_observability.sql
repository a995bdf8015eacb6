create table observability_integrations (
  id uuid primary key,
  -- What the telemetry log knows an integration by: never given twice.
  number integer not null generated always as identity unique,
  provider text not null check (provider in ('hosted_dashboard', 'llm_tracing', 'otlp_basic_auth', 'otlp_custom_headers')),
  is_enabled boolean not null,
  -- The other settings, credentials among them: encrypted JSON, bound to this row.
  settings text not null,
  version text not null,
  description text,
  is_system boolean not null,
  debug boolean not null,
  -- Raised by changes through the API: the ETag.
  revision integer not null default 1,
  created_at timestamptz(3) not null default platform_now(),
  updated_at timestamptz(3) not null default platform_now()
);

create table observability_scopes (
  integration_id uuid not null references observability_integrations (id) on delete cascade,
  scope text not null check (scope in ('global', 'agent')),
  agent_id uuid references agents (id) on delete cascade,
  created_at timestamptz(3) not null default platform_now(),
  check ((scope = 'agent') = (agent_id is not null)),
  unique nulls not distinct (integration_id, agent_id)
);
create index observability_scopes_agent_id on observability_scopes (agent_id);

-- Who read an integration's credentials within the last hour, and so is in the audit log for it already.
create table observability_credential_reads (
  principal_id text not null,
  integration_id uuid not null references observability_integrations (id) on delete cascade,
  read_at timestamptz(3) not null default platform_now(),
  primary key (principal_id, integration_id)
);
create index observability_credential_reads_read_at on observability_credential_reads (read_at);

-- Every replica keeps the integrations in memory and hears of each change here, also of one that comes from
-- elsewhere: deleting an agent deletes its scopes.
create function observability_changed() returns trigger language plpgsql as $$
begin
  perform pg_notify('observability', '');
  return null;
end $$;
create trigger observability_integrations_changed after insert or update or delete on observability_integrations
  for each statement execute function observability_changed();
create trigger observability_scopes_changed after insert or update or delete on observability_scopes
  for each statement execute function observability_changed();
