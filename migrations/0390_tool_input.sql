-- Input that tools ask people for.
alter table tool_servers add column allow_input boolean default true not null;

-- Whether the replica's release knows approvals of the kind `input`. Releases before leave it out: they would take
-- answers for the arguments of the call.
alter table replicas add column takes_input boolean default false not null;

-- A call that waits for input, or has got it and not ended yet: what the server asked, its state, and the answers. All of
-- that is sealed.
create table tool_inputs (
  id uuid primary key,
  work_item_id uuid references work_items (id) on delete cascade,
  run_id uuid references conversation_runs (id) on delete cascade,
  tool_call_id text not null,
  state text not null,
  created_at timestamp(3) with time zone default platform_now() not null,
  constraint tool_inputs_of_check check ((work_item_id is null) <> (run_id is null))
);
create unique index tool_inputs_work_item on tool_inputs (work_item_id, tool_call_id) where work_item_id is not null;
create unique index tool_inputs_run on tool_inputs (run_id, tool_call_id) where run_id is not null;
