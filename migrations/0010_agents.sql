create table agents (
  id uuid primary key,
  name text not null,
  description text,
  mode text not null check (mode in ('worker', 'conversational')),
  instructions text not null default '',
  llm_id uuid,
  model text,
  tool_server_ids uuid[] not null default '{}',
  semantic_data_model_ids uuid[] not null default '{}',
  max_concurrency integer not null check (max_concurrency between 1 and 1000),
  max_attempts integer not null check (max_attempts between 1 and 100),
  timeout_seconds integer not null check (timeout_seconds between 1 and 86400),
  max_steps integer not null check (max_steps between 1 and 1000),
  -- Raised by every change through the API: what ETag and If-Match compare.
  revision integer not null default 1,
  created_at timestamptz(3) not null default platform_now(),
  updated_at timestamptz(3) not null default platform_now()
);
