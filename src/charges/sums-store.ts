import { type Executor, planEachTime, type RawBuilder, sql } from '../database/index.ts';
import { buckets, type Tokens } from '../lib/tokens.ts';
import { cappedSum } from './charge.ts';
import { type ChargeFilter, chargeConditions, chargedModel } from './list-store.ts';

export const groupings = [
  'day',
  'agent',
  'model',
  'llm_configuration',
  'schedule',
  'trigger',
  'purpose',
  'api_key',
  'person',
] as const;
export type Grouping = (typeof groupings)[number];

/** Sums over charges. */
export interface CostSum extends Tokens {
  cost_nano_usd: number;
  calls: number;
  unknown_calls: number;
  unreconciled_calls: number;
}

export interface CostGroup extends CostSum {
  /** By the fields that the charges are grouped by; null: they name none. */
  keys: (string | null)[];
  names: (string | null)[];
}

const keyOf = (grouping: Grouping, timezone: string): RawBuilder<unknown> => {
  switch (grouping) {
    case 'day':
      // As dates, which sort and compare several times as fast as text.
      return sql`(c.started_at at time zone ${timezone})::date`;
    case 'agent':
      return sql`c.agent_id::text`;
    case 'model':
      return sql`${chargedModel} collate "C"`;
    case 'llm_configuration':
      return sql`c.llm_id::text`;
    case 'schedule':
      return sql`c.schedule_id::text`;
    case 'trigger':
      return sql`c.trigger_id::text`;
    case 'purpose':
      return sql`c.purpose`;
    case 'api_key':
      return sql`case when c.principal_kind = 'service_account' then c.principal_id end`;
    case 'person':
      return sql`case when c.principal_kind = 'person' then c.principal_id end`;
  }
};

/** A key as text. */
const shownKey = (grouping: Grouping, key: RawBuilder<unknown>): RawBuilder<unknown> =>
  grouping === 'day' ? sql`to_char(${key}, 'YYYY-MM-DD')` : key;

/** The name of the thing whose id is in `key`; null if it is gone. Keys and people are named elsewhere. */
const nameOf = (grouping: Grouping, key: RawBuilder<unknown>): RawBuilder<unknown> => {
  switch (grouping) {
    case 'agent':
      return sql`(select t.name from agents t where t.id = ${key}::uuid)`;
    case 'llm_configuration':
      return sql`(select t.name from llm_configurations t where t.id = ${key}::uuid)`;
    case 'schedule':
      return sql`(select coalesce(t.work_item_name, a.name) from schedules t join agents a on a.id = t.agent_id
        where t.id = ${key}::uuid)`;
    case 'trigger':
      return sql`(select t.name from triggers t where t.id = ${key}::uuid)`;
    case 'api_key':
    case 'person':
      return sql`null::text`;
    default:
      return shownKey(grouping, key);
  }
};

/** The sums of the buckets are capped so that their sum is exact too. */
const sums = sql`${cappedSum(sql`sum(c.amount_nano_usd)`)} as cost_nano_usd, count(*)::bigint as calls,
  (count(*) filter (where c.amount_nano_usd is null))::bigint as unknown_calls,
  (count(*) filter (where c.unreconciled))::bigint as unreconciled_calls,
  ${sql.join(buckets.map((name) => sql`least(coalesce(sum(c.${sql.ref(name)}), 0), 1e15)::bigint as ${sql.ref(name)}`))}`;

/** The sums over all charges that match. */
export const sumCharges = async (
  executor: Executor,
  filter: ChargeFilter,
  seesPeople: boolean,
): Promise<CostSum> => {
  const { rows } = await sql<CostSum>`${planEachTime} select ${sums} from charges c
    where ${chargeConditions(filter, seesPeople)}`.execute(executor);
  return rows[0]!;
};

/** The sums of the dearest groups, one more than `limit`. */
export const groupCharges = async (
  executor: Executor,
  { filter, groupBy, timezone }: { filter: ChargeFilter; groupBy: readonly Grouping[]; timezone: string },
  seesPeople: boolean,
  limit: number,
): Promise<CostGroup[]> => {
  const keys = groupBy.map((one, i) => sql`${keyOf(one, timezone)} as ${sql.ref(`key${i}`)}`);
  const named = groupBy.map((one, i) => nameOf(one, sql.ref(`g.key${i}`)));
  const shown = groupBy.map((one, i) => shownKey(one, sql.ref(`g.key${i}`)));
  const numbers = groupBy.map((_, i) => sql.lit(i + 1));
  const { rows } = await sql<CostGroup>`${planEachTime} with g as (
      select ${sql.join(keys)}, ${sums} from charges c where ${chargeConditions(filter, seesPeople)}
      group by ${sql.join(numbers)} order by cost_nano_usd desc, calls desc, ${sql.join(numbers)} limit ${limit + 1}
    )
    select array[${sql.join(shown)}]::text[] as keys, array[${sql.join(named)}]::text[] as names, g.* from g
    order by cost_nano_usd desc, calls desc, keys`.execute(executor);
  return rows;
};
