import { setTimeout as sleep } from 'node:timers/promises';
import type pg from 'pg';
import { client } from '../../tests/harness/http.ts';
import { spawnPlatform } from '../../tests/harness/process.ts';
import { until } from '../../tests/harness/wait.ts';

/** What a schedule leaves when it fires and its Work Item is carried out; the trace has a store and a benchmark of its own. */
export const itemTables = [
  'work_items',
  'work_item_events',
  'work_item_messages',
  'work_item_steps',
  'occurrences',
  'charges',
] as const;
export const scheduleTables = ['schedules', 'schedule_definitions'] as const;

/** The rows that the product made, of which all others are copies. */
export interface Pattern {
  item: string;
  schedule: string;
  agents: string[];
}

const agentCount = 100;
/** Work Items or schedules of one statement. */
const chunk = 50_000;
/** Further apart than the sequence numbers of one Work Item. */
const seqStep = 100;

/** Makes agents and one schedule over the API, fires it, and waits until its Work Item is COMPLETED. */
export const makePattern = async (databaseUrl: string, db: pg.Client): Promise<Pattern> => {
  await using platform = await spawnPlatform({ databaseUrl, env: { LOG_LEVEL: 'warn' } });
  const api = client(`${platform.url}/api/v2`, platform.key);
  const agents: string[] = [];
  for (let n = 0; n < agentCount; n++)
    agents.push((await api.post('/agents', { name: `Night clerk ${n}`, mode: 'worker' })).body.id);
  const { body } = await api.post(`/agents/${agents[0]}/schedules`, {
    cron_expression: '0 0 * * *',
    timezone: 'UTC',
    work_item_name: 'Night report',
    message: 'Go through what came in.',
    payload: { shop: 7, mock: { steps: [{ text: 'All is well.' }] } },
  });
  await db.query(
    `update schedules set next_run_at = date_trunc('milliseconds', platform_now()) where id = $1`,
    [body.id],
  );
  await db.query(`select pg_notify('schedules', $1)`, [String(Date.now())]);
  let item = '';
  await until(async () => {
    const { rows } = await db.query(`select id from work_items where status = 'COMPLETED'`);
    item = rows[0]?.id ?? '';
    return item !== '';
  });
  // The trace refers to nothing that is copied, but it is written after the end.
  await sleep(500);
  return { item, schedule: body.id, agents };
};

/** UUIDv7 of a time, as the platform's ids are. */
const idAt = `create or replace function pg_temp.id_at(at timestamptz) returns uuid language sql as $$
  select encode(set_bit(set_bit(overlay(uuid_send(gen_random_uuid())
    placing substring(int8send((extract(epoch from at) * 1000)::bigint) from 3) from 1 for 6), 52, 1), 53, 1), 'hex')::uuid
$$`;

/** How a column of a copy follows from that of the pattern, whose row is `t`; `g` is what the copy is of. */
const copyOf = (name: string, type: string, { item, schedule, agents }: Pattern): string => {
  const column = `t.${name}`;
  if (type === 'uuid')
    return `case ${column} when '${item}' then g.id when '${schedule}' then g.schedule_id
      when '${agents[0]}' then g.agent_id else ${name === 'id' ? 'pg_temp.id_at(g.at)' : column} end`;
  if (type === 'timestamp with time zone') return `${column} + g.shift`;
  if (['seq', 'parent', 'message_seq'].includes(name)) return `${column} + g.n * ${seqStep}`;
  if (name === 'trace_id') return `case when ${column} is not null then md5(g.n::text) end`;
  return column;
};

/** Copies the pattern's rows of these tables once for each row of `g`. Resolves to the number of rows. */
const copy = async (
  db: pg.Client,
  pattern: Pattern,
  tables: readonly string[],
  ofPattern: (table: string) => string,
): Promise<number> => {
  let made = 0;
  for (const table of tables) {
    const { rows: columns } = await db.query<{ name: string; type: string }>(
      `select attname as name, format_type(atttypid, null) as type from pg_attribute
        where attrelid = $1::regclass and attnum > 0 and not attisdropped order by attnum`,
      [table],
    );
    const { rowCount } = await db.query(`insert into ${table} (${columns.map(({ name }) => name)})
      overriding system value
      select ${columns.map(({ name, type }) => copyOf(name, type, pattern)).join(', ')}
      from pg_temp.made g cross join (select * from ${table} where ${ofPattern(table)}) t order by g.n`);
    made += rowCount ?? 0;
  }
  return made;
};

/** Copies the schedule. The n-th, from 1, is due at `dueAt`, an expression of `n`. */
export const seedSchedules = async (
  db: pg.Client,
  pattern: Pattern,
  count: number,
  dueAt: string,
): Promise<void> => {
  await db.query(idAt);
  for (let first = 1; first <= count; first += chunk) {
    await db.query('drop table if exists pg_temp.made');
    await db.query(
      `create temp table made as select n, gen_random_uuid() as id, now() as at, ($1::uuid[])[1 + n % $2] as agent_id,
        new_id() as schedule_id, interval '0' as shift from generate_series($3::int, $4::int) as n`,
      [pattern.agents, pattern.agents.length, first, Math.min(first + chunk - 1, count)],
    );
    await copy(db, pattern, scheduleTables, (table) =>
      table === 'schedules' ? `id = '${pattern.schedule}'` : `schedule_id = '${pattern.schedule}'`,
    );
    await db.query(
      `update schedules s set next_run_at = date_trunc('milliseconds', ${dueAt}) from pg_temp.made g where s.id = g.schedule_id`,
    );
  }
};

/**
 * Drops the indexes of these tables that guard nothing, and resolves to what builds them again: many rows are written in
 * less than half the time without them.
 */
export const dropIndexes = async (db: pg.Client, tables: readonly string[]): Promise<() => Promise<void>> => {
  const { rows } = await db.query<{ name: string; definition: string }>(
    `select indexrelid::regclass::text as name, pg_get_indexdef(indexrelid) as definition from pg_index
      where indrelid = any($1::regclass[]) and not indisunique`,
    [tables],
  );
  for (const { name } of rows) await db.query(`drop index ${name}`);
  return async () => {
    for (const { definition } of rows) await db.query(definition);
  };
};

/**
 * Copies the Work Item with all that belongs to it. The n-th, from `first`, was made at `at`, an expression of `n`, by
 * the schedules in turn. Resolves to the number of rows of all tables.
 */
export const seedItems = async (
  db: pg.Client,
  pattern: Pattern,
  { first, last, at }: { first: number; last: number; at: string },
): Promise<number> => {
  await db.query(idAt);
  // The copies refer to one another as the pattern's rows do; to look each reference up took a fifth of the time.
  await db.query('set session_replication_role = replica');
  await db.query(`create temp table if not exists numbered as
    select row_number() over (order by id) - 1 as s, count(*) over () as of, id, agent_id from schedules`);
  await db.query('create index if not exists numbered_s on pg_temp.numbered (s)');
  await db.query('analyze pg_temp.numbered');
  let made = 0;
  for (let from = first; from <= last; from += chunk) {
    await db.query('drop table if exists pg_temp.made');
    await db.query(
      `create temp table made as
        select n, pg_temp.id_at(at) as id, at, s.agent_id, s.id as schedule_id, at - w.created_at as shift
        from (select n, date_trunc('milliseconds', ${at}) as at from generate_series($1::bigint, $2::bigint) as n) times
        join pg_temp.numbered s on s.s = n % (select max(of) from pg_temp.numbered) cross join work_items w where w.id = $3`,
      [from, Math.min(from + chunk - 1, last), pattern.item],
    );
    made += await copy(db, pattern, itemTables, (table) =>
      table === 'work_items' ? `id = '${pattern.item}'` : `work_item_id = '${pattern.item}'`,
    );
  }
  for (const sequence of ['work_item_events_seq_seq', 'work_item_steps_seq_seq'])
    await db.query('select setval($1, $2)', [sequence, (last + 1) * seqStep]);
  await db.query('reset session_replication_role');
  return made;
};
