-- Work Items that wait for a time, a start or a retry, may be many and old. They stand behind the others in the index of
-- what waits, so that a claim, which reads its beginning, passes over none of them. Queries name the expression literally.
create index work_items_pending_in_order
  on work_items ((case when not_before is null then 0 else 1 end), created_at, id) include (agent_id, not_before)
  where status = 'PENDING';
drop index work_items_pending;
