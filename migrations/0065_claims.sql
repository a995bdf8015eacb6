-- The queue of each agent. A claim finds in it the agents that have due work and takes the oldest of each, so that it
-- does not read past the backlog of an agent that may run no more at once.
create index work_items_queue on work_items (agent_id, created_at, id)
  where status = 'PENDING' and not_before is null;
