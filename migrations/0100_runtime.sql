alter table agents
  -- What the agent says about single tools of its servers: [{tool_server_id, tool, policy}].
  add column tool_policies jsonb not null default '[]',
  -- JSON Schema of the result of its Work Items. `json` keeps the order of the keys for the model.
  add column result_schema json,
  -- The lowest role that may decide on its tool calls; null: builder for a worker agent, member for a conversational one.
  add column approval_role text check (approval_role in ('member', 'builder', 'admin')),
  add column max_tokens integer check (max_tokens >= 1),
  add column max_output_tokens integer check (max_output_tokens >= 1),
  add column tool_concurrency integer not null default 4 check (tool_concurrency between 1 and 16);

alter table work_items
  -- The calls in flight that must not be repeated, as a person is asked about them if their worker is lost.
  add column unsafe_calls jsonb,
  -- What of the conversation models no longer get.
  add column context_cut jsonb,
  -- Input and output tokens that were used before the budget began: at the create, continue or restart.
  add column tokens_before bigint not null default 0;
