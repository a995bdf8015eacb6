-- What became of the last occurrence, so that schedules can be found by it: on_time, late, caught_up, skipped, manual, or
-- blocked, which was skipped because the schedule could not fire. Written with the record of the occurrence.
alter table schedules add column last_outcome text;
update schedules s set last_outcome = (
  select case
    when outcome = 'fired' then case when at - scheduled_for <= interval '5 seconds' then 'on_time' else 'late' end
    when outcome = 'skipped' and reason not in ('missed', 'paused', 'edited') then 'blocked'
    else outcome
  end
  from occurrences where schedule_id = s.id order by id desc limit 1);
create index schedules_failing on schedules (id) where last_outcome = 'blocked';

-- When a replica last reported that more spans had expired: the counter alone does not say when.
alter table telemetry_accounts add column expired_at timestamptz(3);
create function telemetry_expired() returns trigger language plpgsql as $$
begin
  if new.expired > (case when tg_op = 'UPDATE' then old.expired else 0 end) then
    new.expired_at := platform_now();
  end if;
  return new;
end $$;
create trigger telemetry_expired before insert or update on telemetry_accounts
  for each row execute function telemetry_expired();
