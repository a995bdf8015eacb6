-- When spans of an agent last came in over OTLP, exact to a minute.
create table agent_spans (
  agent_id uuid primary key references agents (id) on delete cascade,
  last_span_at timestamptz(3) not null
);

-- What the list of agents counts of each of them. A Work Item comes into the first when it ends, and into the second
-- only while it waits to be tried again.
create index work_items_agent_finished on work_items (agent_id, status, finished_at) where finished_at is not null;
create index work_items_agent_delayed on work_items (agent_id) where status = 'PENDING' and not_before is not null;
