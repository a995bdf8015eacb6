import { zoneRulesVersion } from '@agent-platform/cron';
import { type Database, migrate, openPostgres, sql } from '../../src/database/index.ts';
import { newId } from '../../src/lib/ids.ts';
import { silentLogger } from '../../src/lib/log.ts';
import { insertAgents } from '../../tests/harness/agents.ts';

/** Ids to ask for. */
export interface Seeded {
  agent: string;
  schedule: string;
  /** A COMPLETED one, made by a schedule. */
  workItem: string;
}

const agentCount = 200;

/** UUIDv7 of a time, as the platform's ids are: lists sort by it. */
const idAt = sql`create function pg_temp.id_at(at timestamptz) returns uuid language sql as $$
  select encode(set_bit(set_bit(overlay(uuid_send(gen_random_uuid())
    placing substring(int8send((extract(epoch from at) * 1000)::bigint) from 3) from 1 for 6), 52, 1), 53, 1), 'hex')::uuid
$$`;

const insertSchedules = (agents: string[], count: number) => sql`
  insert into schedules (id, agent_id, cron_expression, timezone, enabled, work_item_name, message, payload,
    next_run_at, last_run_at, zone_rules)
  select new_id(), (${agents}::uuid[])[1 + n % ${agents.length}::int], n % 60 || ' * * * *',
    (array['UTC', 'Europe/Berlin', 'America/New_York'])[1 + n % 3], n % 50 <> 0, 'Report ' || n,
    'Go through what came in.', '{"shop": 7}',
    case when n % 50 <> 0
      then date_trunc('hour', platform_now()) + interval '1 hour' + n % 60 * interval '1 minute' end,
    date_trunc('hour', platform_now()) - interval '1 hour' + n % 60 * interval '1 minute', ${zoneRulesVersion}
  from generate_series(1, ${count}::int) as n`;

/**
 * The n-th Work Item belongs to the schedule n modulo their number, one for each hour back from now. Of 1,000, ten
 * ended in ERROR and five were cancelled; one of five was made through the API. Of the last hour, some are open.
 */
const insertWorkItems = (first: number, last: number, schedules: number) => sql`
  with numbered as (select id, agent_id, row_number() over (order by id) - 1 as s from schedules),
  made as (
    select n, s.id as schedule_id, s.agent_id, n / ${schedules}::int as hours,
      date_trunc('hour', platform_now()) - (1 + n / ${schedules}::int) * interval '1 hour'
        + (s.s % 60) * interval '1 minute' as nominal
    from generate_series(${first}::int, ${last}::int) as n join numbered s on s.s = n % ${schedules}::int
  ),
  items as (
    select *, nominal + (n % 2000) * interval '1 millisecond' as at, case
        when hours = 0 and n % 50 = 1 then 'PENDING'
        when hours = 0 and n % 200 = 2 then 'NEEDS_REVIEW'
        when hours = 0 and n % 1000 = 3 then 'INDETERMINATE'
        when n % 100 = 4 then 'ERROR'
        when n % 200 = 6 then 'CANCELLED'
        else 'COMPLETED' end as status
    from made
  )
  insert into work_items (id, agent_id, schedule_id, occurrence, work_item_name, message, payload, status, result,
    error, usage, attempts, created_by, created_at, updated_at, started_at, finished_at, conversation_id)
  select pg_temp.id_at(at), agent_id, case when (n + hours) % 5 <> 0 then schedule_id end,
    case when (n + hours) % 5 <> 0 then nominal end,
    'Report ' || n, 'Go through what came in.', '{"shop": 7}', status,
    case status when 'COMPLETED' then '{"text": "All is well."}'::jsonb end,
    case status when 'ERROR' then
      jsonb_build_object('code', (array['llm_error', 'timeout', 'tool_error'])[1 + n % 3], 'message', 'The model did not reply.')
    end,
    '{"input_tokens": 1200, "output_tokens": 300}', 1, 'bench', at, at,
    case when status <> 'PENDING' then at + interval '1 second' end,
    case when status in ('COMPLETED', 'ERROR', 'CANCELLED') then at + (10 + n % 90) * interval '1 second' end,
    gen_random_uuid()
  from items`;

/** The ledger of the hours from `first` to `last` before this one: an occurrence is fired if it has a Work Item, else skipped. */
const insertOccurrences = (first: number, last: number) => sql`
  insert into occurrences (id, schedule_id, scheduled_for, outcome, work_item_id, at, reason)
  select new_id(), s.id, nominal, case when w.id is null then 'skipped' else 'fired' end, w.id,
    coalesce(w.created_at, nominal + interval '90 seconds'), case when w.id is null then 'missed' end
  from (select id, row_number() over (order by id) - 1 as s from schedules) s
  cross join lateral (
    select date_trunc('hour', platform_now()) - h * interval '1 hour' + (s.s % 60) * interval '1 minute' as nominal
    from generate_series(${first}::int, ${last}::int) as h
  ) times
  left join work_items w on w.schedule_id = s.id and w.occurrence = nominal`;

/** Migrates the database and fills it by SQL, in steps that fit into memory. */
export const seed = async (
  databaseUrl: string,
  { schedules, workItems }: { schedules: number; workItems: number },
): Promise<Seeded> => {
  // No limit of time: a million rows take longer than any statement of the platform.
  const db: Database = await openPostgres(databaseUrl, silentLogger, 16, 0);
  await migrate(db, silentLogger);
  const agents = Array.from({ length: agentCount }, newId);
  await db.tx(async (tx) => {
    await sql`set local statement_timeout = 0`.execute(tx);
    await idAt.execute(tx);
    await insertAgents(tx, agents, { name: 'Night clerk' });
    await insertSchedules(agents, schedules).execute(tx);
    for (let made = 0; made < workItems; made += 100_000) {
      await insertWorkItems(made, Math.min(made + 100_000, workItems) - 1, schedules).execute(tx);
    }
    const hours = Math.max(1, Math.floor(workItems / schedules));
    for (let hour = 1; hour <= hours; hour += 10) {
      await insertOccurrences(hour, Math.min(hour + 9, hours)).execute(tx);
    }
  });
  await db.run((reader) => sql`analyze`.execute(reader));
  const { rows } = await db.run((reader) =>
    sql<Seeded>`select agent_id as agent, schedule_id as schedule, id as "workItem" from work_items
      where status = 'COMPLETED' and schedule_id is not null order by id desc limit 1`.execute(reader),
  );
  await db.close();
  return rows[0]!;
};
