-- The schema after all migrations, printed by `npm run schema`. To read, not to run: the migrations are the truth.

create table advanced_settings (
  name text not null,
  value jsonb not null,
  updated_at timestamp(3) with time zone default platform_now() not null,
  constraint advanced_settings_pkey PRIMARY KEY (name)
);

create table agents (
  id uuid not null,
  name text not null,
  description text,
  mode text not null,
  instructions text default ''::text not null,
  llm_id uuid,
  model text,
  tool_server_ids uuid[] default '{}'::uuid[] not null,
  semantic_data_model_ids uuid[] default '{}'::uuid[] not null,
  max_concurrency integer not null,
  max_attempts integer not null,
  timeout_seconds integer not null,
  max_steps integer not null,
  revision integer default 1 not null,
  created_at timestamp(3) with time zone default platform_now() not null,
  updated_at timestamp(3) with time zone default platform_now() not null,
  constraint agents_pkey PRIMARY KEY (id),
  constraint agents_llm_id_fkey FOREIGN KEY (llm_id) REFERENCES llm_configurations(id),
  constraint agents_max_attempts_check CHECK (((max_attempts >= 1) AND (max_attempts <= 100))),
  constraint agents_max_concurrency_check CHECK (((max_concurrency >= 1) AND (max_concurrency <= 1000))),
  constraint agents_max_steps_check CHECK (((max_steps >= 1) AND (max_steps <= 1000))),
  constraint agents_mode_check CHECK ((mode = ANY (ARRAY['worker'::text, 'conversational'::text]))),
  constraint agents_timeout_seconds_check CHECK (((timeout_seconds >= 1) AND (timeout_seconds <= 86400)))
);
CREATE INDEX agents_llm_id ON agents USING btree (llm_id) WHERE (llm_id IS NOT NULL);

create table api_keys (
  id uuid not null,
  name text not null,
  kind text not null,
  role text,
  user_id uuid,
  value_hash text not null,
  prefix text not null,
  created_by text not null,
  created_at timestamp(3) with time zone default platform_now() not null,
  last_used_at timestamp(3) with time zone,
  expires_at timestamp(3) with time zone,
  constraint api_keys_pkey PRIMARY KEY (id),
  constraint api_keys_check CHECK (((kind = 'personal'::text) = (user_id IS NOT NULL))),
  constraint api_keys_check1 CHECK (((kind = 'service_account'::text) = (role IS NOT NULL))),
  constraint api_keys_kind_check CHECK ((kind = ANY (ARRAY['service_account'::text, 'personal'::text]))),
  constraint api_keys_role_check CHECK ((role = ANY (ARRAY['member'::text, 'builder'::text, 'admin'::text]))),
  constraint api_keys_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id) ON DELETE CASCADE,
  constraint api_keys_value_hash_key UNIQUE (value_hash)
);
CREATE INDEX api_keys_created_by ON api_keys USING btree (created_by);

create table audits (
  id uuid not null,
  at timestamp(3) with time zone default platform_now() not null,
  principal_kind text not null,
  principal_id text not null,
  principal_name text not null,
  action text not null,
  target_type text not null,
  target_id text,
  outcome text not null,
  details jsonb not null,
  request_id text,
  "position" bigint,
  hash text,
  constraint audits_pkey PRIMARY KEY (id),
  constraint audits_outcome_check CHECK ((outcome = ANY (ARRAY['done'::text, 'refused'::text]))),
  constraint audits_position_key UNIQUE ("position")
);
CREATE INDEX audits_action ON audits USING btree (action, id);
CREATE INDEX audits_outcome ON audits USING btree (outcome, id);
CREATE INDEX audits_principal ON audits USING btree (principal_id, id);
CREATE INDEX audits_target ON audits USING btree (target_type, target_id, id);
CREATE INDEX audits_unchained ON audits USING btree (id) WHERE ("position" IS NULL);
CREATE TRIGGER audits_append_only BEFORE DELETE OR UPDATE ON audits FOR EACH ROW EXECUTE FUNCTION audits_append_only();

create table branding (
  only_row boolean default true not null,
  workspace_name text default ''::text not null,
  logo_data_url text default ''::text not null,
  logo_dark_data_url text default ''::text not null,
  primary_color text default ''::text not null,
  revision integer default 1 not null,
  updated_at timestamp(3) with time zone,
  constraint branding_pkey PRIMARY KEY (only_row),
  constraint branding_only_row_check CHECK (only_row)
);

create table idempotency_keys (
  principal_id text not null,
  key text not null,
  request_hash text not null,
  answer text,
  created_at timestamp(3) with time zone default platform_now() not null,
  constraint idempotency_keys_pkey PRIMARY KEY (principal_id, key)
);
CREATE INDEX idempotency_keys_created_at ON idempotency_keys USING btree (created_at);

create table llm_configurations (
  id uuid not null,
  name text not null,
  kind text not null,
  model text not null,
  base_url text,
  api_key text,
  headers text,
  created_at timestamp(3) with time zone default platform_now() not null,
  updated_at timestamp(3) with time zone default platform_now() not null,
  settings text,
  revision integer default 1 not null,
  constraint llm_configurations_pkey PRIMARY KEY (id)
);
CREATE TRIGGER llm_configurations_settings BEFORE UPDATE ON llm_configurations FOR EACH ROW EXECUTE FUNCTION llm_configurations_settings();

create table llm_defaults (
  only_row boolean default true not null,
  llm_id uuid not null,
  constraint llm_defaults_pkey PRIMARY KEY (only_row),
  constraint llm_defaults_llm_id_fkey FOREIGN KEY (llm_id) REFERENCES llm_configurations(id),
  constraint llm_defaults_only_row_check CHECK (only_row)
);

create table migrations (
  name text not null,
  applied_at timestamp(3) with time zone default now() not null,
  constraint migrations_pkey PRIMARY KEY (name)
);

create table observability_credential_reads (
  principal_id text not null,
  integration_id uuid not null,
  read_at timestamp(3) with time zone default platform_now() not null,
  constraint observability_credential_reads_pkey PRIMARY KEY (principal_id, integration_id),
  constraint observability_credential_reads_integration_id_fkey FOREIGN KEY (integration_id) REFERENCES observability_integrations(id) ON DELETE CASCADE
);
CREATE INDEX observability_credential_reads_read_at ON observability_credential_reads USING btree (read_at);

create table observability_deleted_integrations (
  number integer not null,
  id uuid not null,
  constraint observability_deleted_integrations_pkey PRIMARY KEY (number)
);

create table observability_integrations (
  id uuid not null,
  number integer generated always as identity not null,
  provider text not null,
  is_enabled boolean not null,
  settings text not null,
  version text,
  description text,
  is_system boolean not null,
  debug boolean not null,
  revision integer default 1 not null,
  created_at timestamp(3) with time zone default platform_now() not null,
  updated_at timestamp(3) with time zone default platform_now() not null,
  constraint observability_integrations_pkey PRIMARY KEY (id),
  constraint observability_integrations_number_key UNIQUE (number),
  constraint observability_integrations_provider_check CHECK ((provider = ANY (ARRAY['hosted_dashboard'::text, 'llm_tracing'::text, 'otlp_basic_auth'::text, 'otlp_custom_headers'::text])))
);
CREATE TRIGGER observability_integration_deleted AFTER DELETE ON observability_integrations FOR EACH ROW EXECUTE FUNCTION observability_integration_deleted();
CREATE TRIGGER observability_integrations_changed AFTER INSERT OR DELETE OR UPDATE ON observability_integrations FOR EACH STATEMENT EXECUTE FUNCTION observability_changed();

create table observability_scopes (
  integration_id uuid not null,
  scope text not null,
  agent_id uuid,
  created_at timestamp(3) with time zone default platform_now() not null,
  constraint observability_scopes_agent_id_fkey FOREIGN KEY (agent_id) REFERENCES agents(id) ON DELETE CASCADE,
  constraint observability_scopes_check CHECK (((scope = 'agent'::text) = (agent_id IS NOT NULL))),
  constraint observability_scopes_integration_id_agent_id_key UNIQUE NULLS NOT DISTINCT (integration_id, agent_id),
  constraint observability_scopes_integration_id_fkey FOREIGN KEY (integration_id) REFERENCES observability_integrations(id) ON DELETE CASCADE,
  constraint observability_scopes_scope_check CHECK ((scope = ANY (ARRAY['global'::text, 'agent'::text])))
);
CREATE INDEX observability_scopes_agent_id ON observability_scopes USING btree (agent_id);
CREATE TRIGGER observability_scopes_changed AFTER INSERT OR DELETE OR UPDATE ON observability_scopes FOR EACH STATEMENT EXECUTE FUNCTION observability_changed();

create table occurrences (
  id uuid not null,
  schedule_id uuid not null,
  scheduled_for timestamp(3) with time zone not null,
  outcome text not null,
  work_item_id uuid,
  at timestamp(3) with time zone not null,
  count integer default 1 not null,
  reason text,
  constraint occurrences_pkey PRIMARY KEY (schedule_id, id),
  constraint occurrences_outcome_check CHECK ((outcome = ANY (ARRAY['fired'::text, 'caught_up'::text, 'skipped'::text, 'manual'::text])))
);
CREATE INDEX occurrences_at ON occurrences USING btree (at);
CREATE INDEX occurrences_scheduled_for ON occurrences USING btree (schedule_id, scheduled_for);
CREATE INDEX occurrences_together ON occurrences USING btree (schedule_id, scheduled_for) WHERE (count > 1);

create table schedule_definitions (
  schedule_id uuid not null,
  revision integer not null,
  from_at timestamp(3) with time zone not null,
  cron_expression text not null,
  timezone text not null,
  enabled boolean not null,
  constraint schedule_definitions_pkey PRIMARY KEY (schedule_id, revision),
  constraint schedule_definitions_schedule_id_fkey FOREIGN KEY (schedule_id) REFERENCES schedules(id) ON DELETE CASCADE
);

create table schedules (
  id uuid not null,
  agent_id uuid not null,
  cron_expression text not null,
  timezone text not null,
  enabled boolean default true not null,
  catch_up boolean default true not null,
  work_item_name text,
  message text default ''::text not null,
  payload jsonb default '{}'::jsonb not null,
  metadata jsonb default '{}'::jsonb not null,
  last_run_at timestamp(3) with time zone,
  next_run_at timestamp(3) with time zone,
  last_occurrence timestamp(3) with time zone,
  zone_rules text not null,
  revision integer default 1 not null,
  created_at timestamp(3) with time zone default platform_now() not null,
  updated_at timestamp(3) with time zone default platform_now() not null,
  constraint schedules_pkey PRIMARY KEY (id),
  constraint schedules_agent_id_fkey FOREIGN KEY (agent_id) REFERENCES agents(id) ON DELETE CASCADE
);
CREATE INDEX schedules_agent ON schedules USING btree (agent_id, id);
CREATE INDEX schedules_due ON schedules USING btree (next_run_at) WHERE (next_run_at IS NOT NULL);
CREATE INDEX schedules_zone_rules ON schedules USING btree (zone_rules);
CREATE TRIGGER schedules_forget_occurrences AFTER DELETE ON schedules FOR EACH ROW EXECUTE FUNCTION forget_occurrences();

create table telemetry_accounts (
  replica_id uuid not null,
  number integer not null,
  delivered bigint not null,
  rejected bigint not null,
  dead_lettered bigint not null,
  expired bigint not null,
  discarded bigint not null,
  queued bigint not null,
  backlog_bytes bigint not null,
  oldest_at timestamp(3) with time zone,
  state text not null,
  last_success_at timestamp(3) with time zone,
  last_error text,
  next_attempt_at timestamp(3) with time zone,
  updated_at timestamp(3) with time zone default platform_now() not null,
  constraint telemetry_accounts_pkey PRIMARY KEY (number, replica_id),
  constraint telemetry_accounts_state_check CHECK ((state = ANY (ARRAY['delivering'::text, 'retrying'::text, 'paused'::text, 'disabled'::text])))
);

create table telemetry_cursors (
  stream_id uuid not null,
  number integer not null,
  seq bigint not null,
  inside integer default 0 not null,
  delivered bigint default 0 not null,
  rejected bigint default 0 not null,
  dead_lettered bigint default 0 not null,
  expired bigint default 0 not null,
  discarded bigint default 0 not null,
  removed boolean default false not null,
  owner uuid,
  owned_until timestamp(3) with time zone,
  fence bigint default 0 not null,
  version bigint default 0 not null,
  constraint telemetry_cursors_pkey PRIMARY KEY (stream_id, number),
  constraint telemetry_cursors_stream_id_fkey FOREIGN KEY (stream_id) REFERENCES telemetry_streams(id) ON DELETE CASCADE
);

create table telemetry_dead_letters (
  stream_id uuid not null,
  number integer not null,
  ordinal bigint not null,
  at timestamp(3) with time zone not null,
  status integer not null,
  reason text not null,
  span bytea not null,
  constraint telemetry_dead_letters_pkey PRIMARY KEY (stream_id, number, ordinal),
  constraint telemetry_dead_letters_stream_id_fkey FOREIGN KEY (stream_id) REFERENCES telemetry_streams(id) ON DELETE CASCADE
);
CREATE INDEX telemetry_dead_letters_at ON telemetry_dead_letters USING btree (stream_id, at);

create table telemetry_marks (
  stream_id uuid not null,
  seq bigint not null,
  state jsonb not null,
  constraint telemetry_marks_pkey PRIMARY KEY (stream_id, seq),
  constraint telemetry_marks_stream_id_fkey FOREIGN KEY (stream_id) REFERENCES telemetry_streams(id) ON DELETE CASCADE
);

create table telemetry_streams (
  id uuid not null,
  name text not null,
  created text not null,
  keeper uuid,
  kept_until timestamp(3) with time zone,
  constraint telemetry_streams_pkey PRIMARY KEY (id),
  constraint telemetry_streams_name_created_key UNIQUE (name, created)
);

create table users (
  id uuid not null,
  subject text not null,
  email text,
  name text not null,
  role text not null,
  created_at timestamp(3) with time zone default platform_now() not null,
  updated_at timestamp(3) with time zone default platform_now() not null,
  constraint users_pkey PRIMARY KEY (id),
  constraint users_role_check CHECK ((role = ANY (ARRAY['member'::text, 'builder'::text, 'admin'::text]))),
  constraint users_subject_key UNIQUE (subject)
);

create table work_item_events (
  work_item_id uuid not null,
  seq bigint generated always as identity not null,
  id uuid not null,
  from_status text,
  to_status text not null,
  action text not null,
  principal jsonb not null,
  details jsonb not null,
  at timestamp(3) with time zone default platform_now() not null,
  constraint work_item_events_pkey PRIMARY KEY (work_item_id, seq)
);

create table work_item_messages (
  work_item_id uuid not null,
  seq bigint generated always as identity not null,
  id uuid not null,
  conversation_id uuid not null,
  role text not null,
  content jsonb not null,
  created_at timestamp(3) with time zone default platform_now() not null,
  constraint work_item_messages_pkey PRIMARY KEY (work_item_id, seq),
  constraint work_item_messages_work_item_id_fkey FOREIGN KEY (work_item_id) REFERENCES work_items(id) ON DELETE CASCADE
);

create table work_items (
  id uuid not null,
  agent_id uuid not null,
  schedule_id uuid,
  occurrence timestamp(3) with time zone,
  work_item_name text,
  message text not null,
  payload jsonb not null,
  status text not null,
  result jsonb,
  error jsonb,
  usage jsonb,
  attempts integer default 0 not null,
  created_by text not null,
  created_at timestamp(3) with time zone default platform_now() not null,
  updated_at timestamp(3) with time zone default platform_now() not null,
  started_at timestamp(3) with time zone,
  finished_at timestamp(3) with time zone,
  cancel_requested_at timestamp(3) with time zone,
  conversation_id uuid not null,
  not_before timestamp(3) with time zone,
  fencing bigint default 0 not null,
  lease_owner text,
  lease_expires_at timestamp(3) with time zone,
  unsafe_tool_in_flight boolean default false not null,
  trace_id text,
  constraint work_items_pkey PRIMARY KEY (id),
  constraint work_items_check CHECK (((status = 'EXECUTING'::text) = (lease_expires_at IS NOT NULL))),
  constraint work_items_status_check CHECK ((status = ANY (ARRAY['DRAFT'::text, 'PENDING'::text, 'EXECUTING'::text, 'NEEDS_REVIEW'::text, 'INDETERMINATE'::text, 'COMPLETED'::text, 'ERROR'::text, 'CANCELLED'::text])))
);
CREATE INDEX work_items_agent ON work_items USING btree (agent_id, id);
CREATE INDEX work_items_finished ON work_items USING btree (finished_at) WHERE (finished_at IS NOT NULL);
CREATE INDEX work_items_leases ON work_items USING btree (lease_expires_at) INCLUDE (agent_id) WHERE (status = 'EXECUTING'::text);
CREATE INDEX work_items_not_before ON work_items USING btree (not_before) WHERE ((status = 'PENDING'::text) AND (not_before IS NOT NULL));
CREATE INDEX work_items_pending ON work_items USING btree (created_at, id) INCLUDE (agent_id, not_before) WHERE (status = 'PENDING'::text);
CREATE INDEX work_items_queue ON work_items USING btree (agent_id, created_at, id) WHERE ((status = 'PENDING'::text) AND (not_before IS NULL));
CREATE UNIQUE INDEX work_items_occurrence ON work_items USING btree (schedule_id, occurrence);

CREATE OR REPLACE FUNCTION public.audits_append_only()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  if tg_op = 'UPDATE' and old.position is null and new.position is not null
    and (to_jsonb(new) - 'position' - 'hash') = (to_jsonb(old) - 'position' - 'hash') then
    return new;
  end if;
  raise exception 'the audit log is append-only';
end $function$;

CREATE OR REPLACE FUNCTION public.forget_occurrences()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  delete from occurrences where schedule_id = old.id;
  return old;
end $function$;

CREATE OR REPLACE FUNCTION public.llm_configurations_settings()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  if new.settings is not distinct from old.settings
    and (new.base_url, new.api_key, new.headers) is distinct from (old.base_url, old.api_key, old.headers) then
    new.settings := null;
  end if;
  return new;
end $function$;

CREATE OR REPLACE FUNCTION public.observability_changed()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  perform pg_notify('observability', '');
  return null;
end $function$;

CREATE OR REPLACE FUNCTION public.observability_integration_deleted()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  -- A database restored to before the telemetry log may have given a number again: the delete must not fail for it.
  insert into observability_deleted_integrations (number, id) values (old.number, old.id)
    on conflict (number) do update set id = excluded.id;
  return null;
end $function$;

CREATE OR REPLACE FUNCTION public.platform_now()
 RETURNS timestamp with time zone
 LANGUAGE sql
 STABLE
AS $function$
  select (statement_timestamp()
    + coalesce(nullif(current_setting('platform.clock_offset_ms', true), ''), '0')::bigint * interval '1 millisecond'
  )::timestamptz(3)
$function$;

