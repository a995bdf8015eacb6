-- The statement of `advance` in store.ts, as store.test.ts found it: its parts come from three files.
with moved as (
  update schedules s set next_run_at = m.next, last_occurrence = m.last, zone_rules = $1,
  last_outcome = m.outcome,
  last_run_at = case when m.item is null then s.last_run_at else $2::timestamptz end
  from (
    select id, to_timestamp("due"::float8 / 1000) as due, to_timestamp("next"::float8 / 1000) as next, to_timestamp("last"::float8 / 1000) as last, item,
    to_timestamp("occurrence"::float8 / 1000) as occurrence, outcome
    from unnest(
      $3::uuid[], $4::bigint[],
      $5::bigint[], $6::bigint[],
      $7::uuid[],
      $8::bigint[],
      $9::text[]) as u(id, due, next, last, item, occurrence, outcome)
  ) m
  where s.id = m.id and s.next_run_at is not distinct from m.due
  returning m.item as id, s.agent_id, s.id as schedule_id, m.occurrence, s.work_item_name, s.message, s.payload,
  s.overlap <> 'queue' as overlap_watched
), firing as (
  select * from moved where id is not null
),
inserted as (
  insert into work_items (id, conversation_id, agent_id, schedule_id, occurrence, work_item_name, message,
    payload, status, created_by, by_person, created_at, updated_at, "overlap_watched")
  select i.id, i.id, i.agent_id, i.schedule_id, i.occurrence, i.work_item_name, i.message, i.payload,
  $10, $11, false, (select platform_now()), (select platform_now()),
  i.overlap_watched
  from firing i
  on conflict (schedule_id, occurrence) do nothing
  returning id, agent_id, schedule_id, occurrence, work_item_name, depth,
  case when (select exists (select from triggers
      where kind = 'work_item' and 'PENDING' = any(watched_statuses))) then jsonb_build_object('id', "work_items"."id", 'name', "work_items"."work_item_name",
    'message', "work_items"."message", 'payload', "work_items"."payload", 'result', "work_items"."result",
    'error', "work_items"."error", 'schedule_id', "work_items"."schedule_id", 'trigger_id', "work_items"."trigger_id",
    'created_at', "work_items"."created_at", 'started_at', "work_items"."started_at", 'finished_at', "work_items"."finished_at") end as snapshot
), history as (
  insert into work_item_events (id, work_item_id, to_status, action, principal, details, at)
  select id, id, $12, 'create', $13::jsonb, '{}', (select platform_now())
  from inserted
), notified as (insert into callback_deliveries (callback_id, work_item_id, event, agent_id, agent_version, schedule_id,
    work_item_name, status, previous_status, url, origin)
  select c.id, m.id, 'work_item.' || lower(m.status), m.agent_id, m.agent_version, m.schedule_id,
  m.work_item_name, m.status, m.previous_status, c.url, c.origin
  from (select *, 'PENDING' as status, null::text as previous_status, null::integer as agent_version from inserted) m cross join lateral (select id, url, origin, events from callbacks
    where agent_id = m.agent_id and removed_at is null) c
  where 'work_item.' || lower(m.status) = any(c.events)),
watched as (
  insert into trigger_events (id, trigger_id, identity, event_id, type, at, outcome, last_delivery_at, depth, revision,
    pending_event)
  select new.id, t.id, sha256(convert_to('event' || chr(10) || new.id::text, 'UTF8')), new.id::text,
  'work_item.' || lower(m.status), (select platform_now()), 'pending', (select platform_now()), m.depth + 1, t.revision,
  m.snapshot || jsonb_build_object('status', m.status, 'previous_status', m.previous_status,
    'agent', jsonb_build_object('id', m.agent_id, 'name', (select name from agents a where a.id = m.agent_id)))
  from triggers t join (select agent_id, 'PENDING' as status, null::text as previous_status, depth, snapshot
    from inserted where snapshot is not null) m on m.status = any(t.watched_statuses)
  and (t.watched_agent_id is null or t.watched_agent_id = m.agent_id)
  cross join lateral (select new_id() as id where t.id is not null and m.status is not null) new
  where t.kind = 'work_item'), recorded as (
  insert into occurrences (id, schedule_id, scheduled_for, outcome, work_item_id, at)
  select id, schedule_id, occurrence,
  case when id in (select unnest($14::uuid[])) then 'caught_up' else 'fired' end,
  id, $15::timestamptz
  from inserted
)
select (select count(*) from moved) as moved, case
when (select count(*) from inserted) < (select count(*) from firing) then array(select id from inserted)
end as made
