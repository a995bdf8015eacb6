import { cappedSum, chargeInsertion, costOf, type NewCharge } from '../charges/index.ts';
import { type Executor, json, type RawBuilder, sentWithNext, sql, type Tx } from '../database/index.ts';
import type { RunUsage } from '../lib/usage.ts';
import type { RunError } from '../runs/index.ts';
import { appendMessages, messageInsertion, type NewMessage } from './history-store.ts';
import type { Status } from './states.ts';
import type { WorkItem } from './store.ts';

export const stepKinds = ['attempt', 'model', 'tool', 'wait', 'review'] as const;
export const stepStatuses = ['running', 'ok', 'error'] as const;

/** A part of an attempt, for the waterfall: when it was and how it ended, without content. */
export interface Step {
  seq: number;
  attempt: number;
  /** The `seq` of the step that it is part of; null for an attempt and a pause. */
  parent: number | null;
  kind: (typeof stepKinds)[number];
  name: string;
  started_at: Date;
  /** Null while it runs. */
  ended_at: Date | null;
  status: (typeof stepStatuses)[number];
  /** The code of the error. */
  error: string | null;
  model: string | null;
  /** Usage of a model call or an attempt. */
  tokens: Partial<RunUsage> | null;
  /** Trace of an attempt; null if the attempt ended before it had one. */
  trace_id: string | null;
  /** Worker that executed an attempt. */
  worker: string | null;
  /** The `seq` and the id of the message that it stored. */
  message_seq: number | null;
  message_id: string | null;
  /** Remarks for people. */
  notes: string[] | null;
  /** Cost of a model call or an attempt, in nano-USD; null for others, and for those of early releases. */
  cost_nano_usd: number | null;
  /** Calls of models without a known amount, like the cost. */
  unknown_calls: number | null;
}

/**
 * The cost of the attempt `s`: of all calls since it began and before the next one did, also of those that its tools made.
 */
export const costOfAttempt = sql`(
  select ${cappedSum(sql`sum(c.amount_nano_usd)`)} as cost_nano_usd,
    (count(*) filter (where c.amount_nano_usd is null))::integer as unknown_calls
  from charges c where c.work_item_id = s.work_item_id and c.started_at >= s.started_at
    and c.started_at < coalesce((select min(n.started_at) from work_item_steps n
      where n.work_item_id = s.work_item_id and n.kind = 'attempt' and n.seq > s.seq), 'infinity'))`;

/** The steps of a Work Item in the order in which they began, an attempt before its parts; at most `limit`. */
export const listSteps = async (executor: Executor, workItemId: string, limit: number): Promise<Step[]> => {
  const { rows } = await sql<Step>`
    select s.seq, s.attempt, s.parent, s.kind, s.name, s.started_at, s.ended_at, s.status, s.error, s.model, s.tokens,
      s.trace_id, s.worker, s.message_seq, m.id as message_id, s.notes,
      coalesce(s.cost_nano_usd, attempt.cost_nano_usd) as cost_nano_usd,
      coalesce(s.unknown_calls, attempt.unknown_calls) as unknown_calls
    from work_item_steps s
      left join lateral ${costOfAttempt} attempt on s.kind = 'attempt'
      left join work_item_messages m on m.work_item_id = s.work_item_id and m.seq = s.message_seq
    where s.work_item_id = ${workItemId}
    order by coalesce(s.parent, s.seq), s.parent nulls first, s.started_at, s.seq limit ${limit}`.execute(
    executor,
  );
  return rows;
};

/** Returns whether an attempt of a Work Item has this trace. */
export const hasTrace = async (executor: Executor, traceId: string): Promise<boolean> => {
  const { rows } = await sql`select 1 from work_item_steps s join work_items w on w.id = s.work_item_id
    where s.trace_id = ${traceId} limit 1`.execute(executor);
  return rows.length > 0;
};

/** The step that a span of the platform is of. */
export interface SpanStep {
  work_item_id: string;
  seq: number;
  /** The message that it stored. */
  message_id: string | null;
}

/** Returns the step with this span in an attempt with this trace; null if there is none. */
export const findSpanStep = async (
  executor: Executor,
  traceId: string,
  spanId: string,
): Promise<SpanStep | null> => {
  const { rows } = await sql<SpanStep>`select s.work_item_id, s.seq, m.id as message_id
    from (select distinct work_item_id from work_item_steps where trace_id = ${traceId}) attempts
      join work_item_steps s on s.work_item_id = attempts.work_item_id and s.span_id = ${spanId}
      left join work_item_messages m on m.work_item_id = s.work_item_id and m.seq = s.message_seq
    limit 1`.execute(executor);
  return rows[0] ?? null;
};

/** The statement that gives the attempts in progress of `items` (`id`, `trace_id`) their trace. */
export const stepTrace = (items: RawBuilder<unknown>): RawBuilder<unknown> =>
  sql`update work_item_steps s set trace_id = i.trace_id from ${items} i
    where s.work_item_id = i.id and s.kind = 'attempt' and s.ended_at is null`;

/** A step that has ended, for the waterfall. */
export interface EndedStep extends Pick<Step, 'kind' | 'name' | 'error' | 'model' | 'tokens' | 'message_id'> {
  work_item_id: string;
  notes: readonly string[] | null;
  status: 'ok' | 'error';
  beganMsAgo: number;
  endedMsAgo: number;
  span_id: string | null;
  /** Charges of a model call. */
  charges: readonly NewCharge[];
}

/**
 * Records steps that have ended, as parts of the current attempts of their Work Items, with their charges and the
 * messages that they name by their ids: in one statement, which goes out with the next one.
 */
export const insertEndedSteps = async (
  tx: Tx,
  steps: readonly EndedStep[],
  messages: readonly NewMessage[] = [],
): Promise<void> => {
  if (steps.length === 0) return appendMessages(tx, messages);
  const ago = (column: string) => sql`platform_now() - make_interval(secs => s.${sql.ref(column)} / 1000)`;
  const charges = steps.flatMap((step) => step.charges);
  const given = steps.map(({ charges: own, ...step }) => ({
    ...step,
    ...(step.kind === 'model' ? costOf(own) : {}),
  }));
  const expressions = [
    ...(charges.length > 0 ? [chargeInsertion(charges)] : []),
    ...(messages.length > 0 ? [sql`messages as (${messageInsertion(messages)} returning id, seq)`] : []),
  ];
  const [messageSeq, stored] =
    messages.length > 0
      ? [sql`m.seq`, sql`left join messages m on m.id = s.message_id`]
      : [sql`null::bigint`, sql``];
  await sql`${sentWithNext} ${expressions.length > 0 ? sql`with ${sql.join(expressions)}` : sql``} insert into work_item_steps (work_item_id, attempt, parent, kind, name, status, error, model, tokens, message_seq,
      notes, span_id, cost_nano_usd, unknown_calls, started_at, ended_at)
    select s.work_item_id, a.attempt, a.seq, s.kind, s.name, s.status, s.error, s.model, s.tokens, ${messageSeq}, s.notes,
      s.span_id, s.cost_nano_usd, s.unknown_calls, ${ago('beganMsAgo')}, ${ago('endedMsAgo')}
    from jsonb_to_recordset(${json(given)}::jsonb)
      as s(work_item_id uuid, kind text, name text, status text, error text, model text, tokens jsonb,
        message_id uuid, notes jsonb, span_id text, cost_nano_usd bigint,
        unknown_calls integer, "beganMsAgo" double precision, "endedMsAgo" double precision)
      cross join lateral (
        select seq, attempt from work_item_steps where work_item_id = s.work_item_id and kind = 'attempt'
        order by seq desc limit 1) a ${stored}`.execute(tx);
};

/** Cause of the pause after an attempt: a wait for a retry or another worker, or the review of a person. */
const pauses: Partial<Record<Status, 'wait' | 'review'>> = {
  PENDING: 'wait',
  NEEDS_REVIEW: 'review',
  INDETERMINATE: 'review',
};

type DetailedRow = WorkItem & { from_status: Status; details: Record<string, unknown> };

/** The code of how an attempt failed; null if it did not. */
const failureOf = (action: string, { status, error, details }: DetailedRow) => {
  if (action === 'lease_lost') return 'lease_lost';
  if (action === 'hand_back') return 'stopped';
  if (status === 'COMPLETED' || status === 'NEEDS_REVIEW') return null;
  if (status === 'CANCELLED') return 'cancelled';
  return ((details.error as RunError | undefined) ?? error)?.code ?? 'error';
};

/** The step that begins with a new status; null if none does. */
const begunBy = ({ status, from_status, attempts, usage, details }: DetailedRow) => {
  if (status === 'EXECUTING') {
    const name = `attempt ${attempts}`;
    return { kind: 'attempt', name, attempt: attempts, worker: details.owner, before: usage ?? {} };
  }
  const kind = from_status === 'EXECUTING' ? pauses[status] : undefined;
  return kind ? { kind, name: kind, attempt: attempts } : null;
};

/**
 * The common table expressions that record what transitions mean for the waterfall: an attempt or a pause ends, and
 * another begins.
 */
export const stepChanges = (action: string, rows: readonly DetailedRow[]): RawBuilder<unknown> => {
  const changes = rows
    .filter((row) => row.status !== row.from_status)
    .map((row) => ({ id: row.id, failure: failureOf(action, row), usage: row.usage, ...begunBy(row) }));
  return sql`changes as (
      select * from jsonb_to_recordset(${json(changes)}::jsonb) as c(id uuid, failure text, usage jsonb, kind text,
        name text, attempt integer, worker text, before jsonb)
    ), steps_ended as (
      update work_item_steps s set ended_at = platform_now(),
        status = case when s.kind = 'attempt' and c.failure is not null then 'error' else 'ok' end,
        error = case when s.kind = 'attempt' then c.failure end,
        tokens = case when s.usage_before is not null then (
          select jsonb_object_agg(u.key, u.value::bigint - coalesce((s.usage_before ->> u.key)::bigint, 0))
          from jsonb_each_text(c.usage) u) end
      from changes c where s.work_item_id = c.id and s.parent is null and s.ended_at is null
    ), steps_begun as (
      insert into work_item_steps (work_item_id, attempt, kind, name, status, worker, usage_before)
      select id, attempt, kind, name, 'running', worker, before from changes where kind is not null
    )`;
};
