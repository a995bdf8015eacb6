import { z } from 'zod';
import { audit } from '../audit/index.ts';
import type { Database, Executor } from '../database/index.ts';
import {
  givenTime,
  jsonRoute,
  limit,
  optionalQueryInteger,
  positionCursor,
  queryInteger,
  type Route,
  readPosition,
  sortedPage,
} from '../http/index.ts';
import { notFound, unprocessable } from '../lib/errors.ts';
import { type Principal, roleAllows } from '../lib/principal.ts';
import { agentKey, type TracePiece } from './pieces.ts';
import {
  findTraceRows,
  listTraceRows,
  positionOf,
  type TracePosition,
  type TraceRow,
  type TraceSort,
  traceSorts,
} from './read-store.ts';
import { spanDetail, storeState, traceDetail, tracePage } from './schemas.ts';
import { mergeRows, toSummaries } from './summary.ts';
import { readSpan, readTrace } from './view.ts';

export interface TraceRouteParts {
  db: Database;
  /** Whether a member sees the trace: it is of a Work Item, or of a conversation of the member. */
  isSeenBy(executor: Executor, traceId: string, principal: Principal): Promise<boolean>;
  /** The step of a Work Item that a span of the platform is of. */
  findStep(executor: Executor, traceId: string, spanId: string): Promise<z.input<typeof spanDetail>['step']>;
  state(): Promise<z.input<typeof storeState>>;
  /** Drops all traces. Resolves to the number of spans. */
  deleteAll(tx: Parameters<typeof audit>[0]): Promise<number>;
}

const spansOfPage = 10_000;
const optionalNumber = optionalQueryInteger(0, 999_999_999_999_999);

const listQuery = z.object({
  agent_id: z.string().optional(),
  status: z.enum(['ok', 'error']).optional(),
  tool: z.string().optional(),
  error_type: z.string().optional(),
  model: z.string().optional(),
  service: z.string().optional().describe('Any service of the trace.'),
  min_duration_ms: optionalNumber,
  max_duration_ms: optionalNumber,
  min_cost_nano_usd: optionalNumber,
  max_cost_nano_usd: optionalNumber,
  work_item_id: z.string().optional(),
  conversation_id: z.string().optional(),
  from: givenTime.optional().describe('Traces that began then or later.'),
  to: givenTime.optional().describe('Traces that began earlier.'),
  sort: z
    .enum(traceSorts)
    .default('time')
    .describe('`time`: newest first. `duration`: longest first. `cost`: dearest first, unknown cost last.'),
  limit,
  next: z.string().optional().describe('The `next` of the page before, unchanged.'),
});

const pageOf = z.object({
  limit: queryInteger(1, spansOfPage, spansOfPage),
  next: z.string().optional().describe('The `next` of the page before, unchanged.'),
});

const readNext = (next: string | undefined, sort: TraceSort): TracePosition | null => {
  const values = readPosition(next, sort, ['text', 'text', 'text']);
  if (!values) return null;
  const [known, key, traceId] = values;
  if (/^(known|unknown)$/.test(known) && /^-?\d{1,18}$/.test(key) && /^[0-9a-f]{32}$/.test(traceId)) {
    return { unknown: known === 'unknown', key: Number(key), traceId };
  }
  throw unprocessable([{ path: 'next', message: 'is not the `next` of an earlier page of this list' }]);
};

const cursorOf = (sort: TraceSort, { unknown, key, traceId }: TracePosition): string =>
  positionCursor(sort, [unknown ? 'unknown' : 'known', String(key), traceId]);

/**
 * A page of traces, and one more. A trace in two parts is listed where its row in the older one is: rows in later parts
 * are passed over, and the page is filled from behind.
 */
const listTraces = async (
  executor: Executor,
  filter: Parameters<typeof listTraceRows>[1],
  { sort, after, limit }: Parameters<typeof listTraceRows>[2],
): Promise<{ row: TraceRow; cursor: string }[]> => {
  const found: { row: TraceRow; cursor: string }[] = [];
  let position = after;
  while (found.length < limit) {
    const wanted = limit - found.length;
    const rows = await listTraceRows(executor, filter, { sort, after: position, limit: wanted });
    const all = Map.groupBy(
      await findTraceRows(
        executor,
        rows.map(({ trace_id }) => trace_id),
      ),
      ({ trace_id }) => trace_id,
    );
    for (const row of rows) {
      const parts = all.get(row.trace_id) ?? [row];
      position = positionOf(sort, row);
      if (parts[0]!.part !== row.part) continue;
      found.push({ row: mergeRows(parts), cursor: cursorOf(sort, position) });
    }
    if (rows.length < wanted) break;
  }
  return found;
};

/** The row of a trace that was read whole: what was counted twice is not. */
const rowOf = (piece: TracePiece, row: TraceRow): TraceRow => ({
  ...row,
  start_us: piece.startUs,
  end_us: piece.endUs,
  rooted: piece.rooted,
  name: piece.name,
  service: piece.service,
  agent_id: piece.agentId,
  agent_name: piece.agentName,
  span_count: piece.spanCount,
  failed_spans: piece.failedSpans,
  tokens: piece.modelTokens ?? piece.agentTokens,
  cost_nano_usd: piece.modelCostNanoUsd ?? piece.agentCostNanoUsd,
  terms: [...piece.terms],
});

export const traceRoutes = ({ db, isSeenBy, findStep, state, deleteAll }: TraceRouteParts): Route[] => {
  const reads = { scope: 'telemetry:read', base: 'v2' } as const;

  /** Loads the rows of the trace that the path names. Throws 404 also for one that the caller may not see. */
  const find = async ({
    params,
    principal,
  }: {
    params: Record<string, string>;
    principal: Principal;
  }): Promise<TraceRow[]> => {
    const traceId = params.trace_id!.toLowerCase();
    const found = /^[0-9a-f]{32}$/.test(traceId)
      ? await db.run(async (executor) =>
          roleAllows(principal.role, 'builder') || (await isSeenBy(executor, traceId, principal))
            ? findTraceRows(executor, [traceId])
            : [],
        )
      : [];
    if (found.length === 0) throw notFound('trace');
    return found;
  };

  return [
    jsonRoute({
      ...reads,
      id: 'listTraces',
      role: 'builder',
      request: 'GET /traces',
      summary: 'List traces',
      description: 'Traces that the platform keeps (`TRACE_STORE`). Filters compare exact values.',
      query: listQuery,
      response: tracePage,
      handler: async ({ query: { sort, next, limit, ...filter } }) => {
        const agent = filter.agent_id === undefined ? {} : { agent_id: agentKey(filter.agent_id) };
        const after = readNext(next, sort);
        return db.run(async (executor) => {
          const found = await listTraces(
            executor,
            { ...filter, ...agent },
            { sort, after, limit: limit + 1 },
          );
          const page = sortedPage(
            found,
            limit,
            ({ cursor }) => cursor,
            ({ row }) => row,
          );
          return { ...page, data: await toSummaries(executor, page.data) };
        });
      },
    }),
    jsonRoute({
      ...reads,
      id: 'getTrace',
      role: 'member',
      request: 'GET /traces/{trace_id}',
      summary: 'Get a trace with its spans',
      description:
        'A member sees the traces of Work Items and of own conversations. A span that came twice is there once.',
      find,
      compressed: true,
      query: pageOf,
      response: traceDetail,
      handler: async ({ found, query: { limit, next } }) => {
        const position = readPosition(next, 'spans', ['text']);
        const trace = await readTrace(db, found);
        // Its part was dropped in the meantime.
        if (trace === null) throw notFound('trace');
        const { piece, spans, missingParents: missing_parents } = trace;
        const from = position === null ? 0 : spans.findIndex(({ span_id }) => span_id === position[0]) + 1;
        const { data, ...more } = sortedPage(
          spans.slice(from, from + limit + 1),
          limit,
          ({ span_id }) => positionCursor('spans', [span_id]),
          (span) => span,
        );
        const row = rowOf(piece, mergeRows(found));
        const [shown] = await db.run((executor) => toSummaries(executor, [row]));
        return { ...shown!, spans: data, missing_parents, ...more };
      },
    }),
    jsonRoute({
      ...reads,
      id: 'getTraceSpan',
      role: 'member',
      request: 'GET /traces/{trace_id}/spans/{span_id}',
      summary: 'Get a span with its attributes',
      find,
      response: spanDetail,
      handler: async ({ found, params }) => {
        const spanId = params.span_id!.toLowerCase();
        const span = /^[0-9a-f]{16}$/.test(spanId) ? await readSpan(db, found, spanId) : null;
        if (span === null) throw notFound('span');
        return { ...span, step: await db.run((executor) => findStep(executor, span.trace_id, spanId)) };
      },
    }),
    jsonRoute({
      id: 'deleteTraces',
      role: 'admin',
      scope: 'telemetry',
      base: 'v2',
      request: 'DELETE /traces',
      summary: 'Delete all traces',
      description: 'Those that the platform keeps; what integrations have got stays there.',
      handler: async ({ transaction, actor }) =>
        transaction(async (tx) => {
          const spans = await deleteAll(tx);
          await audit(tx, actor, 'traces.delete', null, { spans });
        }),
    }),
    jsonRoute({
      ...reads,
      id: 'getTraceStore',
      role: 'builder',
      base: 'app',
      request: 'GET /trace-store',
      summary: 'Get the state of the store of traces',
      description: 'Counts in spans, over all replicas.',
      response: storeState,
      handler: state,
    }),
  ];
};
