-- What people want done to many Work Items: it goes on when the replica that began it is gone.
create table work_item_bulk_actions (
  id uuid primary key,
  action text not null,
  -- Added to each conversation (continue).
  message text,
  -- Which Work Items were asked for, as the request has it, for the audit log.
  asked jsonb not null,
  -- Who asked for it, as the history and the audit log record it.
  actor jsonb not null,
  -- The Work Items that matched then, in their order; empty when all is done.
  work_item_ids uuid[] not null,
  matched integer not null,
  -- How many of them it has come to. It is raised in the transaction that moves them, which holds the lock of this row.
  position integer not null default 0,
  done integer not null default 0,
  -- How many did not allow the action, by their status.
  refused jsonb not null default '{}',
  failed integer not null default 0,
  created_at timestamptz(3) not null default platform_now(),
  cancel_requested_at timestamptz(3),
  finished_at timestamptz(3)
);
create index work_item_bulk_actions_open on work_item_bulk_actions (id) where finished_at is null;
create index work_item_bulk_actions_finished on work_item_bulk_actions (finished_at) where finished_at is not null;
