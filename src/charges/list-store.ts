import { type Executor, type Page, planEachTime, type RawBuilder, sql } from '../database/index.ts';
import { isId } from '../lib/ids.ts';
import type { Charge } from './charge.ts';
import { chargeColumns } from './store.ts';

/** Which charges are meant. Times in milliseconds since 1970: from `from` on, before `to`. */
export interface ChargeFilter {
  agent_id?: string | undefined;
  agent_version?: number | undefined;
  work_item_id?: string | undefined;
  run_id?: string | undefined;
  experiment_id?: string | undefined;
  schedule_id?: string | undefined;
  trigger_id?: string | undefined;
  llm_id?: string | undefined;
  price_id?: string | undefined;
  trace_id?: string | undefined;
  span_id?: string | undefined;
  /** The model as it was reported, else as it was requested. */
  model?: string | undefined;
  principal_id?: string | undefined;
  purpose?: Charge['purpose'] | undefined;
  status?: Charge['status'] | undefined;
  unreconciled?: boolean | undefined;
  from?: Date | undefined;
  to?: Date | undefined;
}

/** The model of a charge in filters and sums. */
export const chargedModel = sql`coalesce(c.model, c.requested_model)`;

const ids = [
  'agent_id',
  'work_item_id',
  'run_id',
  'experiment_id',
  'schedule_id',
  'trigger_id',
  'llm_id',
  'price_id',
] as const satisfies readonly (keyof ChargeFilter)[];

const equal = [
  ...ids,
  'agent_version',
  'trace_id',
  'span_id',
  'principal_id',
  'purpose',
  'status',
  'unreconciled',
] as const satisfies readonly (keyof ChargeFilter)[];

/** Conditions on `charges c`. `seesPeople`: without it a filter by a person matches nothing, as one by no id does. */
export const chargeConditions = (filter: ChargeFilter, seesPeople: boolean): RawBuilder<unknown> => {
  if (ids.some((name) => filter[name] !== undefined && !isId(filter[name]))) return sql`false`;
  const conditions = equal.flatMap((name) =>
    filter[name] === undefined ? [] : [sql`${sql.ref(`c.${name}`)} = ${filter[name]}`],
  );
  if (filter.model !== undefined) conditions.push(sql`${chargedModel} = ${filter.model}`);
  if (filter.from !== undefined) conditions.push(sql`c.started_at >= ${filter.from}`);
  if (filter.to !== undefined) conditions.push(sql`c.started_at < ${filter.to}`);
  if (filter.principal_id !== undefined && !seesPeople) conditions.push(sql`c.principal_kind <> 'person'`);
  return conditions.length === 0 ? sql`true` : sql.join(conditions, sql` and `);
};

/** Charges, newest first, one more than `limit`. */
export const listCharges = async (
  executor: Executor,
  { limit, next, ...filter }: Page & ChargeFilter,
  seesPeople: boolean,
): Promise<Charge[]> => {
  const { rows } = await sql<Charge>`${planEachTime} select ${chargeColumns} from charges c
    where ${chargeConditions(filter, seesPeople)} ${next === null ? sql`` : sql`and c.id < ${next}`}
    order by c.id desc limit ${limit + 1}`.execute(executor);
  return rows;
};
