-- The claim of what is due must only ever be answered from schedules_due. While this index was partial on the same
-- condition, it could serve the claim too, by being read from end to end, and did where statistics were old.
drop index schedules_zone_rules;
create index schedules_zone_rules on schedules (zone_rules);

-- When a schedule was due: a row for each change of its times, or of whether it fires, written in the transaction of
-- the change. The audit of a schedule recomputes past occurrences with it. Occurrences strictly after from_at are
-- this row's, up to and with the from_at of the next.
create table schedule_definitions (
  schedule_id uuid not null references schedules (id) on delete cascade,
  revision integer not null,
  from_at timestamptz(3) not null,
  cron_expression text not null,
  timezone text not null,
  enabled boolean not null,
  primary key (schedule_id, revision)
);
-- What was before the last change of a schedule is not known any more.
insert into schedule_definitions (schedule_id, revision, from_at, cron_expression, timezone, enabled)
  select id, revision, updated_at, cron_expression, timezone, enabled from schedules;
