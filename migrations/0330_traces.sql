-- Traces that the platform keeps for its own pages. They are stored in parts, each a partition of both tables, which
-- src/traces makes as they are needed and drops when they are too old or too many.
create table trace_parts (
  id integer generated always as identity primary key,
  began_at timestamptz(3) not null default platform_now(),
  -- Null: what comes in now is stored in this part.
  ended_at timestamptz(3)
);
create unique index trace_parts_open on trace_parts ((ended_at is null)) where ended_at is null;

-- Spans as they came, some hundreds at a time: an ExportTraceServiceRequest in zstd.
create table trace_blocks (
  part integer not null,
  id bigint not null,
  stored_at timestamptz(3) not null default platform_now(),
  spans integer not null,
  content bytea not null,
  primary key (part, id)
) partition by list (part);
-- It is compressed already.
alter table trace_blocks alter column content set storage external;
create sequence trace_block_ids increment by 100;

-- One row for each trace and part. Times are in microseconds since 1970. Ids that others give are packed
-- (src/traces/packed-id.ts). Columns are in the order of their alignment: there are millions of rows.
create table traces (
  start_us bigint not null,
  end_us bigint not null,
  -- The sums over calls of models. What agents report besides is the same once more, and counts if models report nothing.
  model_tokens bigint,
  agent_tokens bigint,
  model_cost_nano_usd bigint,
  agent_cost_nano_usd bigint,
  -- The first block, and the others if there are any.
  block bigint not null,
  part integer not null,
  span_count integer not null,
  failed_spans integer not null,
  -- The name is that of a span without a parent; else of the earliest span so far.
  rooted boolean not null,
  trace_id uuid not null,
  work_item_id uuid,
  name text not null,
  service text,
  agent_id text,
  agent_name text,
  conversation_id text,
  -- Lines: 'm:' and a model, 't:' and a tool, 'e:' and a type of error, 's:' and a service.
  terms text not null,
  more_blocks bigint[],
  primary key (trace_id, part)
) partition by list (part);
create index traces_by_time on traces (start_us desc);
create index traces_by_duration on traces ((end_us - start_us) desc);
create index traces_by_cost on traces ((coalesce(model_cost_nano_usd, agent_cost_nano_usd)) desc)
  where coalesce(model_cost_nano_usd, agent_cost_nano_usd) is not null;
create index traces_failed on traces (start_us desc) where failed_spans > 0;
create index traces_terms on traces using gin (
  string_to_array(case when agent_id is null then terms else terms || E'\na:' || agent_id end, E'\n'));
create index traces_of_work_item on traces (work_item_id) where work_item_id is not null;
create index traces_of_conversation on traces (hashtext(conversation_id)) where conversation_id is not null;

-- How far each telemetry log has come: its spans before the ordinal are stored, `stored` of them, or never will be.
create table trace_positions (
  log uuid primary key,
  ordinal bigint not null default 0,
  stored bigint not null default 0
);

-- Spans that were stored and are gone: their part was dropped, or someone deleted all traces.
create table trace_expiry (
  only_row boolean primary key default true check (only_row),
  spans bigint not null default 0
);
insert into trace_expiry default values;

-- A trace is found by the run that it belongs to, and what a span stored by the span.
create index work_item_steps_trace on work_item_steps (trace_id) where trace_id is not null;
create index conversation_runs_trace on conversation_runs (trace_id) where trace_id is not null;
