import { type Executor, planEachTime, type RawBuilder, sql } from '../database/index.ts';
import { isId } from '../lib/ids.ts';
import { packId, unpackId } from './packed-id.ts';
import { type TermKind, termOf } from './pieces.ts';

/** The row of a trace in one part. */
export interface TraceRow {
  /** 32 hex digits. */
  trace_id: string;
  part: number;
  start_us: number;
  end_us: number;
  rooted: boolean;
  name: string;
  service: string | null;
  agent_id: string | null;
  agent_name: string | null;
  span_count: number;
  failed_spans: number;
  tokens: number | null;
  cost_nano_usd: number | null;
  terms: string[];
  work_item_id: string | null;
  conversation_id: string | null;
  blocks: string[];
}

const cost = sql`coalesce(model_cost_nano_usd, agent_cost_nano_usd)`;
const columns = sql`replace(trace_id::text, '-', '') as trace_id, part, start_us, end_us, rooted, name, service, agent_id,
  agent_name, span_count, failed_spans, coalesce(model_tokens, agent_tokens) as tokens, ${cost} as cost_nano_usd,
  string_to_array(terms, E'\\n') as terms, work_item_id, conversation_id,
  array_prepend(block, more_blocks) as blocks`;

const toRow = (row: TraceRow): TraceRow => ({
  ...row,
  agent_id: row.agent_id === null ? null : unpackId(row.agent_id),
  conversation_id: row.conversation_id === null ? null : unpackId(row.conversation_id),
});

/** The expressions of the indexes. */
const orders = { time: sql`start_us`, duration: sql`(end_us - start_us)`, cost } as const;
const searched = sql`string_to_array(
  case when agent_id is null then terms else terms || E'\\na:' || agent_id end, E'\\n')`;

/** The orders of a list, largest first. By cost, traces of unknown cost come after all others, newest first. */
export type TraceSort = keyof typeof orders;
export const traceSorts = Object.keys(orders) as [TraceSort, ...TraceSort[]];

/** A position in a list: the key and the trace id of its last row. `unknown`: in a list by cost, among unknown costs. */
export interface TracePosition {
  unknown: boolean;
  key: number;
  traceId: string;
}

export const positionOf = (sort: TraceSort, row: TraceRow): TracePosition => {
  const { start_us, end_us, cost_nano_usd, trace_id: traceId } = row;
  const unknown = sort === 'cost' && cost_nano_usd === null;
  const key =
    sort === 'duration' ? end_us - start_us : sort === 'time' || unknown ? start_us : cost_nano_usd!;
  return { unknown, key, traceId };
};

/** What a list is limited to. Times are in milliseconds since 1970. */
export interface TraceFilter {
  agent_id?: string | undefined;
  status?: 'ok' | 'error' | undefined;
  tool?: string | undefined;
  error_type?: string | undefined;
  model?: string | undefined;
  service?: string | undefined;
  min_duration_ms?: number | undefined;
  max_duration_ms?: number | undefined;
  min_cost_nano_usd?: number | undefined;
  max_cost_nano_usd?: number | undefined;
  work_item_id?: string | undefined;
  conversation_id?: string | undefined;
  from?: number | undefined;
  to?: number | undefined;
}

const isConversation = (packed: string): RawBuilder<unknown> =>
  sql`(hashtext(conversation_id) = hashtext(${packed}) and conversation_id = ${packed})`;

/** The condition on the terms of a trace: its models, tools, errors, service and agent; null: none is asked for. */
const termsOf = (filter: TraceFilter): RawBuilder<unknown> | null => {
  const terms = (['model', 'tool', 'error_type', 'service'] as const).flatMap((name) =>
    filter[name] === undefined ? [] : [termOf(name[0] as TermKind, filter[name])],
  );
  if (filter.agent_id !== undefined) terms.push(`a:${packId(filter.agent_id)}`);
  return terms.length > 0 ? sql`${searched} @> ${terms}::text[]` : null;
};

const matches = (filter: TraceFilter): RawBuilder<unknown>[] => {
  const conditions: (RawBuilder<unknown> | false)[] = [
    filter.status === 'error' && sql`failed_spans > 0`,
    filter.status === 'ok' && sql`failed_spans = 0`,
    filter.min_duration_ms !== undefined && sql`${orders.duration} >= ${filter.min_duration_ms * 1_000}`,
    filter.max_duration_ms !== undefined && sql`${orders.duration} <= ${filter.max_duration_ms * 1_000}`,
    filter.min_cost_nano_usd !== undefined && sql`${orders.cost} >= ${filter.min_cost_nano_usd}`,
    filter.max_cost_nano_usd !== undefined && sql`${orders.cost} between 0 and ${filter.max_cost_nano_usd}`,
    filter.work_item_id !== undefined &&
      (isId(filter.work_item_id) ? sql`work_item_id = ${filter.work_item_id}::uuid` : sql`false`),
    filter.conversation_id !== undefined && isConversation(packId(filter.conversation_id)),
    filter.from !== undefined && sql`start_us >= ${filter.from * 1_000}`,
    filter.to !== undefined && sql`start_us < ${filter.to * 1_000}`,
  ];
  return conditions.filter((condition) => condition !== false);
};

/** Terms with at most this many traces are rare. */
const rareUpTo = 500;

/**
 * The traces with these terms. Statistics know common terms only, so the database would look for a rare one, or one that
 * does not exist, through all traces in their order. If there are few, it gets them from the index of terms first.
 */
const tracesWith = async (executor: Executor, terms: RawBuilder<unknown>): Promise<RawBuilder<unknown>> => {
  const { rows } = await sql<{ n: number }>`${planEachTime} select count(*)::int as n
    from (select from traces where ${terms} limit ${rareUpTo + 1}) found`.execute(executor);
  const chosen = sql`(select * from traces where ${terms}`;
  return rows[0]!.n <= rareUpTo ? sql`${chosen} offset 0) traces` : sql`${chosen}) traces`;
};

/** At most `limit` rows behind `after`. A trace in two parts has two rows. */
export const listTraceRows = async (
  executor: Executor,
  filter: TraceFilter,
  { sort, after, limit }: { sort: TraceSort; after: TracePosition | null; limit: number },
): Promise<TraceRow[]> => {
  const conditions = matches(filter);
  const terms = termsOf(filter);
  const source = terms ? await tracesWith(executor, terms) : sql`traces`;
  const select = async (
    by: TraceSort,
    from: TracePosition | null,
    most: number,
    more: RawBuilder<unknown>[],
  ) => {
    const order = orders[by];
    const behind = from ? [sql`(${order}, trace_id) < (${from.key}::bigint, ${from.traceId}::uuid)`] : [];
    const all = [...conditions, ...more, ...behind];
    const where = all.length === 0 ? sql`` : sql`where ${sql.join(all, sql` and `)}`;
    const { rows } = await sql<TraceRow>`${planEachTime} select ${columns} from ${source} ${where}
      order by ${order} desc, trace_id desc limit ${most}`.execute(executor);
    return rows.map(toRow);
  };
  if (sort !== 'cost') return select(sort, after, limit, []);
  const known = after?.unknown ? [] : await select('cost', after, limit, [sql`${cost} is not null`]);
  if (known.length === limit) return known;
  const unknown = await select('time', after?.unknown ? after : null, limit - known.length, [
    sql`${cost} is null`,
  ]);
  return [...known, ...unknown];
};

/** All rows of these traces, the oldest part first. */
export const findTraceRows = async (executor: Executor, traceIds: readonly string[]): Promise<TraceRow[]> => {
  const { rows } = await sql<TraceRow>`select ${columns} from traces
    where trace_id = any(${traceIds}::uuid[]) order by trace_id, part`.execute(executor);
  return rows.map(toRow);
};

/** The content of blocks of one part, in their order. Those that are gone are left out. */
export const readBlocks = async (
  executor: Executor,
  part: number,
  ids: readonly string[],
): Promise<Buffer[]> => {
  const { rows } = await sql<{ content: Buffer }>`select content from trace_blocks
    where part = ${part} and id = any(${ids}::bigint[]) order by id`.execute(executor);
  return rows.map(({ content }) => content);
};
