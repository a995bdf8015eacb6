import type { z } from 'zod';
import { agentCalls } from '../agents/index.ts';
import type { Executor } from '../database/index.ts';
import { isId } from '../lib/ids.ts';
import type { TraceRow } from './read-store.ts';
import type { traceSummary } from './schemas.ts';

type Summary = z.input<typeof traceSummary>;

/** Latest time that a Date has, in microseconds: OpenTelemetry's end in the year 2554. */
export const dateOf = (microseconds: number): Date => new Date(microseconds / 1_000);

const named = (terms: readonly string[], kind: string): string[] =>
  terms.filter((term) => term.startsWith(`${kind}:`)).map((term) => term.slice(2));

/** The rows of one trace in several parts as one, the oldest part first. */
export const mergeRows = ([first, ...others]: readonly TraceRow[]): TraceRow => {
  const sum = (a: number | null, b: number | null) => (b === null ? a : (a ?? 0) + b);
  return others.reduce((a, b) => {
    const [head, other] =
      Number(b.rooted) - Number(a.rooted) || a.start_us - b.start_us > 0 ? [b, a] : [a, b];
    return {
      ...head,
      part: a.part,
      start_us: Math.min(a.start_us, b.start_us),
      end_us: Math.max(a.end_us, b.end_us),
      agent_id: head.agent_id ?? other.agent_id,
      agent_name: head.agent_id === null ? other.agent_name : head.agent_name,
      span_count: a.span_count + b.span_count,
      failed_spans: a.failed_spans + b.failed_spans,
      tokens: sum(a.tokens, b.tokens),
      cost_nano_usd: sum(a.cost_nano_usd, b.cost_nano_usd),
      terms: [...new Set([...a.terms, ...b.terms])],
      work_item_id: a.work_item_id ?? b.work_item_id,
      conversation_id: a.conversation_id ?? b.conversation_id,
      blocks: [],
    };
  }, first!);
};

/** Rows as the API shows them, with the present names of agents. */
export const toSummaries = async (executor: Executor, rows: readonly TraceRow[]): Promise<Summary[]> => {
  const ids = rows.flatMap(({ agent_id }) => (agent_id !== null && isId(agent_id) ? [agent_id] : []));
  const names = ids.length === 0 ? new Map<string, string>() : await agentCalls.findNames(executor, ids);
  return rows.map((row) => ({
    trace_id: row.trace_id,
    name: row.name,
    agent:
      row.agent_id === null ? null : { id: row.agent_id, name: names.get(row.agent_id) ?? row.agent_name },
    service: row.service,
    started_at: dateOf(row.start_us),
    duration_ms: (row.end_us - row.start_us) / 1_000,
    status: row.failed_spans > 0 ? 'error' : 'ok',
    span_count: row.span_count,
    tokens: row.tokens,
    cost_nano_usd: row.cost_nano_usd,
    models: named(row.terms, 'm').sort(),
    tools: named(row.terms, 't').sort(),
    errors: named(row.terms, 'e').sort(),
    work_item_id: row.work_item_id,
    conversation_id: row.conversation_id,
  }));
};
