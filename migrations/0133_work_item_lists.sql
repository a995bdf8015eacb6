-- Whether a person created it, with a session or a personal key; otherwise the scheduler or a service account did.
alter table work_items add column by_person boolean not null default false;
update work_items set by_person = true where created_by in (select id::text from users);

-- The lists of the application, by each filter and order that they offer. All of them leave out what waits for a worker
-- or has one: those are few and have indexes of their own, so that a Work Item comes into these indexes once, when it
-- comes to rest, and no claim and no heartbeat writes them. A query names that condition literally, to be served from
-- them. The status is in each of them, because a list merges the statuses that it shows.
create index work_items_by_status on work_items (status, created_at, id)
  where status not in ('PENDING', 'EXECUTING');
create index work_items_by_agent on work_items (agent_id, status, created_at, id)
  where status not in ('PENDING', 'EXECUTING');
create index work_items_by_schedule on work_items (schedule_id, status, created_at, id)
  where status not in ('PENDING', 'EXECUTING') and schedule_id is not null;
create index work_items_by_hand on work_items (by_person, status, created_at, id)
  where status not in ('PENDING', 'EXECUTING') and occurrence is null;
create index work_items_by_error on work_items ((error ->> 'code'), status, created_at, id)
  where status not in ('PENDING', 'EXECUTING') and error is not null;
-- The name is in it twice, because an index serves a condition on an expression without the rows only if it has the column.
create index work_items_by_name on work_items (status, (lower(work_item_name) collate "C"), id)
  include (work_item_name, created_at)
  where status not in ('PENDING', 'EXECUTING') and work_item_name is not null;
-- What an order may have to pass over is in the index, so that it does so without reading the rows.
create index work_items_by_end on work_items (status, finished_at, id) include (agent_id, created_at)
  where status not in ('PENDING', 'EXECUTING') and finished_at is not null;
create index work_items_by_duration on work_items
  (status, (coalesce((extract(epoch from finished_at - started_at) * 1000)::bigint, -1)), id)
  include (finished_at, started_at, agent_id, created_at, occurrence)
  where status not in ('PENDING', 'EXECUTING') and finished_at is not null;

-- Since when they wait for a person is when they were last changed.
drop index work_items_reviews;
create index work_items_reviews on work_items (status, updated_at, id)
  where status in ('NEEDS_REVIEW', 'INDETERMINATE');
