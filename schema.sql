-- The schema after all migrations, printed by `npm run schema`. To read, not to run: the migrations are the truth.

create table advanced_settings (
  name text not null,
  value jsonb not null,
  updated_at timestamp(3) with time zone default platform_now() not null,
  constraint advanced_settings_pkey PRIMARY KEY (name)
);

create table agent_publications (
  id uuid not null,
  agent_id uuid not null,
  kind text not null,
  state text not null,
  from_version integer,
  version integer not null,
  note text,
  reason text,
  overridden boolean default false not null,
  published_by jsonb,
  created_at timestamp(3) with time zone default platform_now() not null,
  finished_at timestamp(3) with time zone,
  gate jsonb,
  gate_rules jsonb,
  check_only boolean default false not null,
  verdict_key text,
  constraint agent_publications_pkey PRIMARY KEY (id),
  constraint agent_publications_agent_id_fkey FOREIGN KEY (agent_id) REFERENCES agents(id) ON DELETE CASCADE,
  constraint agent_publications_kind_check CHECK ((kind = ANY (ARRAY['automatic'::text, 'publish'::text, 'rollback'::text, 'promote'::text]))),
  constraint agent_publications_state_check CHECK ((state = ANY (ARRAY['checking'::text, 'published'::text, 'passed'::text, 'blocked'::text, 'inconclusive'::text, 'cancelled'::text])))
);
CREATE INDEX agent_publications_agent ON agent_publications USING btree (agent_id, id);
CREATE INDEX agent_publications_verdict ON agent_publications USING btree (agent_id, verdict_key) WHERE (verdict_key IS NOT NULL);
CREATE UNIQUE INDEX agent_publications_checking ON agent_publications USING btree (agent_id) WHERE (state = 'checking'::text);

create table agent_spans (
  agent_id uuid not null,
  last_span_at timestamp(3) with time zone not null,
  constraint agent_spans_pkey PRIMARY KEY (agent_id),
  constraint agent_spans_agent_id_fkey FOREIGN KEY (agent_id) REFERENCES agents(id) ON DELETE CASCADE
);

create table agent_versions (
  agent_id uuid not null,
  number integer not null,
  content json not null,
  first_run jsonb,
  published_at timestamp(3) with time zone,
  created_by text,
  created_at timestamp(3) with time zone default platform_now() not null,
  constraint agent_versions_pkey PRIMARY KEY (agent_id, number),
  constraint agent_versions_agent_id_fkey FOREIGN KEY (agent_id) REFERENCES agents(id) ON DELETE CASCADE
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
  fallback_llm_ids uuid[] default '{}'::uuid[] not null,
  execution text default 'platform'::text not null,
  callbacks jsonb,
  tool_policies jsonb default '[]'::jsonb not null,
  result_schema json,
  approval_role text,
  max_tokens integer,
  max_output_tokens integer,
  tool_concurrency integer default 4 not null,
  approver_not_requester boolean default false not null,
  builtin_tools text[],
  release text default 'automatic'::text not null,
  version integer default 1 not null,
  latest_version integer default 1 not null,
  publication_id uuid default new_uuid7() not null,
  draft json,
  canary jsonb,
  gate jsonb,
  ended_canary jsonb,
  approval_timeout_seconds integer,
  approval_timeout_outcome text default 'deny'::text not null,
  constraint agents_pkey PRIMARY KEY (id),
  constraint agents_approval_role_check CHECK ((approval_role = ANY (ARRAY['member'::text, 'builder'::text, 'admin'::text]))),
  constraint agents_execution_check CHECK ((execution = ANY (ARRAY['platform'::text, 'external'::text]))),
  constraint agents_llm_id_fkey FOREIGN KEY (llm_id) REFERENCES llm_configurations(id),
  constraint agents_max_attempts_check CHECK (((max_attempts >= 1) AND (max_attempts <= 100))),
  constraint agents_max_concurrency_check CHECK (((max_concurrency >= 1) AND (max_concurrency <= 1000))),
  constraint agents_max_output_tokens_check CHECK ((max_output_tokens >= 1)),
  constraint agents_max_steps_check CHECK (((max_steps >= 1) AND (max_steps <= 1000))),
  constraint agents_max_tokens_check CHECK ((max_tokens >= 1)),
  constraint agents_mode_check CHECK ((mode = ANY (ARRAY['worker'::text, 'conversational'::text]))),
  constraint agents_release_check CHECK ((release = ANY (ARRAY['automatic'::text, 'manual'::text]))),
  constraint agents_timeout_seconds_check CHECK (((timeout_seconds >= 1) AND (timeout_seconds <= 86400))),
  constraint agents_tool_concurrency_check CHECK (((tool_concurrency >= 1) AND (tool_concurrency <= 16)))
);
CREATE INDEX agents_canary ON agents USING btree (id) WHERE (canary IS NOT NULL);
CREATE INDEX agents_ended_canary ON agents USING btree (id) WHERE (ended_canary IS NOT NULL);
CREATE INDEX agents_external ON agents USING btree (id) WHERE (execution = 'external'::text);
CREATE INDEX agents_gate_dataset ON agents USING btree (lower((gate ->> 'dataset_id'::text))) WHERE (gate IS NOT NULL);
CREATE INDEX agents_llm_id ON agents USING btree (llm_id) WHERE (llm_id IS NOT NULL);
CREATE INDEX agents_semantic_data_model_ids ON agents USING gin (semantic_data_model_ids);
CREATE INDEX agents_tool_server_ids ON agents USING gin (tool_server_ids);
CREATE TRIGGER agents_first_version AFTER INSERT ON agents FOR EACH ROW EXECUTE FUNCTION agents_first_version();
CREATE TRIGGER agents_version BEFORE UPDATE ON agents FOR EACH ROW EXECUTE FUNCTION agents_version();

create table alert_conditions (
  rule_id uuid not null,
  subject_id text not null,
  since timestamp(3) with time zone default platform_now() not null,
  constraint alert_conditions_pkey PRIMARY KEY (rule_id, subject_id),
  constraint alert_conditions_rule_id_fkey FOREIGN KEY (rule_id) REFERENCES alert_rules(id) ON DELETE CASCADE
);

create table alert_pass (
  only_row boolean default true not null,
  at timestamp(3) with time zone,
  constraint alert_pass_pkey PRIMARY KEY (only_row),
  constraint alert_pass_only_row_check CHECK (only_row)
);

create table alert_rules (
  id uuid default new_id() not null,
  name text not null,
  kind text not null,
  enabled boolean default true not null,
  severity text not null,
  params jsonb not null,
  agent_id uuid,
  schedule_id uuid,
  revision integer default 1 not null,
  created_at timestamp(3) with time zone default platform_now() not null,
  updated_at timestamp(3) with time zone default platform_now() not null,
  constraint alert_rules_pkey PRIMARY KEY (id),
  constraint alert_rules_agent_id_fkey FOREIGN KEY (agent_id) REFERENCES agents(id) ON DELETE CASCADE,
  constraint alert_rules_check CHECK (((agent_id IS NULL) OR (schedule_id IS NULL))),
  constraint alert_rules_kind_check CHECK ((kind = ANY (ARRAY['missed'::text, 'late'::text, 'failing'::text, 'waiting'::text, 'integration'::text, 'tool_server'::text, 'budget'::text, 'trigger'::text, 'no_scheduler'::text]))),
  constraint alert_rules_schedule_id_fkey FOREIGN KEY (schedule_id) REFERENCES schedules(id) ON DELETE CASCADE,
  constraint alert_rules_severity_check CHECK ((severity = ANY (ARRAY['error'::text, 'warning'::text, 'info'::text])))
);
CREATE INDEX alert_rules_agent ON alert_rules USING btree (agent_id) WHERE (agent_id IS NOT NULL);
CREATE INDEX alert_rules_schedule ON alert_rules USING btree (schedule_id) WHERE (schedule_id IS NOT NULL);

create table alerts (
  id uuid default new_id() not null,
  rule_id uuid not null,
  kind text not null,
  severity text not null,
  subject_type text,
  subject_id text,
  subject_name text,
  agent_id uuid,
  state text default 'firing'::text not null,
  count integer default 1 not null,
  title text not null,
  detail text not null,
  for_admins boolean default false not null,
  cause_at timestamp(3) with time zone not null,
  members jsonb,
  fired_at timestamp(3) with time zone default platform_now() not null,
  resolved_at timestamp(3) with time zone,
  acknowledged_at timestamp(3) with time zone,
  acknowledged_by jsonb,
  note text,
  constraint alerts_pkey PRIMARY KEY (id),
  constraint alerts_check CHECK (((state = 'firing'::text) = (resolved_at IS NULL))),
  constraint alerts_check1 CHECK (((acknowledged_at IS NULL) = (acknowledged_by IS NULL))),
  constraint alerts_state_check CHECK ((state = ANY (ARRAY['firing'::text, 'resolved'::text])))
);
CREATE INDEX alerts_agent ON alerts USING btree (agent_id, id) WHERE (agent_id IS NOT NULL);
CREATE INDEX alerts_firing_by_kind ON alerts USING btree (kind, id) WHERE (state = 'firing'::text);
CREATE INDEX alerts_kind ON alerts USING btree (kind, id);
CREATE INDEX alerts_resolved ON alerts USING btree (resolved_at) WHERE (resolved_at IS NOT NULL);
CREATE INDEX alerts_rule ON alerts USING btree (rule_id, id);
CREATE UNIQUE INDEX alerts_firing ON alerts USING btree (rule_id, COALESCE(subject_id, ''::text)) WHERE (state = 'firing'::text);
CREATE TRIGGER alerts_messages AFTER DELETE ON alerts REFERENCING OLD TABLE AS gone FOR EACH STATEMENT EXECUTE FUNCTION delete_messages();

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
  scopes text[],
  last_used_ip text,
  replaced_by uuid,
  account_id uuid,
  owner text not null,
  owner_user_id uuid,
  made_by_user_id uuid,
  made_with_key_id uuid,
  root_id uuid,
  first_end timestamp(3) with time zone,
  rotated_by_user_id uuid,
  rotated_with_key_id uuid,
  constraint api_keys_pkey PRIMARY KEY (id),
  constraint api_keys_check CHECK (((kind = 'personal'::text) = (user_id IS NOT NULL))),
  constraint api_keys_check1 CHECK (((kind = 'service_account'::text) = (role IS NOT NULL))),
  constraint api_keys_check2 CHECK (((owner = 'person'::text) = (owner_user_id IS NOT NULL))),
  constraint api_keys_kind_check CHECK ((kind = ANY (ARRAY['service_account'::text, 'personal'::text]))),
  constraint api_keys_owner_check CHECK ((owner = ANY (ARRAY['person'::text, 'workspace'::text]))),
  constraint api_keys_owner_user_id_fkey FOREIGN KEY (owner_user_id) REFERENCES users(id) ON DELETE CASCADE,
  constraint api_keys_role_check CHECK ((role = ANY (ARRAY['member'::text, 'builder'::text, 'admin'::text]))),
  constraint api_keys_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id) ON DELETE CASCADE,
  constraint api_keys_value_hash_key UNIQUE (value_hash)
);
CREATE INDEX api_keys_account ON api_keys USING btree (COALESCE(account_id, id));
CREATE INDEX api_keys_created_by ON api_keys USING btree (created_by);
CREATE INDEX api_keys_made_by_user ON api_keys USING btree (made_by_user_id) WHERE (made_by_user_id IS NOT NULL);
CREATE INDEX api_keys_made_with_key ON api_keys USING btree (made_with_key_id) WHERE (made_with_key_id IS NOT NULL);
CREATE INDEX api_keys_owner_user ON api_keys USING btree (owner_user_id) WHERE (owner_user_id IS NOT NULL);
CREATE INDEX api_keys_rotated_by_user ON api_keys USING btree (rotated_by_user_id) WHERE (rotated_by_user_id IS NOT NULL);
CREATE INDEX api_keys_rotated_with_key ON api_keys USING btree (rotated_with_key_id) WHERE (rotated_with_key_id IS NOT NULL);
CREATE INDEX api_keys_user ON api_keys USING btree (user_id) WHERE (user_id IS NOT NULL);
CREATE TRIGGER api_keys_owner BEFORE INSERT ON api_keys FOR EACH ROW EXECUTE FUNCTION api_keys_owner();

create table audit_checkpoints (
  kind text not null,
  number bigint not null,
  "position" bigint not null,
  hash text not null,
  at timestamp(3) with time zone not null,
  key_id text not null,
  signature text not null,
  constraint audit_checkpoints_pkey PRIMARY KEY (kind, "position"),
  constraint audit_checkpoints_kind_check CHECK ((kind = ANY (ARRAY['interval'::text, 'retention'::text])))
);
CREATE INDEX audit_checkpoints_number ON audit_checkpoints USING btree (number, kind);
CREATE TRIGGER audit_checkpoints_append_only BEFORE DELETE OR UPDATE ON audit_checkpoints FOR EACH ROW EXECUTE FUNCTION audit_checkpoints_append_only();
CREATE TRIGGER audit_checkpoints_no_truncate BEFORE TRUNCATE ON audit_checkpoints FOR EACH STATEMENT EXECUTE FUNCTION audit_checkpoints_append_only();

create table audit_copy (
  singleton boolean default true not null,
  "position" bigint not null,
  constraint audit_copy_pkey PRIMARY KEY (singleton),
  constraint audit_copy_singleton_check CHECK (singleton)
);

create table audit_faults (
  singleton boolean default true not null,
  found_at timestamp(3) with time zone default platform_now() not null,
  "position" bigint,
  fault text not null,
  constraint audit_faults_pkey PRIMARY KEY (singleton),
  constraint audit_faults_singleton_check CHECK (singleton)
);

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
CREATE INDEX audits_at ON audits USING btree (at, id);
CREATE INDEX audits_outcome ON audits USING btree (outcome, id);
CREATE INDEX audits_principal ON audits USING btree (principal_id, id);
CREATE INDEX audits_request ON audits USING btree (request_id, id) WHERE (request_id IS NOT NULL);
CREATE INDEX audits_target_id ON audits USING btree (target_id, id);
CREATE INDEX audits_target_type ON audits USING btree (target_type, id);
CREATE INDEX audits_unchained ON audits USING btree (id) WHERE ("position" IS NULL);
CREATE TRIGGER audits_append_only BEFORE DELETE OR UPDATE ON audits FOR EACH ROW EXECUTE FUNCTION audits_append_only();
CREATE TRIGGER audits_no_truncate BEFORE TRUNCATE ON audits FOR EACH STATEMENT EXECUTE FUNCTION audits_append_only();

create table bootstrap_uses (
  singleton boolean default true not null,
  used_at timestamp(3) with time zone not null,
  constraint bootstrap_uses_pkey PRIMARY KEY (singleton),
  constraint bootstrap_uses_singleton_check CHECK (singleton)
);

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

create table budget_periods (
  id uuid not null,
  budget_id uuid not null,
  subject_id text not null,
  starts_at timestamp(3) with time zone not null,
  ends_at timestamp(3) with time zone,
  closed bigint default 0 not null,
  closed_assumed bigint default 0 not null,
  extra bigint default 0 not null,
  wanted_at timestamp(3) with time zone,
  exhausted_at_limit bigint,
  notified_percent integer default 0 not null,
  overrun bigint default 0 not null,
  constraint budget_periods_pkey PRIMARY KEY (id),
  constraint budget_periods_budget_id_fkey FOREIGN KEY (budget_id) REFERENCES budgets(id) ON DELETE CASCADE,
  constraint budget_periods_budget_id_subject_id_starts_at_key UNIQUE (budget_id, subject_id, starts_at)
);
CREATE INDEX budget_periods_end ON budget_periods USING btree (budget_id, ends_at);

create table budget_replicas (
  id uuid not null,
  seen_at timestamp(3) with time zone default platform_now() not null,
  lost boolean default false not null,
  constraint budget_replicas_pkey PRIMARY KEY (id)
);

create table budget_settlements (
  period_id uuid not null,
  share_id uuid,
  spent bigint not null,
  assumed bigint not null
);
CREATE INDEX budget_settlements_period ON budget_settlements USING btree (period_id);
CREATE INDEX budget_settlements_share ON budget_settlements USING btree (share_id);

create table budget_shares (
  id uuid not null,
  period_id uuid not null,
  replica_id uuid not null,
  granted bigint not null,
  spent bigint default 0 not null,
  assumed bigint default 0 not null,
  constraint budget_shares_pkey PRIMARY KEY (id),
  constraint budget_shares_period_id_fkey FOREIGN KEY (period_id) REFERENCES budget_periods(id) ON DELETE CASCADE
);
CREATE INDEX budget_shares_period ON budget_shares USING btree (period_id);
CREATE INDEX budget_shares_replica ON budget_shares USING btree (replica_id);

create table budgets (
  id uuid not null,
  name text not null,
  scope jsonb not null,
  unit text not null,
  "limit" bigint not null,
  period text not null,
  timezone text not null,
  action text not null,
  llm_id uuid,
  from_percent integer not null,
  notify_percent jsonb not null,
  enabled boolean not null,
  effective_from timestamp(3) with time zone not null,
  revision integer default 1 not null,
  created_at timestamp(3) with time zone default platform_now() not null,
  updated_at timestamp(3) with time zone default platform_now() not null,
  constraint budgets_pkey PRIMARY KEY (id),
  constraint budgets_action_check CHECK ((action = ANY (ARRAY['refuse'::text, 'wait'::text, 'ask'::text, 'cheaper'::text]))),
  constraint budgets_llm_id_fkey FOREIGN KEY (llm_id) REFERENCES llm_configurations(id),
  constraint budgets_name_key UNIQUE (name),
  constraint budgets_period_check CHECK ((period = ANY (ARRAY['day'::text, 'week'::text, 'month'::text, 'total'::text]))),
  constraint budgets_postponed TRIGGER DEFERRABLE INITIALLY DEFERRED,
  constraint budgets_unit_check CHECK ((unit = ANY (ARRAY['nano_usd'::text, 'tokens'::text])))
);
CREATE INDEX budgets_llm ON budgets USING btree (llm_id) WHERE (llm_id IS NOT NULL);
CREATE CONSTRAINT TRIGGER budgets_postponed AFTER INSERT ON budgets DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION postpone_budget();

create table callback_deliveries (
  id uuid default new_id() not null,
  callback_id uuid not null,
  work_item_id uuid not null,
  event text not null,
  agent_id uuid not null,
  schedule_id uuid,
  work_item_name text,
  status text not null,
  previous_status text,
  created_at timestamp(3) with time zone default platform_now() not null,
  url text not null,
  origin text not null,
  state text default 'pending'::text not null,
  attempts integer default 0 not null,
  failures integer default 0 not null,
  last_status integer,
  last_error text,
  next_attempt_at timestamp(3) with time zone default platform_now(),
  delivered_at timestamp(3) with time zone,
  agent_version integer,
  constraint callback_deliveries_pkey PRIMARY KEY (id),
  constraint callback_deliveries_callback_id_fkey FOREIGN KEY (callback_id) REFERENCES callbacks(id) ON DELETE CASCADE,
  constraint callback_deliveries_check CHECK (((state = 'pending'::text) = (next_attempt_at IS NOT NULL))),
  constraint callback_deliveries_state_check CHECK ((state = ANY (ARRAY['pending'::text, 'delivered'::text, 'failed'::text, 'gone'::text]))),
  constraint callback_deliveries_work_item_id_fkey FOREIGN KEY (work_item_id) REFERENCES work_items(id) ON DELETE CASCADE
);
CREATE INDEX callback_deliveries_callback ON callback_deliveries USING btree (callback_id);
CREATE INDEX callback_deliveries_due ON callback_deliveries USING btree (origin, next_attempt_at) WHERE (state = 'pending'::text);
CREATE INDEX callback_deliveries_item ON callback_deliveries USING btree (work_item_id, id);
CREATE TRIGGER callback_delivery_recorded AFTER INSERT ON callback_deliveries FOR EACH ROW EXECUTE FUNCTION callback_delivery_recorded();

create table callbacks (
  id uuid not null,
  agent_id uuid,
  work_item_id uuid,
  url text not null,
  origin text not null,
  events text[] not null,
  settings text not null,
  removed_at timestamp(3) with time zone,
  created_at timestamp(3) with time zone default platform_now() not null,
  given_by_member boolean default false not null,
  constraint callbacks_pkey PRIMARY KEY (id),
  constraint callbacks_check CHECK ((num_nonnulls(agent_id, work_item_id) = 1)),
  constraint callbacks_work_item_id_fkey FOREIGN KEY (work_item_id) REFERENCES work_items(id) ON DELETE CASCADE
);
CREATE INDEX callbacks_agent ON callbacks USING btree (agent_id) WHERE ((agent_id IS NOT NULL) AND (removed_at IS NULL));
CREATE INDEX callbacks_removed ON callbacks USING btree (removed_at) WHERE (removed_at IS NOT NULL);
CREATE INDEX callbacks_work_item ON callbacks USING btree (work_item_id) WHERE (work_item_id IS NOT NULL);

create table case_contents (
  id uuid not null,
  case_id uuid not null,
  revision integer not null,
  name text not null,
  message text not null,
  payload json not null,
  history json not null,
  expected json not null,
  graders json not null,
  tape json,
  made json not null,
  replies text,
  created_at timestamp(3) with time zone default platform_now() not null,
  constraint case_contents_pkey PRIMARY KEY (id)
);
CREATE UNIQUE INDEX case_contents_case ON case_contents USING btree (case_id, revision);
CREATE TRIGGER case_contents_removed AFTER DELETE ON case_contents REFERENCING OLD TABLE AS gone FOR EACH STATEMENT EXECUTE FUNCTION remove_files_of_cases();

create table cases (
  id uuid not null,
  dataset_id uuid not null,
  name text not null,
  tags text[] not null,
  enabled boolean not null,
  has_tape boolean not null,
  transcript_hash text,
  source jsonb,
  revision integer default 1 not null,
  created_at timestamp(3) with time zone default platform_now() not null,
  updated_at timestamp(3) with time zone default platform_now() not null,
  constraint cases_pkey PRIMARY KEY (id),
  constraint cases_dataset_id_fkey FOREIGN KEY (dataset_id) REFERENCES datasets(id) ON DELETE CASCADE
);
CREATE INDEX cases_dataset ON cases USING btree (dataset_id, id);
CREATE UNIQUE INDEX cases_name ON cases USING btree (dataset_id, name);
CREATE TRIGGER cases_changed AFTER UPDATE ON cases REFERENCING OLD TABLE AS gone FOR EACH STATEMENT EXECUTE FUNCTION remove_contents_of_cases();
CREATE TRIGGER cases_removed AFTER DELETE ON cases REFERENCING OLD TABLE AS gone FOR EACH STATEMENT EXECUTE FUNCTION remove_contents_of_cases();

create table channel_messages (
  id uuid not null,
  subject_type text not null,
  subject_id uuid not null,
  channel_id uuid not null,
  channel_name text not null,
  recipient text not null,
  recipient_name text,
  state text default 'pending'::text not null,
  version integer default 1 not null,
  attempts integer default 0 not null,
  failures integer default 0 not null,
  last_error text,
  next_attempt_at timestamp(3) with time zone default platform_now(),
  leased_until timestamp(3) with time zone,
  due_since timestamp(3) with time zone default platform_now() not null,
  posted jsonb,
  delivered_at timestamp(3) with time zone,
  created_at timestamp(3) with time zone default platform_now() not null,
  constraint channel_messages_pkey PRIMARY KEY (id),
  constraint channel_messages_state_check CHECK ((state = ANY (ARRAY['pending'::text, 'delivered'::text, 'failed'::text]))),
  constraint channel_messages_subject_id_channel_id_recipient_key UNIQUE (subject_id, channel_id, recipient),
  constraint channel_messages_subject_type_check CHECK ((subject_type = ANY (ARRAY['review'::text, 'alert'::text])))
);
CREATE INDEX channel_messages_pending ON channel_messages USING btree (channel_id, ((posted IS NULL)), next_attempt_at) WHERE (state = 'pending'::text);

create table channels (
  id uuid not null,
  name text not null,
  kind text not null,
  enabled boolean not null,
  include_arguments boolean not null,
  settings text not null,
  recipients text[] default '{}'::text[] not null,
  state text default 'unknown'::text not null,
  last_success_at timestamp(3) with time zone,
  last_error text,
  failing_since timestamp(3) with time zone,
  paused_until timestamp(3) with time zone,
  created_by text not null,
  revision integer default 1 not null,
  created_at timestamp(3) with time zone default platform_now() not null,
  updated_at timestamp(3) with time zone default platform_now() not null,
  constraint channels_pkey PRIMARY KEY (id),
  constraint channels_kind_check CHECK ((kind = ANY (ARRAY['slack'::text, 'email'::text, 'webhook'::text, 'teams'::text, 'pagerduty'::text]))),
  constraint channels_state_check CHECK ((state = ANY (ARRAY['unknown'::text, 'ok'::text, 'failing'::text])))
);
CREATE UNIQUE INDEX channels_name ON channels USING btree (lower(name));

create table charges (
  id uuid not null,
  started_at timestamp(3) with time zone not null,
  duration_ms integer not null,
  purpose text not null,
  status text not null,
  unreconciled boolean default false not null,
  late boolean default false not null,
  agent_id uuid,
  agent_version integer,
  work_item_id uuid,
  run_id uuid,
  experiment_id uuid,
  schedule_id uuid,
  principal_kind text not null,
  principal_id text not null,
  llm_id uuid,
  requested_model text not null,
  model text,
  input bigint default 0 not null,
  input_audio bigint default 0 not null,
  cache_read bigint default 0 not null,
  cache_write bigint default 0 not null,
  cache_write_1h bigint default 0 not null,
  output bigint default 0 not null,
  output_audio bigint default 0 not null,
  reasoning bigint default 0 not null,
  price_id uuid,
  amount_nano_usd bigint,
  assumed_nano_usd bigint,
  trace_id text,
  span_id text,
  external_id text,
  trigger_id uuid,
  constraint charges_pkey PRIMARY KEY (id),
  constraint charges_amount_check CHECK (((status = 'priced'::text) = (amount_nano_usd IS NOT NULL))),
  constraint charges_purpose_check CHECK ((purpose = ANY (ARRAY['run'::text, 'trial'::text, 'judge'::text, 'question'::text, 'extraction'::text, 'test'::text, 'external'::text]))),
  constraint charges_status_check CHECK ((status = ANY (ARRAY['priced'::text, 'unknown_price'::text, 'unknown_usage'::text])))
) with (autovacuum_vacuum_scale_factor=0.02);
CREATE INDEX charges_agent ON charges USING btree (agent_id, started_at) INCLUDE (amount_nano_usd) WHERE (agent_id IS NOT NULL);
CREATE INDEX charges_experiment ON charges USING btree (experiment_id) WHERE (experiment_id IS NOT NULL);
CREATE INDEX charges_price ON charges USING btree (price_id) WHERE (price_id IS NOT NULL);
CREATE INDEX charges_principal ON charges USING btree (principal_id, id);
CREATE INDEX charges_run ON charges USING btree (run_id) WHERE (run_id IS NOT NULL);
CREATE INDEX charges_schedule ON charges USING btree (schedule_id, started_at) INCLUDE (amount_nano_usd) WHERE (schedule_id IS NOT NULL);
CREATE INDEX charges_started_at ON charges USING btree (started_at) INCLUDE (amount_nano_usd);
CREATE INDEX charges_trigger ON charges USING btree (trigger_id, started_at) INCLUDE (amount_nano_usd) WHERE (trigger_id IS NOT NULL);
CREATE INDEX charges_unpriced ON charges USING btree (started_at) WHERE (status = 'unknown_price'::text);
CREATE INDEX charges_work_item ON charges USING btree (work_item_id) WHERE (work_item_id IS NOT NULL);
CREATE UNIQUE INDEX charges_external ON charges USING btree (work_item_id, external_id) WHERE (external_id IS NOT NULL);
CREATE TRIGGER charges_append_only BEFORE DELETE OR UPDATE ON charges FOR EACH ROW EXECUTE FUNCTION refuse_change_of_charges();

create table conversation_messages (
  conversation_id uuid not null,
  seq bigint generated always as identity not null,
  id uuid not null,
  run_id uuid not null,
  role text not null,
  content json not null,
  provider_parts json,
  created_at timestamp(3) with time zone default platform_now() not null,
  usage jsonb,
  constraint conversation_messages_pkey PRIMARY KEY (conversation_id, seq),
  constraint conversation_messages_conversation_id_fkey FOREIGN KEY (conversation_id) REFERENCES conversations(id) ON DELETE CASCADE,
  constraint conversation_messages_id_key UNIQUE (id),
  constraint conversation_messages_role_check CHECK ((role = ANY (ARRAY['user'::text, 'assistant'::text, 'tool'::text])))
);
CREATE INDEX conversation_messages_run ON conversation_messages USING btree (run_id, seq);

create table conversation_runs (
  id uuid not null,
  conversation_id uuid not null,
  agent_id uuid not null,
  status text default 'queued'::text not null,
  depth integer default 0 not null,
  first_seq bigint not null,
  message_id uuid not null,
  answer text,
  error jsonb,
  usage jsonb,
  model text,
  trace_id text,
  pending_approvals jsonb,
  decisions jsonb,
  unsafe_calls jsonb,
  tokens_before bigint default 0 not null,
  attempts integer default 0 not null,
  not_before timestamp(3) with time zone,
  fencing bigint default 0 not null,
  lease_owner text,
  lease_expires_at timestamp(3) with time zone,
  created_by text not null,
  created_at timestamp(3) with time zone default platform_now() not null,
  started_at timestamp(3) with time zone,
  finished_at timestamp(3) with time zone,
  agent_version integer,
  continuations jsonb,
  cost_nano_usd bigint default 0 not null,
  unknown_calls integer default 0 not null,
  constraint conversation_runs_pkey PRIMARY KEY (id),
  constraint conversation_runs_check CHECK (((status = 'running'::text) = (lease_expires_at IS NOT NULL))),
  constraint conversation_runs_conversation_id_fkey FOREIGN KEY (conversation_id) REFERENCES conversations(id) ON DELETE CASCADE,
  constraint conversation_runs_status_check CHECK ((status = ANY (ARRAY['queued'::text, 'running'::text, 'completed'::text, 'needs_review'::text, 'error'::text, 'cancelled'::text])))
);
CREATE INDEX conversation_runs_agent_finished ON conversation_runs USING btree (agent_id, finished_at) WHERE (finished_at IS NOT NULL);
CREATE INDEX conversation_runs_budget_reviews ON conversation_runs USING btree (id) WHERE ((status = 'needs_review'::text) AND (pending_approvals @> '[{"kind": "budget"}]'::jsonb));
CREATE INDEX conversation_runs_conversation ON conversation_runs USING btree (conversation_id, id);
CREATE INDEX conversation_runs_leases ON conversation_runs USING btree (lease_expires_at) WHERE (status = 'running'::text);
CREATE INDEX conversation_runs_queued ON conversation_runs USING btree (created_at, id) WHERE (status = 'queued'::text);
CREATE INDEX conversation_runs_trace ON conversation_runs USING btree (trace_id) WHERE (trace_id IS NOT NULL);
CREATE INDEX conversation_runs_waiting ON conversation_runs USING btree (id) WHERE (status = 'needs_review'::text);
CREATE UNIQUE INDEX conversation_runs_open ON conversation_runs USING btree (conversation_id) WHERE (status = ANY (ARRAY['queued'::text, 'running'::text, 'needs_review'::text]));

create table conversations (
  id uuid not null,
  agent_id uuid not null,
  name text,
  title text,
  metadata jsonb default '{}'::jsonb not null,
  created_by text not null,
  revision integer default 1 not null,
  created_at timestamp(3) with time zone default platform_now() not null,
  updated_at timestamp(3) with time zone default platform_now() not null,
  message_count integer default 0 not null,
  last_message_at timestamp(3) with time zone,
  active_run_id uuid,
  last_seq bigint default 0 not null,
  context_cut jsonb,
  constraint conversations_pkey PRIMARY KEY (id),
  constraint conversations_agent_id_fkey FOREIGN KEY (agent_id) REFERENCES agents(id) ON DELETE CASCADE
);
CREATE INDEX conversations_agent ON conversations USING btree (agent_id, id);
CREATE INDEX conversations_own ON conversations USING btree (agent_id, created_by, id);

create table data_connections (
  id uuid not null,
  name text not null,
  description text,
  engine text not null,
  settings text not null,
  tags text[] default '{}'::text[] not null,
  state text default 'unverified'::text not null,
  checked_at timestamp(3) with time zone,
  detail text,
  created_by text not null,
  revision integer default 1 not null,
  created_at timestamp(3) with time zone default platform_now() not null,
  updated_at timestamp(3) with time zone default platform_now() not null,
  constraint data_connections_pkey PRIMARY KEY (id),
  constraint data_connections_engine_check CHECK ((engine = ANY (ARRAY['postgres'::text, 'mysql'::text, 'sqlite'::text]))),
  constraint data_connections_state_check CHECK ((state = ANY (ARRAY['ok'::text, 'unreachable'::text, 'unverified'::text])))
);
CREATE INDEX data_connections_engine ON data_connections USING btree (engine, id);

create table data_frames (
  id uuid not null,
  conversation_id uuid,
  work_item_id uuid,
  name text not null,
  description text,
  source jsonb not null,
  columns jsonb not null,
  row_count bigint not null,
  size_bytes bigint not null,
  truncated boolean not null,
  warnings jsonb not null,
  created_by text not null,
  created_at timestamp(3) with time zone default platform_now() not null,
  case_id uuid,
  trial_id uuid,
  head text,
  constraint data_frames_pkey PRIMARY KEY (id),
  constraint data_frames_check CHECK ((num_nonnulls(conversation_id, work_item_id, case_id, trial_id) = 1)),
  constraint data_frames_conversation_id_fkey FOREIGN KEY (conversation_id) REFERENCES conversations(id) ON DELETE CASCADE
);
CREATE UNIQUE INDEX data_frames_case ON data_frames USING btree (case_id, name) WHERE (case_id IS NOT NULL);
CREATE UNIQUE INDEX data_frames_conversation ON data_frames USING btree (conversation_id, name) WHERE (conversation_id IS NOT NULL);
CREATE UNIQUE INDEX data_frames_trial ON data_frames USING btree (trial_id, name) WHERE (trial_id IS NOT NULL);
CREATE UNIQUE INDEX data_frames_work_item ON data_frames USING btree (work_item_id, name) WHERE (work_item_id IS NOT NULL);
CREATE TRIGGER data_frames_removed AFTER DELETE ON data_frames REFERENCING OLD TABLE AS gone FOR EACH STATEMENT EXECUTE FUNCTION remove_file_bytes();

create table datasets (
  id uuid not null,
  name text not null,
  description text,
  mode text not null,
  graders json not null,
  case_count integer default 0 not null,
  revision integer default 1 not null,
  created_at timestamp(3) with time zone default platform_now() not null,
  updated_at timestamp(3) with time zone default platform_now() not null,
  constraint datasets_pkey PRIMARY KEY (id),
  constraint datasets_mode_check CHECK ((mode = ANY (ARRAY['worker'::text, 'conversational'::text])))
);
CREATE UNIQUE INDEX datasets_name ON datasets USING btree (name);

create table document_intelligence (
  id text default 'configuration'::text not null,
  provider text not null,
  settings text not null,
  llm_id uuid,
  ocr text not null,
  ocr_languages jsonb not null,
  updated_at timestamp(3) with time zone default platform_now() not null,
  revision integer default nextval('document_intelligence_revisions'::regclass) not null,
  constraint document_intelligence_pkey PRIMARY KEY (id),
  constraint document_intelligence_id_check CHECK ((id = 'configuration'::text)),
  constraint document_intelligence_llm_id_fkey FOREIGN KEY (llm_id) REFERENCES llm_configurations(id),
  constraint document_intelligence_ocr_check CHECK ((ocr = ANY (ARRAY['auto'::text, 'off'::text]))),
  constraint document_intelligence_provider_check CHECK ((provider = ANY (ARRAY['embedded'::text, 'azure'::text, 'docling'::text, 'http'::text])))
);

create table event_connections (
  id uuid not null,
  name text not null,
  kind text not null,
  settings text not null,
  created_by text not null,
  revision integer default 1 not null,
  created_at timestamp(3) with time zone default platform_now() not null,
  updated_at timestamp(3) with time zone default platform_now() not null,
  constraint event_connections_pkey PRIMARY KEY (id),
  constraint event_connections_kind_check CHECK ((kind = ANY (ARRAY['nats'::text, 'kafka'::text])))
);
CREATE UNIQUE INDEX event_connections_name ON event_connections USING btree (lower(name));

create table experiments (
  id uuid not null,
  dataset_id uuid not null,
  agent_id uuid not null,
  agent_version integer not null,
  repetitions integer not null,
  tools text not null,
  replay_order text not null,
  on_divergence text not null,
  model text not null,
  approvals text not null,
  graders json not null,
  tags text[] not null,
  reuse boolean not null,
  llms jsonb not null,
  publication_id uuid,
  trials integer not null,
  cancelled_at timestamp(3) with time zone,
  finished_at timestamp(3) with time zone,
  created_by text not null,
  created_at timestamp(3) with time zone default platform_now() not null,
  cost_nano_usd bigint default 0 not null,
  unknown_calls integer default 0 not null,
  constraint experiments_pkey PRIMARY KEY (id),
  constraint experiments_agent_id_fkey FOREIGN KEY (agent_id) REFERENCES agents(id) ON DELETE CASCADE,
  constraint experiments_approvals_check CHECK ((approvals = ANY (ARRAY['auto_approve'::text, 'auto_deny'::text]))),
  constraint experiments_dataset_id_fkey FOREIGN KEY (dataset_id) REFERENCES datasets(id) ON DELETE CASCADE,
  constraint experiments_model_check CHECK ((model = ANY (ARRAY['live'::text, 'recorded'::text]))),
  constraint experiments_on_divergence_check CHECK ((on_divergence = ANY (ARRAY['end'::text, 'error'::text]))),
  constraint experiments_replay_order_check CHECK ((replay_order = ANY (ARRAY['any_order'::text, 'strict'::text]))),
  constraint experiments_tools_check CHECK ((tools = ANY (ARRAY['replay'::text, 'idempotent_live'::text])))
);
CREATE INDEX experiments_agent ON experiments USING btree (agent_id, id);
CREATE INDEX experiments_dataset ON experiments USING btree (dataset_id, id);
CREATE INDEX experiments_finished ON experiments USING btree (finished_at) WHERE (finished_at IS NOT NULL);
CREATE INDEX experiments_open ON experiments USING btree (id) WHERE (finished_at IS NULL);

create table external_leases (
  token_hash text not null,
  work_item_id uuid not null,
  fencing bigint not null,
  lease_seconds integer not null,
  finish_hash text,
  constraint external_leases_pkey PRIMARY KEY (token_hash),
  constraint external_leases_work_item_id_fkey FOREIGN KEY (work_item_id) REFERENCES work_items(id) ON DELETE CASCADE
);
CREATE INDEX external_leases_item ON external_leases USING btree (work_item_id);

create table extractions (
  id uuid not null,
  status text not null,
  record text not null,
  created_by text not null,
  replica text not null,
  alive_at timestamp(3) with time zone default platform_now() not null,
  created_at timestamp(3) with time zone default platform_now() not null,
  finished_at timestamp(3) with time zone,
  summary text,
  constraint extractions_pkey PRIMARY KEY (id),
  constraint extractions_check CHECK (((finished_at IS NOT NULL) = (status = ANY (ARRAY['COMPLETED'::text, 'ERROR'::text])))),
  constraint extractions_status_check CHECK ((status = ANY (ARRAY['PENDING'::text, 'RUNNING'::text, 'COMPLETED'::text, 'ERROR'::text])))
);
CREATE INDEX extractions_created_by ON extractions USING btree (created_by, id DESC);
CREATE INDEX extractions_finished ON extractions USING btree (finished_at) WHERE (finished_at IS NOT NULL);
CREATE INDEX extractions_open ON extractions USING btree (alive_at) WHERE (finished_at IS NULL);

create table file_bytes (
  file_id uuid not null,
  part integer not null,
  bytes bytea not null,
  created_at timestamp(3) with time zone default platform_now() not null,
  constraint file_bytes_pkey PRIMARY KEY (file_id, part)
);
CREATE INDEX file_bytes_age ON file_bytes USING btree (created_at) WHERE (part = 0);

create table files (
  id uuid not null,
  conversation_id uuid,
  work_item_id uuid,
  name text not null,
  content_type text not null,
  size_bytes bigint not null,
  sha256 text not null,
  created_by text not null,
  created_at timestamp(3) with time zone default platform_now() not null,
  case_id uuid,
  trial_id uuid,
  constraint files_pkey PRIMARY KEY (id),
  constraint files_check CHECK ((num_nonnulls(conversation_id, work_item_id, case_id, trial_id) = 1)),
  constraint files_conversation_id_fkey FOREIGN KEY (conversation_id) REFERENCES conversations(id) ON DELETE CASCADE
);
CREATE UNIQUE INDEX files_case ON files USING btree (case_id, name) WHERE (case_id IS NOT NULL);
CREATE UNIQUE INDEX files_conversation ON files USING btree (conversation_id, name) WHERE (conversation_id IS NOT NULL);
CREATE UNIQUE INDEX files_trial ON files USING btree (trial_id, name) WHERE (trial_id IS NOT NULL);
CREATE UNIQUE INDEX files_work_item ON files USING btree (work_item_id, name) WHERE (work_item_id IS NOT NULL);
CREATE TRIGGER files_removed AFTER DELETE ON files REFERENCING OLD TABLE AS gone FOR EACH STATEMENT EXECUTE FUNCTION remove_file_bytes();

create table idempotency_keys (
  principal_id text not null,
  key text not null,
  request_hash text not null,
  answer text,
  created_at timestamp(3) with time zone default platform_now() not null,
  constraint idempotency_keys_pkey PRIMARY KEY (principal_id, key)
);
CREATE INDEX idempotency_keys_created_at ON idempotency_keys USING btree (created_at);

create table judges (
  key text not null,
  id uuid not null,
  rubric text not null,
  llm_id uuid not null,
  model text not null,
  votes integer not null,
  constraint judges_pkey PRIMARY KEY (key),
  constraint judges_id_key UNIQUE (id)
);

create table labels (
  trial_id uuid not null,
  grader text not null,
  principal_id text not null,
  principal_name text not null,
  verdict text not null,
  comment text,
  judge_key text,
  judge_verdict text,
  created_at timestamp(3) with time zone default platform_now() not null,
  constraint labels_pkey PRIMARY KEY (trial_id, grader, principal_id),
  constraint labels_judge_verdict_check CHECK ((judge_verdict = ANY (ARRAY['pass'::text, 'fail'::text]))),
  constraint labels_verdict_check CHECK ((verdict = ANY (ARRAY['pass'::text, 'fail'::text])))
);
CREATE INDEX labels_judge ON labels USING btree (judge_key, trial_id) WHERE (judge_key IS NOT NULL);

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
  test_passed_at timestamp(3) with time zone,
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
  running_work_item_id uuid,
  constraint occurrences_pkey PRIMARY KEY (schedule_id, id),
  constraint occurrences_outcome_check CHECK ((outcome = ANY (ARRAY['fired'::text, 'caught_up'::text, 'skipped'::text, 'manual'::text])))
) with (autovacuum_vacuum_scale_factor=0.02);
CREATE INDEX occurrences_at ON occurrences USING btree (at);
CREATE INDEX occurrences_late ON occurrences USING btree (at) INCLUDE (schedule_id, scheduled_for) WHERE ((outcome = ANY (ARRAY['fired'::text, 'caught_up'::text])) AND ((at - scheduled_for) > '00:00:05'::interval));
CREATE INDEX occurrences_missed ON occurrences USING btree (at) INCLUDE (schedule_id, scheduled_for, count) WHERE ((outcome = 'skipped'::text) AND (reason = 'missed'::text));
CREATE INDEX occurrences_scheduled_for ON occurrences USING btree (schedule_id, scheduled_for);
CREATE INDEX occurrences_together ON occurrences USING btree (schedule_id, scheduled_for) WHERE (count > 1);

create table price_revision (
  only_row boolean default true not null,
  revision bigint not null,
  constraint price_revision_pkey PRIMARY KEY (only_row),
  constraint price_revision_only_row_check CHECK (only_row)
);

create table prices (
  id uuid not null,
  source text not null,
  llm_id uuid,
  model text not null,
  rates jsonb not null,
  above jsonb,
  valid_from timestamp(3) with time zone default platform_now() not null,
  valid_to timestamp(3) with time zone,
  deleted_at timestamp(3) with time zone,
  created_at timestamp(3) with time zone default platform_now() not null,
  constraint prices_pkey PRIMARY KEY (id),
  constraint prices_check CHECK ((valid_to > valid_from)),
  constraint prices_check1 CHECK (((source = 'own'::text) OR ((llm_id IS NULL) AND (valid_to IS NULL) AND (deleted_at IS NULL)))),
  constraint prices_source_check CHECK ((source = ANY (ARRAY['own'::text, 'catalogue'::text])))
);
CREATE INDEX prices_own ON prices USING btree (id) WHERE ((source = 'own'::text) AND (deleted_at IS NULL));
CREATE UNIQUE INDEX prices_catalogue ON prices USING btree (model, rates, above) NULLS NOT DISTINCT WHERE (source = 'catalogue'::text);
CREATE TRIGGER own_prices_inserted AFTER INSERT ON prices FOR EACH ROW WHEN ((new.source = 'own'::text)) EXECUTE FUNCTION own_prices_changed();
CREATE TRIGGER own_prices_updated AFTER UPDATE ON prices FOR EACH ROW EXECUTE FUNCTION own_prices_changed();
CREATE TRIGGER prices_immutable BEFORE DELETE OR UPDATE ON prices FOR EACH ROW EXECUTE FUNCTION prices_immutable();
CREATE TRIGGER prices_no_truncate BEFORE TRUNCATE ON prices FOR EACH STATEMENT EXECUTE FUNCTION prices_immutable();

create table removed_files (
  id uuid not null,
  removed_at timestamp(3) with time zone default platform_now() not null,
  constraint removed_files_pkey PRIMARY KEY (id)
);

create table replicas (
  id uuid not null,
  name text not null,
  roles text[] not null,
  version text not null,
  started_at timestamp(3) with time zone default platform_now() not null,
  seen_at timestamp(3) with time zone default platform_now() not null,
  scheduling_at timestamp(3) with time zone,
  stopped_at timestamp(3) with time zone,
  clock_skew_ms bigint,
  loops jsonb default '[]'::jsonb not null,
  telemetry_log_id uuid,
  telemetry_log_bytes bigint,
  takes_input boolean default false not null,
  constraint replicas_pkey PRIMARY KEY (id)
);
CREATE INDEX replicas_scheduling_at ON replicas USING btree (scheduling_at) WHERE (scheduling_at IS NOT NULL);
CREATE INDEX replicas_seen_at ON replicas USING btree (seen_at);

create table reviews (
  id uuid not null,
  source text not null,
  state text default 'open'::text not null,
  work_item_id uuid,
  conversation_id uuid,
  run_id uuid,
  agent_id uuid not null,
  agent_name text not null,
  name text,
  owner_id text,
  reason text,
  approvals jsonb not null,
  required_role text not null,
  barred text[],
  timeout_seconds integer,
  on_expiry text,
  expires_at timestamp(3) with time zone,
  opened_at timestamp(3) with time zone not null,
  escalated_at timestamp(3) with time zone,
  closed_at timestamp(3) with time zone,
  closed_by jsonb,
  via text,
  constraint reviews_pkey PRIMARY KEY (id),
  constraint reviews_closed_check CHECK (((state = 'open'::text) = (closed_at IS NULL))),
  constraint reviews_conversation_id_fkey FOREIGN KEY (conversation_id) REFERENCES conversations(id) ON DELETE CASCADE,
  constraint reviews_on_expiry_check CHECK ((on_expiry = ANY (ARRAY['deny'::text, 'cancel'::text, 'escalate'::text]))),
  constraint reviews_required_role_check CHECK ((required_role = ANY (ARRAY['member'::text, 'builder'::text, 'admin'::text]))),
  constraint reviews_run_id_fkey FOREIGN KEY (run_id) REFERENCES conversation_runs(id) ON DELETE CASCADE,
  constraint reviews_source_check CHECK (
CASE source
    WHEN 'work_item'::text THEN ((work_item_id IS NOT NULL) AND (conversation_id IS NULL) AND (run_id IS NULL))
    WHEN 'conversation'::text THEN ((work_item_id IS NULL) AND (conversation_id IS NOT NULL) AND (run_id IS NOT NULL))
    ELSE false
END),
  constraint reviews_state_check CHECK ((state = ANY (ARRAY['open'::text, 'decided'::text, 'expired'::text, 'withdrawn'::text]))),
  constraint reviews_via_check CHECK ((via = ANY (ARRAY['api'::text, 'console'::text, 'slack'::text, 'expiry'::text]))),
  constraint reviews_work_item_id_fkey FOREIGN KEY (work_item_id) REFERENCES work_items(id) ON DELETE CASCADE
);
CREATE INDEX reviews_agent ON reviews USING btree (agent_id, id);
CREATE INDEX reviews_conversation ON reviews USING btree (conversation_id, id) WHERE (conversation_id IS NOT NULL);
CREATE INDEX reviews_due ON reviews USING btree (expires_at) WHERE ((state = 'open'::text) AND (expires_at IS NOT NULL));
CREATE INDEX reviews_escalated ON reviews USING btree (id) WHERE ((state = 'open'::text) AND (escalated_at IS NOT NULL));
CREATE INDEX reviews_of_work_items ON reviews USING btree (opened_at) WHERE ((state = 'open'::text) AND (source = 'work_item'::text));
CREATE INDEX reviews_open ON reviews USING btree (id) WHERE (state = 'open'::text);
CREATE INDEX reviews_run ON reviews USING btree (run_id) WHERE (run_id IS NOT NULL);
CREATE INDEX reviews_work_item ON reviews USING btree (work_item_id, id) WHERE (work_item_id IS NOT NULL);
CREATE UNIQUE INDEX reviews_open_run ON reviews USING btree (run_id) WHERE ((state = 'open'::text) AND (run_id IS NOT NULL));
CREATE UNIQUE INDEX reviews_open_work_item ON reviews USING btree (work_item_id) WHERE ((state = 'open'::text) AND (work_item_id IS NOT NULL));
CREATE TRIGGER reviews_messages AFTER DELETE ON reviews REFERENCING OLD TABLE AS gone FOR EACH STATEMENT EXECUTE FUNCTION delete_messages();

create table role_mappings (
  id uuid not null,
  claim text not null,
  value text not null,
  role text not null,
  priority integer default 0 not null,
  created_at timestamp(3) with time zone default platform_now() not null,
  updated_at timestamp(3) with time zone default platform_now() not null,
  constraint role_mappings_pkey PRIMARY KEY (id),
  constraint role_mappings_priority_check CHECK (((priority >= 0) AND (priority <= 1000))),
  constraint role_mappings_role_check CHECK ((role = ANY (ARRAY['member'::text, 'builder'::text, 'admin'::text])))
);
CREATE UNIQUE INDEX role_mappings_pair ON role_mappings USING btree (md5(claim), md5(value));

create table route_steps (
  id uuid default new_id() not null,
  subject_type text not null,
  subject_id uuid not null,
  channel_id uuid not null,
  recipients jsonb not null,
  due_at timestamp(3) with time zone not null,
  constraint route_steps_pkey PRIMARY KEY (id),
  constraint route_steps_subject_type_check CHECK ((subject_type = ANY (ARRAY['review'::text, 'alert'::text])))
);
CREATE INDEX route_steps_due ON route_steps USING btree (due_at);
CREATE INDEX route_steps_subject ON route_steps USING btree (subject_id);

create table routes (
  id uuid not null,
  name text not null,
  enabled boolean not null,
  "position" integer not null,
  "for" text not null,
  match jsonb not null,
  steps jsonb not null,
  decide_role text,
  created_by text not null,
  revision integer default 1 not null,
  created_at timestamp(3) with time zone default platform_now() not null,
  updated_at timestamp(3) with time zone default platform_now() not null,
  constraint routes_pkey PRIMARY KEY (id),
  constraint routes_decide_role_check CHECK ((decide_role = ANY (ARRAY['member'::text, 'builder'::text, 'admin'::text]))),
  constraint routes_for_check CHECK (("for" = ANY (ARRAY['reviews'::text, 'alerts'::text])))
);

create table schedule_definitions (
  schedule_id uuid not null,
  revision integer not null,
  from_at timestamp(3) with time zone not null,
  cron_expression text not null,
  timezone text not null,
  enabled boolean not null,
  action text,
  principal jsonb,
  reason text,
  catch_up boolean,
  changed text[],
  overlap text,
  constraint schedule_definitions_pkey PRIMARY KEY (schedule_id, revision),
  constraint schedule_definitions_schedule_id_fkey FOREIGN KEY (schedule_id) REFERENCES schedules(id) ON DELETE CASCADE
);
CREATE INDEX schedule_definitions_replaced ON schedule_definitions USING btree (from_at) WHERE (revision > 1);

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
  last_outcome text,
  overlap text default 'queue'::text not null,
  constraint schedules_pkey PRIMARY KEY (id),
  constraint schedules_agent_id_fkey FOREIGN KEY (agent_id) REFERENCES agents(id) ON DELETE CASCADE,
  constraint schedules_overlap_check CHECK ((overlap = ANY (ARRAY['queue'::text, 'skip'::text, 'cancel_previous'::text])))
) with (autovacuum_vacuum_scale_factor=0.02);
CREATE INDEX schedules_agent ON schedules USING btree (agent_id, id);
CREATE INDEX schedules_blocked ON schedules USING btree (id) WHERE (enabled AND (next_run_at IS NULL));
CREATE INDEX schedules_due ON schedules USING btree (next_run_at) WHERE (next_run_at IS NOT NULL);
CREATE INDEX schedules_failing ON schedules USING btree (id) WHERE (last_outcome = 'blocked'::text);
CREATE INDEX schedules_paused ON schedules USING btree (id) WHERE (NOT enabled);
CREATE INDEX schedules_zone_rules ON schedules USING btree (zone_rules);
CREATE TRIGGER schedules_forget_occurrences AFTER DELETE ON schedules FOR EACH ROW EXECUTE FUNCTION forget_occurrences();

create table scheduling_outages (
  from_at timestamp(3) with time zone not null,
  to_at timestamp(3) with time zone not null,
  cause text not null,
  constraint scheduling_outages_pkey PRIMARY KEY (from_at),
  constraint scheduling_outages_cause_check CHECK ((cause = ANY (ARRAY['stopped'::text, 'lost'::text, 'database'::text, 'firing'::text, 'stalled'::text, 'clock'::text])))
);
CREATE INDEX scheduling_outages_to_at ON scheduling_outages USING btree (to_at);

create table scores (
  trial_id uuid not null,
  grader text not null,
  "position" integer not null,
  type text not null,
  definition_hash text not null,
  value double precision,
  label text,
  explanation text,
  usage jsonb,
  judge_key text,
  constraint scores_pkey PRIMARY KEY (trial_id, grader),
  constraint scores_label_check CHECK ((label = ANY (ARRAY['pass'::text, 'fail'::text, 'error'::text]))),
  constraint scores_trial_id_fkey FOREIGN KEY (trial_id) REFERENCES trials(id) ON DELETE CASCADE
);

create table semantic_data_models (
  id uuid not null,
  name text not null,
  description text,
  data_connection_id uuid not null,
  semantic_model json not null,
  verified_queries json not null,
  validation json not null,
  created_by text not null,
  revision integer default 1 not null,
  created_at timestamp(3) with time zone default platform_now() not null,
  updated_at timestamp(3) with time zone default platform_now() not null,
  constraint semantic_data_models_pkey PRIMARY KEY (id),
  constraint semantic_data_models_data_connection_id_fkey FOREIGN KEY (data_connection_id) REFERENCES data_connections(id)
);
CREATE INDEX semantic_data_models_data_connection ON semantic_data_models USING btree (data_connection_id, id);

create table sessions (
  id uuid not null,
  value_hash text not null,
  principal_id text not null,
  method text not null,
  user_id uuid,
  key_id uuid,
  bootstrap_hash text,
  provider_sid text,
  id_token text,
  refresh_token text,
  ip text,
  user_agent text,
  created_at timestamp(3) with time zone default platform_now() not null,
  last_seen_at timestamp(3) with time zone default platform_now() not null,
  confirmed_at timestamp(3) with time zone default platform_now() not null,
  lease_until timestamp(3) with time zone,
  lease_token uuid,
  retry_at timestamp(3) with time zone,
  constraint sessions_pkey PRIMARY KEY (id),
  constraint sessions_check CHECK ((num_nonnulls(key_id, bootstrap_hash) =
CASE method
    WHEN 'api_key'::text THEN 1
    ELSE 0
END)),
  constraint sessions_check1 CHECK (((method = 'api_key'::text) OR (user_id IS NOT NULL))),
  constraint sessions_key_id_fkey FOREIGN KEY (key_id) REFERENCES api_keys(id) ON DELETE CASCADE,
  constraint sessions_method_check CHECK ((method = ANY (ARRAY['oidc'::text, 'api_key'::text]))),
  constraint sessions_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id) ON DELETE CASCADE,
  constraint sessions_value_hash_key UNIQUE (value_hash)
);
CREATE INDEX sessions_key ON sessions USING btree (key_id) WHERE (key_id IS NOT NULL);
CREATE INDEX sessions_principal ON sessions USING btree (principal_id, id);
CREATE INDEX sessions_provider_sid ON sessions USING btree (provider_sid) WHERE (provider_sid IS NOT NULL);
CREATE INDEX sessions_user ON sessions USING btree (user_id) WHERE (user_id IS NOT NULL);

create table stream_events (
  scope uuid not null,
  seq bigint not null,
  run_id uuid not null,
  type text not null,
  message_id uuid,
  data json not null,
  created_at timestamp(3) with time zone default platform_now() not null,
  remove_at timestamp(3) with time zone default (platform_now() + '24:00:00'::interval) not null,
  constraint stream_events_pkey PRIMARY KEY (scope, seq)
);
CREATE INDEX stream_events_deltas ON stream_events USING btree (message_id) WHERE (message_id IS NOT NULL);
CREATE INDEX stream_events_remove_at ON stream_events USING btree (remove_at);

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
  expired_at timestamp(3) with time zone,
  last_error_at timestamp(3) with time zone,
  constraint telemetry_accounts_pkey PRIMARY KEY (number, replica_id),
  constraint telemetry_accounts_state_check CHECK ((state = ANY (ARRAY['delivering'::text, 'retrying'::text, 'paused'::text, 'disabled'::text])))
);
CREATE TRIGGER telemetry_expired BEFORE INSERT OR UPDATE ON telemetry_accounts FOR EACH ROW EXECUTE FUNCTION telemetry_expired();

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

create table telemetry_samples (
  number integer not null,
  at timestamp(3) with time zone not null,
  delivered bigint not null,
  dead_lettered bigint not null,
  queued bigint not null,
  lag_seconds double precision not null,
  constraint telemetry_samples_pkey PRIMARY KEY (number, at)
);
CREATE INDEX telemetry_samples_at ON telemetry_samples USING btree (at);

create table telemetry_streams (
  id uuid not null,
  name text not null,
  created text not null,
  keeper uuid,
  kept_until timestamp(3) with time zone,
  constraint telemetry_streams_pkey PRIMARY KEY (id),
  constraint telemetry_streams_name_created_key UNIQUE (name, created)
);

create table tool_inputs (
  id uuid not null,
  work_item_id uuid,
  run_id uuid,
  tool_call_id text not null,
  state text not null,
  created_at timestamp(3) with time zone default platform_now() not null,
  constraint tool_inputs_pkey PRIMARY KEY (id),
  constraint tool_inputs_of_check CHECK (((work_item_id IS NULL) <> (run_id IS NULL))),
  constraint tool_inputs_run_id_fkey FOREIGN KEY (run_id) REFERENCES conversation_runs(id) ON DELETE CASCADE,
  constraint tool_inputs_work_item_id_fkey FOREIGN KEY (work_item_id) REFERENCES work_items(id) ON DELETE CASCADE
);
CREATE UNIQUE INDEX tool_inputs_run ON tool_inputs USING btree (run_id, tool_call_id) WHERE (run_id IS NOT NULL);
CREATE UNIQUE INDEX tool_inputs_work_item ON tool_inputs USING btree (work_item_id, tool_call_id) WHERE (work_item_id IS NOT NULL);

create table tool_server_tools (
  tool_server_id uuid not null,
  name text not null,
  tool_name text not null,
  definition jsonb not null,
  definition_hash text not null,
  accepted jsonb,
  accepted_hash text,
  distrusted boolean default false not null,
  present boolean default true not null,
  policy text,
  idempotent boolean,
  first_seen_at timestamp(3) with time zone default platform_now() not null,
  changed_at timestamp(3) with time zone default platform_now() not null,
  constraint tool_server_tools_pkey PRIMARY KEY (tool_server_id, name),
  constraint tool_server_tools_check CHECK (((accepted IS NULL) = (accepted_hash IS NULL))),
  constraint tool_server_tools_policy_check CHECK ((policy = ANY (ARRAY['allow'::text, 'deny'::text, 'require_approval'::text]))),
  constraint tool_server_tools_tool_name_key UNIQUE (tool_name),
  constraint tool_server_tools_tool_server_id_fkey FOREIGN KEY (tool_server_id) REFERENCES tool_servers(id) ON DELETE CASCADE
);

create table tool_servers (
  id uuid not null,
  name text not null,
  prefix text not null,
  transport text not null,
  settings text not null,
  enabled boolean not null,
  default_policy text not null,
  call_timeout_seconds integer not null,
  max_concurrency integer not null,
  state text default 'unknown'::text not null,
  protocol_version text,
  discovered boolean default false not null,
  discovery_began_at timestamp(3) with time zone,
  last_success_at timestamp(3) with time zone,
  last_error text,
  revision integer default 1 not null,
  created_at timestamp(3) with time zone default platform_now() not null,
  updated_at timestamp(3) with time zone default platform_now() not null,
  expected_tools jsonb default '{}'::jsonb not null,
  warnings jsonb default '[]'::jsonb not null,
  allow_input boolean default true not null,
  constraint tool_servers_pkey PRIMARY KEY (id),
  constraint tool_servers_call_timeout_seconds_check CHECK (((call_timeout_seconds >= 1) AND (call_timeout_seconds <= 600))),
  constraint tool_servers_default_policy_check CHECK ((default_policy = ANY (ARRAY['allow'::text, 'deny'::text, 'require_approval'::text]))),
  constraint tool_servers_max_concurrency_check CHECK (((max_concurrency >= 1) AND (max_concurrency <= 100))),
  constraint tool_servers_prefix_key UNIQUE (prefix),
  constraint tool_servers_state_check CHECK ((state = ANY (ARRAY['unknown'::text, 'ok'::text, 'failing'::text]))),
  constraint tool_servers_transport_check CHECK ((transport = ANY (ARRAY['http'::text, 'stdio'::text])))
);

create table trace_blocks (
  part integer not null,
  id bigint not null,
  stored_at timestamp(3) with time zone default platform_now() not null,
  spans integer not null,
  content bytea not null,
  constraint trace_blocks_pkey PRIMARY KEY (part, id)
) partition by list (part);

create table trace_expiry (
  only_row boolean default true not null,
  spans bigint default 0 not null,
  constraint trace_expiry_pkey PRIMARY KEY (only_row),
  constraint trace_expiry_only_row_check CHECK (only_row)
);

create table trace_parts (
  id integer generated always as identity not null,
  began_at timestamp(3) with time zone default platform_now() not null,
  ended_at timestamp(3) with time zone,
  constraint trace_parts_pkey PRIMARY KEY (id)
);
CREATE UNIQUE INDEX trace_parts_open ON trace_parts USING btree (((ended_at IS NULL))) WHERE (ended_at IS NULL);

create table trace_positions (
  log uuid not null,
  ordinal bigint default 0 not null,
  stored bigint default 0 not null,
  constraint trace_positions_pkey PRIMARY KEY (log)
);

create table traces (
  start_us bigint not null,
  end_us bigint not null,
  model_tokens bigint,
  agent_tokens bigint,
  model_cost_nano_usd bigint,
  agent_cost_nano_usd bigint,
  block bigint not null,
  part integer not null,
  span_count integer not null,
  failed_spans integer not null,
  rooted boolean not null,
  trace_id uuid not null,
  work_item_id uuid,
  name text not null,
  service text,
  agent_id text,
  agent_name text,
  conversation_id text,
  terms text not null,
  more_blocks bigint[],
  constraint traces_pkey PRIMARY KEY (trace_id, part)
) partition by list (part);
CREATE INDEX traces_by_cost ON ONLY traces USING btree (COALESCE(model_cost_nano_usd, agent_cost_nano_usd) DESC) WHERE (COALESCE(model_cost_nano_usd, agent_cost_nano_usd) IS NOT NULL);
CREATE INDEX traces_by_duration ON ONLY traces USING btree (((end_us - start_us)) DESC);
CREATE INDEX traces_by_time ON ONLY traces USING btree (start_us DESC);
CREATE INDEX traces_failed ON ONLY traces USING btree (start_us DESC) WHERE (failed_spans > 0);
CREATE INDEX traces_of_conversation ON ONLY traces USING btree (hashtext(conversation_id)) WHERE (conversation_id IS NOT NULL);
CREATE INDEX traces_of_work_item ON ONLY traces USING btree (work_item_id) WHERE (work_item_id IS NOT NULL);
CREATE INDEX traces_terms ON ONLY traces USING gin (string_to_array(
CASE
    WHEN (agent_id IS NULL) THEN terms
    ELSE ((terms || '
a:'::text) || agent_id)
END, '
'::text));

create table trials (
  id uuid not null,
  experiment_id uuid not null,
  agent_id uuid not null,
  agent_version integer,
  case_id uuid not null,
  case_revision integer not null,
  case_name text not null,
  repetition integer not null,
  status text default 'queued'::text not null,
  verdict text,
  outcome text default 
CASE status
    WHEN 'completed'::text THEN verdict
    WHEN 'error'::text THEN 'error'::text
    WHEN 'cancelled'::text THEN 'cancelled'::text
    ELSE NULL::text
END,
  result json,
  error jsonb,
  messages json,
  transcript_hash text,
  divergences json,
  unused_calls integer,
  score double precision,
  usage jsonb,
  model text,
  duration_ms integer,
  reused_from uuid,
  attempts integer default 0 not null,
  fencing bigint default 0 not null,
  lease_owner text,
  lease_expires_at timestamp(3) with time zone,
  not_before timestamp(3) with time zone,
  cancel_requested_at timestamp(3) with time zone,
  trace_id text,
  pending_approvals jsonb,
  decisions jsonb,
  unsafe_calls jsonb,
  tokens_before bigint default 0 not null,
  created_by text not null,
  created_at timestamp(3) with time zone default platform_now() not null,
  started_at timestamp(3) with time zone,
  finished_at timestamp(3) with time zone,
  constraint trials_pkey PRIMARY KEY (id),
  constraint trials_check CHECK (((status = 'running'::text) = (lease_expires_at IS NOT NULL))),
  constraint trials_experiment_id_case_id_repetition_key UNIQUE (experiment_id, case_id, repetition),
  constraint trials_experiment_id_fkey FOREIGN KEY (experiment_id) REFERENCES experiments(id) ON DELETE CASCADE,
  constraint trials_status_check CHECK ((status = ANY (ARRAY['queued'::text, 'running'::text, 'completed'::text, 'needs_review'::text, 'error'::text, 'cancelled'::text]))),
  constraint trials_verdict_check CHECK ((verdict = ANY (ARRAY['completed'::text, 'failed'::text, 'diverged'::text])))
);
CREATE INDEX trials_contents ON trials USING btree (case_id, case_revision);
CREATE INDEX trials_leases ON trials USING btree (lease_expires_at) WHERE (status = 'running'::text);
CREATE INDEX trials_open ON trials USING btree (experiment_id) WHERE (status = ANY (ARRAY['queued'::text, 'running'::text]));
CREATE INDEX trials_page ON trials USING btree (experiment_id, id);
CREATE INDEX trials_queued ON trials USING btree (created_at, id) WHERE (status = 'queued'::text);
CREATE INDEX trials_reuse ON trials USING btree (agent_id, agent_version, case_id, case_revision, repetition, finished_at) WHERE (status = 'completed'::text);
CREATE TRIGGER trials_removed AFTER DELETE ON trials REFERENCING OLD TABLE AS gone FOR EACH STATEMENT EXECUTE FUNCTION remove_frames_of_trials();

create table trigger_dedup_keys (
  trigger_id uuid not null,
  key bytea not null,
  event_id uuid not null,
  at timestamp(3) with time zone not null,
  constraint trigger_dedup_keys_pkey PRIMARY KEY (trigger_id, key)
);
CREATE INDEX trigger_dedup_keys_at ON trigger_dedup_keys USING btree (at);

create table trigger_definitions (
  trigger_id uuid not null,
  revision integer not null,
  from_at timestamp(3) with time zone not null,
  enabled boolean not null,
  definition jsonb not null,
  action text not null,
  principal jsonb not null,
  reason text,
  changed text[],
  constraint trigger_definitions_pkey PRIMARY KEY (trigger_id, revision),
  constraint trigger_definitions_trigger_id_fkey FOREIGN KEY (trigger_id) REFERENCES triggers(id) ON DELETE CASCADE
);
CREATE INDEX trigger_definitions_replaced ON trigger_definitions USING btree (from_at) WHERE (revision > 1);

create table trigger_event_bodies (
  id uuid not null,
  at timestamp(3) with time zone not null,
  content text not null,
  constraint trigger_event_bodies_pkey PRIMARY KEY (id)
);
CREATE INDEX trigger_event_bodies_at ON trigger_event_bodies USING btree (at);

create table trigger_event_counts (
  trigger_id uuid not null,
  minute timestamp(3) with time zone not null,
  replica_id uuid not null,
  outcome text not null,
  reason text default ''::text not null,
  count integer not null,
  constraint trigger_event_counts_pkey PRIMARY KEY (trigger_id, minute, outcome, reason, replica_id)
);
CREATE INDEX trigger_event_counts_minute ON trigger_event_counts USING btree (minute);

create table trigger_events (
  id uuid not null,
  trigger_id uuid not null,
  identity bytea not null,
  event_id text not null,
  "position" text,
  type text,
  at timestamp(3) with time zone not null,
  outcome text not null,
  reason text,
  work_item_id uuid,
  starts_at timestamp(3) with time zone,
  original_id uuid,
  deliveries integer default 1 not null,
  differing integer default 0 not null,
  last_delivery_at timestamp(3) with time zone not null,
  body_hash bytea,
  depth integer default 0 not null,
  revision integer not null,
  principal jsonb,
  pending_event jsonb,
  constraint trigger_events_pkey PRIMARY KEY (id),
  constraint trigger_events_outcome_check CHECK ((outcome = ANY (ARRAY['invalid'::text, 'paused'::text, 'filtered'::text, 'duplicate'::text, 'limited'::text, 'fired'::text, 'manual'::text, 'lost'::text, 'pending'::text])))
);
CREATE INDEX trigger_events_at ON trigger_events USING btree (at);
CREATE INDEX trigger_events_list ON trigger_events USING btree (trigger_id, at, id);
CREATE INDEX trigger_events_name ON trigger_events USING btree (trigger_id, event_id, at);
CREATE INDEX trigger_events_outcome ON trigger_events USING btree (trigger_id, outcome, at, id);
CREATE INDEX trigger_events_pending ON trigger_events USING btree (id) WHERE (outcome = 'pending'::text);
CREATE INDEX trigger_events_position ON trigger_events USING btree (trigger_id, "position") WHERE ("position" IS NOT NULL);
CREATE UNIQUE INDEX trigger_events_identity ON trigger_events USING btree (trigger_id, identity);

create table trigger_readings (
  trigger_id uuid not null,
  connection_id uuid,
  stream text,
  consumer text,
  source_id text,
  positions jsonb default '[]'::jsonb not null,
  state text,
  lag bigint,
  behind_since timestamp(3) with time zone,
  last_error text,
  last_read_at timestamp(3) with time zone,
  updated_at timestamp(3) with time zone default platform_now() not null,
  constraint trigger_readings_pkey PRIMARY KEY (trigger_id),
  constraint trigger_readings_state_check CHECK ((state = ANY (ARRAY['ok'::text, 'connecting'::text, 'failing'::text])))
);

create table triggers (
  id uuid not null,
  agent_id uuid not null,
  name text not null,
  kind text not null,
  settings text not null,
  scheme text,
  connection_id uuid,
  watched_agent_id uuid,
  watched_trigger_id uuid,
  watched_statuses text[],
  enabled boolean default true not null,
  filter text,
  mapping jsonb not null,
  dedup jsonb,
  rate_limit jsonb,
  previous_secret_expires_at timestamp(3) with time zone,
  blocked_reason text,
  due_at timestamp(3) with time zone,
  bucket_full_at double precision,
  revision integer default 1 not null,
  created_at timestamp(3) with time zone default platform_now() not null,
  updated_at timestamp(3) with time zone default platform_now() not null,
  missed_at timestamp(3) with time zone,
  constraint triggers_pkey PRIMARY KEY (id),
  constraint triggers_agent_id_fkey FOREIGN KEY (agent_id) REFERENCES agents(id) ON DELETE CASCADE,
  constraint triggers_kind_check CHECK ((kind = ANY (ARRAY['webhook'::text, 'nats'::text, 'kafka'::text, 'work_item'::text, 'absence'::text])))
);
CREATE INDEX triggers_agent ON triggers USING btree (agent_id, id);
CREATE INDEX triggers_connection ON triggers USING btree (connection_id) WHERE (connection_id IS NOT NULL);
CREATE INDEX triggers_due ON triggers USING btree (due_at) WHERE (due_at IS NOT NULL);
CREATE INDEX triggers_missed ON triggers USING btree (id) WHERE (missed_at IS NOT NULL);
CREATE INDEX triggers_transitions ON triggers USING btree (id) WHERE (kind = 'work_item'::text);
CREATE INDEX triggers_watched ON triggers USING btree (watched_trigger_id) WHERE (watched_trigger_id IS NOT NULL);
CREATE UNIQUE INDEX triggers_name ON triggers USING btree (agent_id, lower(name));

create table used_once (
  value_hash text not null,
  expires_at timestamp(3) with time zone not null,
  constraint used_once_pkey PRIMARY KEY (value_hash)
);
CREATE INDEX used_once_expires ON used_once USING btree (expires_at);

create table users (
  id uuid not null,
  subject text,
  email text,
  name text not null,
  role text,
  created_at timestamp(3) with time zone default platform_now() not null,
  updated_at timestamp(3) with time zone default platform_now() not null,
  issuer text,
  email_verified boolean default false not null,
  role_source text default 'manual'::text not null,
  status text default 'active'::text not null,
  claims jsonb,
  last_sign_in_at timestamp(3) with time zone,
  last_confirmed_at timestamp(3) with time zone,
  constraint users_pkey PRIMARY KEY (id),
  constraint users_check CHECK (((issuer IS NULL) OR (subject IS NOT NULL))),
  constraint users_issuer_subject_key UNIQUE (issuer, subject),
  constraint users_role_check CHECK ((role = ANY (ARRAY['member'::text, 'builder'::text, 'admin'::text]))),
  constraint users_role_source_check CHECK ((role_source = ANY (ARRAY['mapping'::text, 'manual'::text, 'default'::text]))),
  constraint users_status_check CHECK ((status = ANY (ARRAY['invited'::text, 'active'::text, 'suspended'::text])))
);
CREATE INDEX users_email ON users USING btree (email, id);
CREATE INDEX users_subject ON users USING btree (subject);
CREATE UNIQUE INDEX users_invitation ON users USING btree (email) WHERE ((issuer IS NULL) AND (subject IS NULL));

create table work_item_bulk_actions (
  id uuid not null,
  action text not null,
  message text,
  asked jsonb not null,
  actor jsonb not null,
  work_item_ids uuid[] not null,
  matched integer not null,
  "position" integer default 0 not null,
  done integer default 0 not null,
  refused jsonb default '{}'::jsonb not null,
  failed integer default 0 not null,
  created_at timestamp(3) with time zone default platform_now() not null,
  cancel_requested_at timestamp(3) with time zone,
  finished_at timestamp(3) with time zone,
  constraint work_item_bulk_actions_pkey PRIMARY KEY (id)
);
CREATE INDEX work_item_bulk_actions_finished ON work_item_bulk_actions USING btree (finished_at) WHERE (finished_at IS NOT NULL);
CREATE INDEX work_item_bulk_actions_open ON work_item_bulk_actions USING btree (id) WHERE (finished_at IS NULL);

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
) with (autovacuum_vacuum_scale_factor=0.02);

create table work_item_messages (
  work_item_id uuid not null,
  seq bigint default nextval('work_item_events_seq_seq'::regclass) not null,
  id uuid not null,
  conversation_id uuid not null,
  role text not null,
  content jsonb not null,
  created_at timestamp(3) with time zone default platform_now() not null,
  provider_parts json,
  constraint work_item_messages_pkey PRIMARY KEY (work_item_id, seq),
  constraint work_item_messages_work_item_id_fkey FOREIGN KEY (work_item_id) REFERENCES work_items(id) ON DELETE CASCADE
) with (autovacuum_vacuum_scale_factor=0.02);

create table work_item_steps (
  work_item_id uuid not null,
  seq bigint generated always as identity not null,
  attempt integer not null,
  parent bigint,
  kind text not null,
  name text not null,
  started_at timestamp(3) with time zone default platform_now() not null,
  ended_at timestamp(3) with time zone,
  status text not null,
  error text,
  model text,
  tokens jsonb,
  message_seq bigint,
  trace_id text,
  worker text,
  usage_before jsonb,
  notes jsonb,
  cost_nano_usd bigint,
  unknown_calls integer,
  span_id text,
  constraint work_item_steps_pkey PRIMARY KEY (work_item_id, seq),
  constraint work_item_steps_kind_check CHECK ((kind = ANY (ARRAY['attempt'::text, 'model'::text, 'tool'::text, 'wait'::text, 'review'::text]))),
  constraint work_item_steps_status_check CHECK ((status = ANY (ARRAY['running'::text, 'ok'::text, 'error'::text]))),
  constraint work_item_steps_work_item_id_fkey FOREIGN KEY (work_item_id) REFERENCES work_items(id) ON DELETE CASCADE
) with (autovacuum_vacuum_scale_factor=0.02);
CREATE INDEX work_item_steps_trace ON work_item_steps USING btree (trace_id) WHERE (trace_id IS NOT NULL);

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
  model text,
  review_reason text,
  pending_approvals jsonb,
  decisions jsonb,
  callbacks jsonb,
  unsafe_calls jsonb,
  context_cut jsonb,
  tokens_before bigint default 0 not null,
  depth smallint default 0 not null,
  by_person boolean default false not null,
  overlap_watched boolean default false not null,
  start_at timestamp(3) with time zone,
  agent_version integer,
  cost_nano_usd bigint default 0 not null,
  unknown_calls integer default 0 not null,
  budget_wait jsonb,
  trigger_id uuid,
  occurrence_id uuid,
  constraint work_items_pkey PRIMARY KEY (id),
  constraint work_items_check CHECK (((status = 'EXECUTING'::text) = (lease_expires_at IS NOT NULL))),
  constraint work_items_depth_check CHECK ((depth >= 0)),
  constraint work_items_status_check CHECK ((status = ANY (ARRAY['DRAFT'::text, 'PENDING'::text, 'EXECUTING'::text, 'NEEDS_REVIEW'::text, 'INDETERMINATE'::text, 'COMPLETED'::text, 'ERROR'::text, 'CANCELLED'::text])))
) with (autovacuum_vacuum_scale_factor=0.02);
CREATE INDEX work_items_agent ON work_items USING btree (agent_id, id);
CREATE INDEX work_items_agent_delayed ON work_items USING btree (agent_id) WHERE ((status = 'PENDING'::text) AND (not_before IS NOT NULL));
CREATE INDEX work_items_agent_finished ON work_items USING btree (agent_id, status, finished_at) WHERE (finished_at IS NOT NULL);
CREATE INDEX work_items_budget_reviews ON work_items USING btree (id) WHERE ((status = 'NEEDS_REVIEW'::text) AND (pending_approvals @> '[{"kind": "budget"}]'::jsonb));
CREATE INDEX work_items_budget_waits ON work_items USING btree (id) WHERE ((status = 'PENDING'::text) AND (budget_wait IS NOT NULL));
CREATE INDEX work_items_by_agent ON work_items USING btree (agent_id, status, created_at, id) WHERE (status <> ALL (ARRAY['PENDING'::text, 'EXECUTING'::text]));
CREATE INDEX work_items_by_duration ON work_items USING btree (status, COALESCE(((EXTRACT(epoch FROM (finished_at - started_at)) * (1000)::numeric))::bigint, ('-1'::integer)::bigint), id) INCLUDE (finished_at, started_at, agent_id, created_at, occurrence) WHERE ((status <> ALL (ARRAY['PENDING'::text, 'EXECUTING'::text])) AND (finished_at IS NOT NULL));
CREATE INDEX work_items_by_end ON work_items USING btree (status, finished_at, id) INCLUDE (agent_id, created_at) WHERE ((status <> ALL (ARRAY['PENDING'::text, 'EXECUTING'::text])) AND (finished_at IS NOT NULL));
CREATE INDEX work_items_by_error ON work_items USING btree (((error ->> 'code'::text)), status, created_at, id) WHERE ((status <> ALL (ARRAY['PENDING'::text, 'EXECUTING'::text])) AND (error IS NOT NULL));
CREATE INDEX work_items_by_hand ON work_items USING btree (by_person, status, created_at, id) WHERE ((status <> ALL (ARRAY['PENDING'::text, 'EXECUTING'::text])) AND (occurrence IS NULL) AND (created_by <> 'trigger'::text));
CREATE INDEX work_items_by_name ON work_items USING btree (status, lower(work_item_name) COLLATE "C", id) INCLUDE (work_item_name, created_at) WHERE ((status <> ALL (ARRAY['PENDING'::text, 'EXECUTING'::text])) AND (work_item_name IS NOT NULL));
CREATE INDEX work_items_by_schedule ON work_items USING btree (schedule_id, status, created_at, id) WHERE ((status <> ALL (ARRAY['PENDING'::text, 'EXECUTING'::text])) AND (schedule_id IS NOT NULL));
CREATE INDEX work_items_by_status ON work_items USING btree (status, created_at, id) WHERE (status <> ALL (ARRAY['PENDING'::text, 'EXECUTING'::text]));
CREATE INDEX work_items_by_trigger ON work_items USING btree (trigger_id, status, created_at, id) WHERE ((status <> ALL (ARRAY['PENDING'::text, 'EXECUTING'::text])) AND (trigger_id IS NOT NULL));
CREATE INDEX work_items_finished ON work_items USING btree (finished_at) WHERE (finished_at IS NOT NULL);
CREATE INDEX work_items_leases ON work_items USING btree (lease_expires_at) INCLUDE (agent_id) WHERE (status = 'EXECUTING'::text);
CREATE INDEX work_items_not_before ON work_items USING btree (not_before) WHERE ((status = 'PENDING'::text) AND (not_before IS NOT NULL));
CREATE INDEX work_items_pending_in_order ON work_items USING btree ((
CASE
    WHEN (not_before IS NULL) THEN 0
    ELSE 1
END), created_at, id) INCLUDE (agent_id, not_before) WHERE (status = 'PENDING'::text);
CREATE INDEX work_items_queue ON work_items USING btree (agent_id, created_at, id) WHERE ((status = 'PENDING'::text) AND (not_before IS NULL));
CREATE INDEX work_items_reviews ON work_items USING btree (status, updated_at, id) WHERE (status = ANY (ARRAY['NEEDS_REVIEW'::text, 'INDETERMINATE'::text]));
CREATE INDEX work_items_running ON work_items USING btree (schedule_id, created_at, id) WHERE (overlap_watched AND (status = ANY (ARRAY['PENDING'::text, 'EXECUTING'::text, 'NEEDS_REVIEW'::text, 'INDETERMINATE'::text])));
CREATE INDEX work_items_trigger ON work_items USING btree (trigger_id, id) WHERE (trigger_id IS NOT NULL);
CREATE UNIQUE INDEX work_items_event ON work_items USING btree (occurrence_id) WHERE (occurrence_id IS NOT NULL);
CREATE UNIQUE INDEX work_items_occurrence ON work_items USING btree (schedule_id, occurrence);
CREATE TRIGGER work_items_files AFTER DELETE ON work_items REFERENCING OLD TABLE AS gone FOR EACH STATEMENT EXECUTE FUNCTION remove_files_of_work_items();

CREATE OR REPLACE FUNCTION public.add_budget_settlements(replica uuid, periods uuid[])
 RETURNS void
 LANGUAGE plpgsql
AS $function$
declare
  locked uuid[];
begin
  select array_agg(late.id) into locked from (
    select p.id from budget_periods p
    where p.id = any(periods) and exists (select from budget_settlements t
      where t.period_id = p.id and not exists (select from budget_shares s where s.id = t.share_id))
    order by p.id for no key update
  ) late;
  if locked is not null then perform close_late_budget_settlements(locked); end if;

  select array_agg(own.id) into locked from (
    select s.id from budget_shares s
    where s.replica_id = replica and exists (select from budget_settlements t where t.share_id = s.id)
    order by s.id for no key update
  ) own;
  with gone as (
    delete from budget_settlements t where t.share_id = any(locked) returning *
  ), sums as (
    select share_id, sum(spent) as spent, sum(assumed) as assumed from gone group by share_id
  )
  update budget_shares s set spent = least(s.spent + x.spent, 9e15)::bigint, assumed = least(s.assumed + x.assumed, 9e15)::bigint
  from sums x where s.id = x.share_id;
end $function$;

CREATE OR REPLACE FUNCTION public.agent_content(agent agents)
 RETURNS json
 LANGUAGE sql
 STABLE
AS $function$
  select json_object_agg(key, value) from json_each(row_to_json(agent))
  where key not in ('id', 'name', 'description', 'mode', 'callbacks', 'max_concurrency', 'release', 'gate', 'version',
    'latest_version', 'publication_id', 'draft', 'canary', 'ended_canary', 'revision', 'created_at', 'updated_at')
$function$;

CREATE OR REPLACE FUNCTION public.agents_first_version()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  perform freeze_agent_version(new.id, agent_content(new));
  perform record_agent_publication(new.publication_id, new.id, null, 1);
  return null;
end
$function$;

CREATE OR REPLACE FUNCTION public.agents_version()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  if new.publication_id = old.publication_id and agent_content(new)::jsonb <> agent_content(old)::jsonb then
    new.version := freeze_agent_version(new.id, agent_content(new));
    new.latest_version := greatest(new.latest_version, new.version);
    new.publication_id := new_uuid7();
    perform record_agent_publication(new.publication_id, new.id, old.version, new.version);
  end if;
  return new;
end
$function$;

CREATE OR REPLACE FUNCTION public.api_keys_owner()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
declare
  maker api_keys%rowtype;
begin
  if new.owner is not null then
    return new;
  end if;
  new.first_end := new.expires_at;
  select k.* into maker from api_keys k where coalesce(k.account_id, k.id) = new.account_id order by k.created_at limit 1;
  if found then
    new.owner := maker.owner;
    new.owner_user_id := maker.owner_user_id;
    new.made_by_user_id := maker.made_by_user_id;
    new.made_with_key_id := maker.made_with_key_id;
    new.root_id := maker.root_id;
    return new;
  end if;
  select u.id into new.owner_user_id from users u where u.id = new.user_id or u.id::text = new.created_by limit 1;
  select k.* into maker from api_keys k where coalesce(k.account_id, k.id)::text = new.created_by
    order by k.created_at desc limit 1;
  if found then
    new.owner_user_id := maker.owner_user_id;
    new.made_with_key_id := maker.id;
    if maker.owner = 'workspace' and (maker.role <> 'admin' or maker.scopes is not null) then
      new.root_id := coalesce(maker.root_id, maker.account_id, maker.id);
    end if;
  end if;
  new.made_by_user_id := new.owner_user_id;
  new.owner := case when new.owner_user_id is null then 'workspace' else 'person' end;
  return new;
end $function$;

CREATE OR REPLACE FUNCTION public.audit_checkpoints_append_only()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  if tg_op = 'UPDATE' then
    if (to_jsonb(new) - 'key_id' - 'signature') = (to_jsonb(old) - 'key_id' - 'signature') then
      return new;
    end if;
  elsif tg_op = 'DELETE' then
    if exists (select from audit_checkpoints c where c.kind = 'retention' and c.position >= old.position
      and (c.kind, c.position) <> (old.kind, old.position)) then
      return old;
    end if;
  end if;
  raise exception 'the checkpoints of the audit log are append-only';
end $function$;

CREATE OR REPLACE FUNCTION public.audits_append_only()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  if tg_op = 'UPDATE' then
    if old.position is null and new.position is not null
      and (to_jsonb(new) - 'position' - 'hash') = (to_jsonb(old) - 'position' - 'hash') then
      return new;
    end if;
  elsif tg_op = 'DELETE' then
    if exists (select from audit_checkpoints c where c.kind = 'retention' and c.position >= old.position)
      and exists (select from audits a where a.position > old.position) then
      return old;
    end if;
  end if;
  raise exception 'the audit log is append-only';
end $function$;

CREATE OR REPLACE FUNCTION public.callback_delivery_recorded()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  perform pg_notify('callbacks', '');
  return null;
end $function$;

CREATE OR REPLACE FUNCTION public.close_budget_shares(ids uuid[])
 RETURNS uuid[]
 LANGUAGE plpgsql
AS $function$
declare
  share record;
  settled record;
  closed uuid[] := '{}';
begin
  perform from budget_periods p where p.id in (select s.period_id from budget_shares s where s.id = any(ids))
    order by p.id for no key update;
  for share in
    select s.id, s.period_id, s.spent, s.assumed from budget_shares s
    where s.id = any(ids) order by s.id for update skip locked
  loop
    with gone as (delete from budget_settlements t where t.share_id = share.id returning t.spent, t.assumed)
    select coalesce(sum(g.spent), 0) as spent, coalesce(sum(g.assumed), 0) as assumed into settled from gone g;
    update budget_periods p set closed = least(p.closed + share.spent + settled.spent, 9e15)::bigint,
      closed_assumed = least(p.closed_assumed + share.assumed + settled.assumed, 9e15)::bigint
      where p.id = share.period_id;
    delete from budget_shares s where s.id = share.id;
    closed := closed || share.id;
  end loop;
  return closed;
end $function$;

CREATE OR REPLACE FUNCTION public.close_late_budget_settlements(periods uuid[])
 RETURNS void
 LANGUAGE plpgsql
AS $function$
begin
  with gone as (
    delete from budget_settlements t
    where t.period_id = any(periods) and not exists (select from budget_shares s where s.id = t.share_id) returning *
  ), sums as (
    select period_id, sum(spent) as spent, sum(assumed) as assumed from gone group by period_id
  )
  update budget_periods p set closed = least(p.closed + s.spent, 9e15)::bigint,
    closed_assumed = least(p.closed_assumed + s.assumed, 9e15)::bigint
  from sums s where p.id = s.period_id;
end $function$;

CREATE OR REPLACE FUNCTION public.close_lost_budget_shares(lease_seconds double precision)
 RETURNS integer
 LANGUAGE plpgsql
AS $function$
declare
  closed uuid[];
begin
  update budget_replicas r set lost = true where r.id in (
    select id from budget_replicas where not lost and seen_at < platform_now() - make_interval(secs => lease_seconds)
    order by id for update skip locked
  );
  closed := close_budget_shares(array(select s.id from budget_shares s
    where not exists (select from budget_replicas r where r.id = s.replica_id and not r.lost) limit 200));
  delete from budget_replicas r where r.lost and not exists (select from budget_shares s where s.replica_id = r.id);
  if closed <> '{}' then perform pg_notify('budget_room', ''); end if;
  return cardinality(closed);
end $function$;

CREATE OR REPLACE FUNCTION public.create_budget_periods(wanted jsonb)
 RETURNS void
 LANGUAGE plpgsql
AS $function$
begin
  insert into budget_periods (id, budget_id, subject_id, starts_at, ends_at)
  select distinct on (w.budget_id, w.subject_id, w.starts_at) w.period_id, w.budget_id, w.subject_id, w.starts_at, w.ends_at
  from jsonb_to_recordset(wanted) as w(period_id uuid, budget_id uuid, subject_id text, starts_at timestamptz, ends_at timestamptz)
  where exists (select from budgets b where b.id = w.budget_id)
    and not exists (select from budget_periods p where p.budget_id = w.budget_id and p.subject_id = w.subject_id
      and p.starts_at = w.starts_at)
  -- In one order, because two replicas may insert the same ones.
  order by w.budget_id, w.subject_id, w.starts_at
  on conflict (budget_id, subject_id, starts_at) do nothing;
end $function$;

CREATE OR REPLACE FUNCTION public.delete_messages()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  delete from channel_messages where subject_id in (select id from gone);
  delete from route_steps where subject_id in (select id from gone);
  return null;
end $function$;

CREATE OR REPLACE FUNCTION public.forget_occurrences()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  delete from occurrences where schedule_id = old.id;
  return old;
end $function$;

CREATE OR REPLACE FUNCTION public.freeze_agent_version(agent uuid, frozen json)
 RETURNS integer
 LANGUAGE plpgsql
AS $function$
declare
  newest agent_versions;
begin
  select * into newest from agent_versions where agent_id = agent order by number desc limit 1;
  if newest.content::jsonb = frozen::jsonb then
    return newest.number;
  end if;
  insert into agent_versions (agent_id, number, content) values (agent, coalesce(newest.number, 0) + 1, frozen);
  return coalesce(newest.number, 0) + 1;
end
$function$;

CREATE OR REPLACE FUNCTION public.grant_budget_shares(replica uuid, calls jsonb)
 RETURNS jsonb
 LANGUAGE plpgsql
AS $function$
declare
  needs jsonb;
  periods uuid[];
  need record;
  checked jsonb;
  results jsonb := '[]';
  fits boolean;
  amount bigint;
  total bigint;
begin
  perform from budget_replicas r where r.id = replica and not r.lost;
  if not found then return null; end if;
  perform create_budget_periods((select jsonb_agg(n) from jsonb_array_elements(calls) c, jsonb_array_elements(c) n));

  select jsonb_agg(n.value || jsonb_build_object('call', c.i, 'need', n.i, 'period_id', p.id)), array_agg(p.id)
  into needs, periods
  from jsonb_array_elements(calls) with ordinality c(value, i)
  cross join jsonb_array_elements(c.value) with ordinality n(value, i)
  join budget_periods p on p.budget_id = (n.value ->> 'budget_id')::uuid and p.subject_id = n.value ->> 'subject_id'
    and p.starts_at = (n.value ->> 'starts_at')::timestamptz;
  if needs is null then return results; end if;
  perform from budget_periods p where p.id = any(periods) order by p.id for no key update;
  perform close_late_budget_settlements(periods);

  for c in 1..jsonb_array_length(calls) loop
    checked := '[]';
    fits := true;
    for need in
      select n.*, t.spent, t.assumed, b.limit + p.extra - t.spent - t.reserved as room, b.enabled, b.limit, p.extra,
        t.shares + (case when s.id is null then 1 else 0 end) as shares
      from jsonb_to_recordset(needs) as n(call integer, need integer, period_id uuid, share_id uuid, short bigint, bound bigint,
        more boolean)
      join budget_periods p on p.id = n.period_id join budgets b on b.id = p.budget_id
      join budget_totals t on t.period_id = p.id left join budget_shares s on s.id = n.share_id
      where n.call = c order by n.need
    loop
      amount := case when not need.enabled then 0 else greatest(0, least(need.room, greatest(need.short,
        case when need.more and need.room >= need.bound then least(16 * need.bound, need.room / (2 * need.shares)) else 0 end)))
        end;
      if need.enabled and need.short > need.room then
        fits := false;
        update budget_periods set wanted_at = platform_now() where id = need.period_id;
      end if;
      checked := checked || (to_jsonb(need) || jsonb_build_object('amount', amount));
    end loop;
    for need in
      select * from jsonb_to_recordset(checked) as n(need integer, period_id uuid, share_id uuid, amount bigint, spent bigint,
        assumed bigint, "limit" bigint, extra bigint)
    loop
      total := null;
      if fits then
        insert into budget_shares as s (id, period_id, replica_id, granted)
        values (need.share_id, need.period_id, replica, need.amount)
        on conflict (id) do update set granted = s.granted + excluded.granted returning granted into total;
      end if;
      results := results || jsonb_build_object('call', c, 'need', need.need, 'ok', fits, 'period_id', need.period_id,
        'granted', total, 'spent', need.spent, 'assumed', need.assumed, 'limit', need.limit, 'extra', need.extra);
    end loop;
  end loop;
  return results;
end $function$;

CREATE OR REPLACE FUNCTION public.llm_configurations_settings()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  if new.settings is not distinct from old.settings
    and (new.base_url, new.api_key, new.headers) is distinct from (old.base_url, old.api_key, old.headers)
    and not (new.updated_at = old.updated_at and new.base_url is not distinct from old.base_url
      and (split_part(new.api_key, '.', 2), split_part(new.headers, '.', 2))
        is distinct from (split_part(old.api_key, '.', 2), split_part(old.headers, '.', 2))) then
    new.settings := null;
  end if;
  return new;
end $function$;

CREATE OR REPLACE FUNCTION public.new_id()
 RETURNS uuid
 LANGUAGE sql
AS $function$
  select encode(set_bit(set_bit(overlay(uuid_send(gen_random_uuid())
    placing substring(int8send((extract(epoch from clock_timestamp()) * 1000)::bigint) from 3) from 1 for 6),
    52, 1), 53, 1), 'hex')::uuid
$function$;

CREATE OR REPLACE FUNCTION public.new_uuid7()
 RETURNS uuid
 LANGUAGE sql
AS $function$
  select encode(set_bit(set_bit(overlay(uuid_send(gen_random_uuid()) placing substring(
    int8send((extract(epoch from clock_timestamp()) * 1000)::bigint) from 3) from 1 for 6), 52, 1), 53, 1), 'hex')::uuid
$function$;

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

CREATE OR REPLACE FUNCTION public.own_prices_changed()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  update price_revision set revision = revision + 1;
  perform pg_notify('prices', '');
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

CREATE OR REPLACE FUNCTION public.postpone_budget()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  update budgets set effective_from = platform_now() + interval '2 seconds'
    where id = new.id and effective_from > new.created_at and effective_from < platform_now() + interval '1.5 seconds';
  return null;
end $function$;

CREATE OR REPLACE FUNCTION public.prices_immutable()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  if tg_op = 'UPDATE' then
    if (to_jsonb(new) - 'valid_to' - 'deleted_at') = (to_jsonb(old) - 'valid_to' - 'deleted_at')
      and old.deleted_at is null then
      return new;
    end if;
  end if;
  raise exception 'a price cannot be changed, only ended';
end $function$;

CREATE OR REPLACE FUNCTION public.record_agent_publication(publication uuid, agent uuid, before integer, after integer)
 RETURNS void
 LANGUAGE sql
AS $function$
  update agent_versions set published_at = platform_now() where agent_id = agent and number = after;
  insert into agent_publications (id, agent_id, kind, state, from_version, version, finished_at)
  values (publication, agent, 'automatic', 'published', before, after, platform_now());
$function$;

CREATE OR REPLACE FUNCTION public.refuse_change_of_charges()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  if tg_op = 'DELETE' and current_setting('platform.charge_retention', true) = 'on' then
    return old;
  end if;
  raise exception 'charges are only ever added';
end $function$;

CREATE OR REPLACE FUNCTION public.remove_contents_of_cases()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  perform remove_unused_case_contents(array(select id from gone));
  return null;
end $function$;

CREATE OR REPLACE FUNCTION public.remove_file_bytes()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  insert into removed_files (id) select id from gone on conflict do nothing;
  if found then perform pg_notify('removed_files', ''); end if;
  return null;
end $function$;

CREATE OR REPLACE FUNCTION public.remove_files_of_cases()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  delete from files f where f.case_id in (select case_id from gone)
    and not exists (select from case_contents c where c.case_id = f.case_id);
  delete from data_frames f where f.case_id in (select case_id from gone)
    and not exists (select from case_contents c where c.case_id = f.case_id);
  return null;
end $function$;

CREATE OR REPLACE FUNCTION public.remove_files_of_work_items()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  delete from files where work_item_id in (select id from gone);
  delete from data_frames where work_item_id in (select id from gone);
  return null;
end $function$;

CREATE OR REPLACE FUNCTION public.remove_frames_of_trials()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  delete from data_frames where trial_id in (select id from gone);
  return null;
end $function$;

CREATE OR REPLACE FUNCTION public.remove_unused_case_contents(ids uuid[])
 RETURNS void
 LANGUAGE plpgsql
AS $function$
begin
  delete from case_contents c where c.case_id = any(ids)
    and not exists (select from cases k where k.id = c.case_id and k.revision = c.revision)
    and not exists (select from used_case_contents u where u.case_id = c.case_id and u.revision = c.revision);
end $function$;

CREATE OR REPLACE FUNCTION public.return_budget_shares(given jsonb)
 RETURNS uuid[]
 LANGUAGE plpgsql
AS $function$
declare
  closing uuid[] := array(select g.id from jsonb_to_recordset(given) as g(id uuid, keep bigint) where g.keep is null);
  wanted boolean;
begin
  perform from budget_periods p where p.id in (
    select s.period_id from budget_shares s join jsonb_to_recordset(given) as g(id uuid) on g.id = s.id
  ) order by p.id for no key update;
  wanted := exists (select from budget_periods p join budget_shares s on s.period_id = p.id
    join jsonb_to_recordset(given) as g(id uuid) on g.id = s.id where p.wanted_at > platform_now() - interval '3 seconds');
  update budget_shares s set granted = g.keep from jsonb_to_recordset(given) as g(id uuid, keep bigint)
    where s.id = g.id and g.keep < s.granted;
  perform close_budget_shares(closing);
  if wanted then perform pg_notify('budget_room', ''); end if;
  return array(select id from unnest(closing) as c(id) where not exists (select from budget_shares s where s.id = c.id));
end $function$;

CREATE OR REPLACE FUNCTION public.telemetry_expired()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  if new.expired > (case when tg_op = 'UPDATE' then old.expired else 0 end) then
    new.expired_at := platform_now();
  end if;
  return new;
end $function$;

