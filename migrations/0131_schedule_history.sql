-- Who changed a schedule, how and why. Rows of releases before this, and of replicas that still run one, have none of it,
-- unless the audit log still has it: an entry is written in the transaction of its change, within moments of from_at.
alter table schedule_definitions
  add column action text,
  -- {kind, id, name}
  add column principal jsonb,
  add column reason text,
  add column catch_up boolean,
  -- The fields that a replacement changed.
  add column changed text[];
update schedule_definitions d set action = entry.action, principal = entry.principal, reason = entry.reason
from (
  select distinct on (d.schedule_id, d.revision) d.schedule_id, d.revision, split_part(a.action, '.', 2) as action,
    jsonb_build_object('kind', a.principal_kind, 'id', a.principal_id, 'name', a.principal_name) as principal,
    a.details ->> 'reason' as reason
  from schedule_definitions d join audits a on a.target_id = d.schedule_id::text and a.target_type = 'schedule'
  where a.outcome = 'done' and a.at >= d.from_at and a.at < d.from_at + interval '5 seconds'
    and case a.action
      when 'schedule.create' then d.revision = 1
      when 'schedule.update' then d.revision > 1
      when 'schedule.pause' then not d.enabled
      when 'schedule.resume' then d.enabled and d.revision > 1
      else false
    end
  order by d.schedule_id, d.revision, a.at
) entry
where entry.schedule_id = d.schedule_id and entry.revision = d.revision;
-- Retention finds what later versions have replaced.
create index schedule_definitions_replaced on schedule_definitions (from_at) where revision > 1;

-- What was skipped of late, of all schedules.
create index occurrences_skipped on occurrences (at) where outcome = 'skipped';
-- The schedules that are enabled and have no next run, because none can be computed.
create index schedules_blocked on schedules (id) where enabled and next_run_at is null;
create index schedules_paused on schedules (id) where not enabled;
