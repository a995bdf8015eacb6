-- What a schedule does if a Work Item of it is still running when the next occurrence is due.
alter table schedules add column overlap text not null default 'queue'
  check (overlap in ('queue', 'skip', 'cancel_previous'));
alter table schedule_definitions add column overlap text;
-- The Work Item because of which an occurrence was skipped. No foreign key: the record outlives it.
alter table occurrences add column running_work_item_id uuid;

-- Whether its schedule may have to find this Work Item while it is open. It is not set for what a schedule with `queue`
-- fires, which would otherwise pay for an index that it never reads.
alter table work_items add column overlap_watched boolean not null default false;
create index work_items_running on work_items (schedule_id, created_at, id)
  where overlap_watched and status in ('PENDING', 'EXECUTING', 'NEEDS_REVIEW', 'INDETERMINATE');
