import { type Executor, type RawBuilder, sql, type Tx } from '../database/index.ts';
import type { Block } from './blocks.ts';
import { largestSum } from './pieces.ts';

/** How far a telemetry log has come: its spans before the ordinal are stored, `stored` of them, or never will be. */
export interface TracePosition {
  ordinal: number;
  stored: number;
}

/** Locks the position of a log until the transaction ends, so that no two replicas store the same spans. */
export const lockPosition = async (tx: Tx, log: string): Promise<TracePosition> => {
  await sql`insert into trace_positions (log) values (${log}::uuid) on conflict do nothing`.execute(tx);
  const { rows } = await sql<TracePosition>`select ordinal, stored from trace_positions
    where log = ${log}::uuid for update`.execute(tx);
  return rows[0]!;
};

export const updatePosition = async (
  tx: Tx,
  log: string,
  { ordinal, stored }: TracePosition,
): Promise<void> => {
  await sql`update trace_positions set ordinal = ${ordinal}, stored = ${stored} where log = ${log}::uuid`.execute(
    tx,
  );
};

/** Ids for this many blocks at most come with one statement. */
const idsAtOnce = 100;

/** Takes the ids of blocks from the sequence, a hundred at a time. */
export class BlockIds {
  #next = 0;
  #left = 0;

  async take(executor: Executor, count: number): Promise<number[]> {
    const ids: number[] = [];
    while (ids.length < count) {
      if (this.#left === 0) {
        const { rows } = await sql<{ first: number }>`select nextval('trace_block_ids') as first`.execute(
          executor,
        );
        this.#next = rows[0]!.first;
        this.#left = idsAtOnce;
      }
      ids.push(this.#next++);
      this.#left--;
    }
    return ids;
  }
}

export const insertBlocks = async (
  tx: Tx,
  part: number,
  ids: readonly number[],
  blocks: readonly Block[],
): Promise<void> => {
  const rows = blocks.map(({ spans, content }, i) => sql`(${part}, ${ids[i]!}, ${spans}, ${content})`);
  await sql`insert into trace_blocks (part, id, spans, content) values ${sql.join(rows)}`.execute(tx);
};

const columns =
  sql.raw(`trace_id, start_us, end_us, rooted, name, service, agent_id, agent_name, span_count, failed_spans,
  model_tokens, agent_tokens, model_cost_nano_usd, agent_cost_nano_usd, terms, work_item_id, conversation_id`);

/** A sum that may be null, and ends where a number of JavaScript does. */
const added = (name: string): RawBuilder<unknown> => {
  const [before, more] = [sql.ref(`t.${name}`), sql.ref(`excluded.${name}`)];
  return sql`case when ${more} is null then ${before}
    else least(coalesce(${before}, 0) + ${more}, ${sql.lit(largestSum)}) end`;
};

/** A trace lists no more blocks: spans of one that comes in so many pieces are stored, and not shown. */
const mostBlocks = 2_000;

/**
 * Adds rows of traces, as JSON (`PartOfBatch`), to those that there are. `ids`: of the blocks that they name by index. Rows
 * are written in the order of their ids, so that two replicas never wait for each other.
 */
export const addRows = async (tx: Tx, part: number, ids: readonly number[], rows: string): Promise<void> => {
  const blocks = sql`${ids}::bigint[]`;
  await sql`insert into traces as t (${columns}, block, more_blocks, part)
    select ${columns}, (${blocks})[block + 1], (select array_agg((${blocks})[i + 1]) from unnest(more_blocks) i), ${part}
    from jsonb_to_recordset(${rows}::jsonb) as piece(trace_id uuid, start_us bigint,
      end_us bigint, rooted boolean, name text, service text, agent_id text, agent_name text, span_count integer,
      failed_spans integer, model_tokens bigint, agent_tokens bigint, model_cost_nano_usd bigint,
      agent_cost_nano_usd bigint, terms text, work_item_id uuid, conversation_id text, block integer, more_blocks integer[])
    order by trace_id
    on conflict (trace_id, part) do update set
      start_us = least(t.start_us, excluded.start_us),
      end_us = greatest(t.end_us, excluded.end_us),
      (name, service, rooted) = (select n.name, n.service, n.rooted from (values
        (t.name, t.service, t.rooted, t.start_us, 0),
        (excluded.name, excluded.service, excluded.rooted, excluded.start_us, 1)) as n(name, service, rooted, at, k)
        order by n.rooted desc, n.at, n.k limit 1),
      (agent_id, agent_name) = (select a.id, a.name from (values
        (t.agent_id, t.agent_name, t.start_us, 0),
        (excluded.agent_id, excluded.agent_name, excluded.start_us, 1)) as a(id, name, at, k)
        order by (a.id is null), a.at, a.k limit 1),
      span_count = t.span_count + excluded.span_count,
      failed_spans = t.failed_spans + excluded.failed_spans,
      model_tokens = ${added('model_tokens')},
      agent_tokens = greatest(t.agent_tokens, excluded.agent_tokens),
      model_cost_nano_usd = ${added('model_cost_nano_usd')},
      agent_cost_nano_usd = greatest(t.agent_cost_nano_usd, excluded.agent_cost_nano_usd),
      terms = case when string_to_array(t.terms, E'\n') @> string_to_array(excluded.terms, E'\n') then t.terms
        else array_to_string(array(select distinct unnest(array_remove(
          string_to_array(t.terms, E'\n') || string_to_array(excluded.terms, E'\n'), ''))), E'\n') end,
      work_item_id = coalesce(t.work_item_id, excluded.work_item_id),
      conversation_id = coalesce(t.conversation_id, excluded.conversation_id),
      more_blocks = case when cardinality(t.more_blocks) >= ${sql.lit(mostBlocks)} then t.more_blocks
        else coalesce(t.more_blocks, '{}') || excluded.block || coalesce(excluded.more_blocks, '{}') end`.execute(
    tx,
  );
};
