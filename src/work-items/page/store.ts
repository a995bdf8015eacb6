import { type Executor, sql } from '../../database/index.ts';
import { openReview } from '../../reviews/index.ts';
import type { WorkItem } from '../store.ts';

/** A longer payload or result is not sent with the page, only its beginning. */
const mostBytes = sql.lit(262_144);
const headCharacters = sql.lit(16_384);

/** A payload or result: its value, or if it is too large the beginning of its text. */
export interface ShownValue {
  value: unknown;
  bytes: number;
  head: string | null;
}

/** Fields that only the page of a Work Item shows. */
export interface DetailRow
  extends Pick<
    WorkItem,
    | 'message'
    | 'error'
    | 'review_reason'
    | 'open_review'
    | 'pending_approvals'
    | 'callbacks'
    | 'conversation_id'
    | 'trace_id'
  > {
  payload: ShownValue;
  result: ShownValue;
}

const shown = (column: 'payload' | 'result') => {
  const value = sql.ref(`w.${column}`);
  const text = sql`case jsonb_typeof(${value}) when 'string' then ${value} #>> '{}' else ${value}::text end`;
  return sql`(select jsonb_build_object('bytes', coalesce(octet_length(text), 0),
      'value', case when octet_length(text) <= ${mostBytes} then ${value} end,
      'head', case when octet_length(text) > ${mostBytes} then left(text, ${headCharacters}) end)
    from (select ${text} as text) raw)`;
};

export const findDetail = async (executor: Executor, id: string): Promise<DetailRow | undefined> => {
  const { rows } = await sql<DetailRow>`
    select w.message, w.error, w.review_reason, ${openReview('work_item', sql`w.id`)} as open_review, w.pending_approvals, w.callbacks, w.conversation_id, w.trace_id,
      ${shown('payload')} as payload, ${shown('result')} as result
    from work_items w where w.id = ${id}`.execute(executor);
  return rows[0];
};
