import { settleShares } from '../budgets/index.ts';
import { type Executor, json, type RawBuilder, sql, type Table, type Tx } from '../database/index.ts';
import { type Charge, cappedSum, type NewCharge } from './charge.ts';

declare module '../database/database.ts' {
  interface Schema {
    charges: Table<Charge>;
  }
}

const columns = [
  ['id', 'uuid'],
  ['started_at', 'timestamptz'],
  ['duration_ms', 'integer'],
  ['purpose', 'text'],
  ['status', 'text'],
  ['unreconciled', 'boolean'],
  ['late', 'boolean'],
  ['agent_id', 'uuid'],
  ['agent_version', 'integer'],
  ['work_item_id', 'uuid'],
  ['run_id', 'uuid'],
  ['experiment_id', 'uuid'],
  ['schedule_id', 'uuid'],
  ['trigger_id', 'uuid'],
  ['principal_kind', 'text'],
  ['principal_id', 'text'],
  ['llm_id', 'uuid'],
  ['requested_model', 'text'],
  ['model', 'text'],
  ['input', 'bigint'],
  ['input_audio', 'bigint'],
  ['cache_read', 'bigint'],
  ['cache_write', 'bigint'],
  ['cache_write_1h', 'bigint'],
  ['output', 'bigint'],
  ['output_audio', 'bigint'],
  ['reasoning', 'bigint'],
  ['price_id', 'uuid'],
  ['amount_nano_usd', 'bigint'],
  ['assumed_nano_usd', 'bigint'],
  ['trace_id', 'text'],
  ['span_id', 'text'],
  ['external_id', 'text'],
] as const satisfies readonly (readonly [keyof Charge, string])[];

export const chargeColumns = sql.join(columns.map(([name]) => sql.ref(`c.${name}`)));
const names = sql.join(columns.map(([name]) => sql.ref(name)));
const definitions = sql.join(columns.map(([name, type]) => sql`${sql.ref(name)} ${sql.raw(type)}`));

/** Adds the sums of the charges that were inserted to the rows that they name. */
const counted = (table: string, column: keyof Charge): RawBuilder<unknown> => sql`
  update ${sql.table(table)} t set cost_nano_usd = ${cappedSum(sql`t.cost_nano_usd + s.cost`)}, unknown_calls = t.unknown_calls + s.unknown
  from (select ${sql.ref(column)} as id, ${cappedSum(sql`sum(amount_nano_usd)`)} as cost,
      (count(*) filter (where amount_nano_usd is null))::integer as unknown
    from charges_inserted where ${sql.ref(column)} is not null group by 1) s
  where t.id = s.id and (s.cost <> 0 or s.unknown <> 0)`;

/**
 * The common table expressions that insert charges and add them to the counters of what they name and to their budgets. A
 * charge whose id is there already is left out of all: a transaction whose end is not known can be run again.
 */
export const chargeInsertion = (charges: readonly NewCharge[]): RawBuilder<unknown> => {
  const has = (column: keyof Charge) => charges.some(({ charge }) => charge[column] !== null);
  const counters = [
    ...(has('work_item_id') ? [sql`charges_of_items as (${counted('work_items', 'work_item_id')})`] : []),
    ...(has('run_id') ? [sql`charges_of_runs as (${counted('conversation_runs', 'run_id')})`] : []),
    ...(has('experiment_id')
      ? [sql`charges_of_experiments as (${counted('experiments', 'experiment_id')})`]
      : []),
  ];
  const settled = charges.flatMap(({ charge, settlements }) =>
    settlements.map((one) => ({ ...one, charge_id: charge.id })),
  );
  const ofInserted = sql`(select coalesce(jsonb_agg(g.one), '[]'::jsonb)
    from jsonb_array_elements(${json(settled)}::jsonb) as g(one)
    where (g.one ->> 'charge_id')::uuid in (select id from charges_inserted))`;
  return sql.join([
    sql`charges_given as (
      select * from jsonb_to_recordset(${json(charges.map(({ charge }) => charge))}::jsonb) as g(${definitions})
    )`,
    sql`charges_inserted as (
      insert into charges (${names}) select ${names} from charges_given on conflict do nothing returning *
    )`,
    ...counters,
    ...(settled.length > 0 ? [settleShares(ofInserted)] : []),
  ]);
};

/** Inserts charges in one statement. Returns those that were not there yet. */
export const insertCharges = async <C extends NewCharge>(
  executor: Executor,
  charges: readonly C[],
): Promise<C[]> => {
  if (charges.length === 0) return [];
  const { rows } = await sql<{
    id: string;
  }>`with ${chargeInsertion(charges)} select id from charges_inserted`.execute(executor);
  const inserted = new Set(rows.map(({ id }) => id));
  return charges.filter(({ charge }) => inserted.has(charge.id));
};

/** Deletes at most `limit` charges that began more than `days` days ago. Returns how many. */
export const deleteOldCharges = async (tx: Tx, days: number, limit: number): Promise<number> => {
  await sql`select set_config('platform.charge_retention', 'on', true)`.execute(tx);
  const { rows } = await sql`delete from charges where id in (
      select id from charges where started_at < platform_now() - make_interval(days => ${days})
      order by started_at limit ${limit} for update skip locked)
    returning 1`.execute(tx);
  return rows.length;
};

/** Resolves to whether a charge names the price. */
export const isPriceUsed = async (executor: Executor, priceId: string): Promise<boolean> =>
  (await executor
    .selectFrom('charges')
    .select('id')
    .where('price_id', '=', priceId)
    .limit(1)
    .executeTakeFirst()) !== undefined;
