-- Charges: one row for each call of a model that was sent. No foreign keys: a charge outlives what it names.
create table charges (
  id uuid not null,
  started_at timestamp(3) with time zone not null,
  duration_ms integer not null,
  purpose text not null,
  status text not null,
  unreconciled boolean not null default false,
  -- The run that made the call had lost its lease before the charge was written.
  late boolean not null default false,
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
  -- As the endpoint reported it; null if it did not.
  model text,
  input bigint not null default 0,
  input_audio bigint not null default 0,
  cache_read bigint not null default 0,
  cache_write bigint not null default 0,
  cache_write_1h bigint not null default 0,
  output bigint not null default 0,
  output_audio bigint not null default 0,
  reasoning bigint not null default 0,
  price_id uuid,
  amount_nano_usd bigint,
  -- Money that a budget had reserved for a call whose usage is not known.
  assumed_nano_usd bigint,
  trace_id text,
  span_id text,
  -- The id that an external worker gave it.
  external_id text,
  constraint charges_pkey primary key (id),
  constraint charges_purpose_check check (purpose in ('run', 'trial', 'judge', 'question', 'extraction', 'test', 'external')),
  constraint charges_status_check check (status in ('priced', 'unknown_price', 'unknown_usage')),
  constraint charges_amount_check check ((status = 'priced') = (amount_nano_usd is not null))
);
-- Sums over a time read only the index.
create index charges_started_at on charges (started_at) include (amount_nano_usd);
create index charges_agent on charges (agent_id, started_at) include (amount_nano_usd) where agent_id is not null;
create index charges_schedule on charges (schedule_id, started_at) include (amount_nano_usd) where schedule_id is not null;
create index charges_work_item on charges (work_item_id) where work_item_id is not null;
create index charges_run on charges (run_id) where run_id is not null;
create index charges_experiment on charges (experiment_id) where experiment_id is not null;
create index charges_principal on charges (principal_id, id);
create index charges_price on charges (price_id) where price_id is not null;
create index charges_unpriced on charges (started_at) where status = 'unknown_price';
create unique index charges_external on charges (work_item_id, external_id) where external_id is not null;

-- A charge is never changed. Retention, which says so in its transaction, deletes old ones.
create function refuse_change_of_charges() returns trigger language plpgsql as $$
begin
  if tg_op = 'DELETE' and current_setting('platform.charge_retention', true) = 'on' then
    return old;
  end if;
  raise exception 'charges are only ever added';
end $$;
create trigger charges_append_only before update or delete on charges
  for each row execute function refuse_change_of_charges();

-- Sums of the charges of each. They are added to, never set.
alter table work_items
  add column cost_nano_usd bigint not null default 0,
  add column unknown_calls integer not null default 0;
alter table conversation_runs
  add column cost_nano_usd bigint not null default 0,
  add column unknown_calls integer not null default 0;
alter table experiments
  add column cost_nano_usd bigint not null default 0,
  add column unknown_calls integer not null default 0;
alter table work_item_steps
  add column cost_nano_usd bigint,
  add column unknown_calls integer,
  add column span_id text;
