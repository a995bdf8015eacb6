-- Servers of the Model Context Protocol whose tools agents can use.
create table tool_servers (
  id uuid primary key,
  name text not null,
  -- The names of its tools, as models see them, begin with it.
  prefix text not null constraint tool_servers_prefix_key unique,
  transport text not null check (transport in ('http', 'stdio')),
  -- Sealed JSON, bound to its table, row and column.
  settings text not null,
  enabled boolean not null,
  default_policy text not null check (default_policy in ('allow', 'deny', 'require_approval')),
  call_timeout_seconds integer not null check (call_timeout_seconds between 1 and 600),
  max_concurrency integer not null check (max_concurrency between 1 and 100),
  state text not null default 'unknown' check (state in ('unknown', 'ok', 'failing')),
  protocol_version text,
  -- Whether a discovery has succeeded: the first one accepts all tools.
  discovered boolean not null default false,
  -- When the discovery began whose result the row has: an older one must not overwrite it.
  discovery_began_at timestamptz(3),
  -- Null after the address changed.
  last_success_at timestamptz(3),
  last_error text,
  revision integer not null default 1,
  created_at timestamptz(3) not null default platform_now(),
  updated_at timestamptz(3) not null default platform_now()
);

create table tool_server_tools (
  tool_server_id uuid not null references tool_servers (id) on delete cascade,
  -- As the server calls it.
  name text not null,
  -- As models call it.
  tool_name text not null constraint tool_server_tools_tool_name_key unique,
  -- As the server last listed it: title, description, schemas, annotations.
  definition jsonb not null,
  definition_hash text not null,
  -- As it was accepted; null: never.
  accepted jsonb,
  accepted_hash text,
  -- The address of the server changed after the tool was accepted.
  distrusted boolean not null default false,
  -- Whether the server's last list has it.
  present boolean not null default true,
  policy text check (policy in ('allow', 'deny', 'require_approval')),
  idempotent boolean,
  first_seen_at timestamptz(3) not null default platform_now(),
  changed_at timestamptz(3) not null default platform_now(),
  primary key (tool_server_id, name),
  check ((accepted is null) = (accepted_hash is null))
);

-- Which agents name a tool server.
create index agents_tool_server_ids on agents using gin (tool_server_ids);
