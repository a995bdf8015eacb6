import { compileSchedule } from '@agent-platform/cron';
import { audit } from '../audit/index.ts';
import type { Executor, Tx } from '../database/index.ts';
import { ApiError, messageOf, unprocessable } from '../lib/errors.ts';
import { isId } from '../lib/ids.ts';
import type { Actor } from '../lib/principal.ts';
import type { ScheduleFilter } from './filter.ts';
import { pauseSchedules, resumeSchedules } from './pauses.ts';
import {
  deleteScheduleRows,
  findLockedTimes,
  findMatchingIds,
  findTimes,
  type ScheduleTimes,
} from './store.ts';

export const scheduleActions = ['pause', 'resume', 'delete'] as const;
type ScheduleAction = (typeof scheduleActions)[number];

/** One transaction changes no more, so that firing does not wait for it. */
export const mostSchedules = 10_000;
/** The audit entry names as many, and counts all. */
const mostAudited = 1_000;

export interface BulkAction {
  action: ScheduleAction;
  /** Either of the two. */
  ids: readonly string[] | null;
  filter: ScheduleFilter | null;
  /** Number of schedules that its caller has seen to match; null: any number. */
  expectedCount: number | null;
  reason: string | null;
}

interface Refused {
  id: string;
  reason: string;
}

export interface BulkResult {
  /** Number of the schedules that exist and match. */
  matched: number;
  would_change: number;
  refused: Refused[];
}

/** Returns the reason why the action would change nothing of a schedule, or cannot be done; null if it can. */
const refusalOf = (action: ScheduleAction, row: ScheduleTimes): string | null => {
  if (action === 'pause') return row.enabled ? null : 'It is paused already.';
  if (action === 'delete') return null;
  if (row.enabled) return 'It is not paused.';
  try {
    compileSchedule(row.cron_expression, row.timezone);
    return null;
  } catch (error) {
    return messageOf(error);
  }
};

const idsOf = async (executor: Executor, { ids, filter }: BulkAction): Promise<readonly string[]> => {
  if (ids) return [...new Set(ids)];
  const found = await findMatchingIds(executor, filter ?? {}, mostSchedules + 1);
  if (found.length <= mostSchedules) return found;
  const message = `matches more than ${mostSchedules.toLocaleString('en')} schedules: narrow it`;
  throw unprocessable([{ path: 'filter', message }]);
};

interface Plan extends BulkResult {
  changing: ScheduleTimes[];
}

/** Says what the action would do to the schedules that `find` returns. Throws 412 if others match than were expected. */
const planAction = async (
  executor: Executor,
  bulk: BulkAction,
  find: (ids: readonly string[]) => Promise<ScheduleTimes[]>,
): Promise<Plan> => {
  const ids = await idsOf(executor, bulk);
  const rows = await find(ids.filter(isId));
  const matched = rows.length;
  const { expectedCount } = bulk;
  if (expectedCount !== null && matched !== expectedCount) {
    throw new ApiError(
      'precondition_failed',
      `${matched} schedules match, and ${expectedCount} were expected. Look at them again, then repeat the action.`,
      { matched },
    );
  }
  const found = new Set(rows.map(({ id }) => id));
  const refused: Refused[] = ids
    .filter((id) => !found.has(id.toLowerCase()))
    .map((id) => ({ id, reason: 'The schedule does not exist.' }));
  const changing: ScheduleTimes[] = [];
  for (const row of rows) {
    const reason = refusalOf(bulk.action, row);
    if (reason === null) changing.push(row);
    else refused.push({ id: row.id, reason });
  }
  return { matched, would_change: changing.length, refused, changing };
};

/** Says what the action would do, and does nothing. */
export const tryAction = async (executor: Executor, bulk: BulkAction): Promise<BulkResult> => {
  const { changing: _, ...result } = await planAction(executor, bulk, (ids) => findTimes(executor, ids));
  return result;
};

/** Does the action to each schedule that allows it, and audits it once. */
export const actOnSchedules = async (tx: Tx, actor: Actor, bulk: BulkAction): Promise<BulkResult> => {
  const { action, filter, reason } = bulk;
  const { changing, ...result } = await planAction(tx, bulk, (ids) => findLockedTimes(tx, ids));
  if (changing.length === 0) return result;
  const ids = changing.map(({ id }) => id);
  if (action === 'pause') await pauseSchedules(tx, actor, changing, reason);
  if (action === 'resume') await resumeSchedules(tx, actor, changing, reason);
  if (action === 'delete') await deleteScheduleRows(tx, ids);
  await audit(tx, actor, `schedule.${action}`, null, {
    count: ids.length,
    refused: result.refused.length,
    ids: ids.slice(0, mostAudited),
    ...(filter && { filter }),
    ...(reason !== null && { reason }),
  });
  return result;
};
