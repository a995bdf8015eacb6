import type { z } from 'zod';
import type { Executor } from '../../database/index.ts';
import { positionCursor, readPosition, sortedPage } from '../../http/index.ts';
import { type WorkItemOutcome, workItemCalls } from '../../work-items/index.ts';
import type { Kind } from '../settings.ts';
import type { TriggerRow } from '../store.ts';
import type { entry, eventsQuery } from './schemas.ts';
import { type LedgerRow, listEvents } from './store.ts';
import { toVersions, versionsBetween } from './versions.ts';

export type Entry = z.input<typeof entry>;

const longestError = 200;

const itemOf = ({ by: _, error, ...item }: WorkItemOutcome): Entry['work_item'] => ({
  ...item,
  error: error && { ...error, message: error.message.slice(0, longestError) },
});

/** Adds to entries what became of their Work Items. Keeps their order. */
export const toEntries = async (
  executor: Executor,
  rows: readonly (LedgerRow & { kind: Kind })[],
): Promise<Entry[]> => {
  const ids = rows.flatMap(({ work_item_id }) => work_item_id ?? []);
  const found = ids.length === 0 ? [] : await workItemCalls.findOutcomes(executor, ids);
  const items = new Map(found.map((item) => [item.id, item]));
  return rows.map(({ kind, trigger_id: _, position: __, principal, ...row }) => {
    const item = row.work_item_id === null ? undefined : items.get(row.work_item_id);
    return { ...row, source: kind, work_item: item ? itemOf(item) : null, by: principal?.name ?? null };
  });
};

const dateOf = (time: number | undefined): Date | null => (time === undefined ? null : new Date(time));

/** The most changes in one page. */
const mostChanges = 100;

/** Returns a page of the ledger of a trigger, with the versions that began between its entries. */
export const pageOfEvents = async (
  executor: Executor,
  { id, kind }: TriggerRow,
  query: z.output<typeof eventsQuery>,
) => {
  const { limit, next, outcome = null, q = null } = query;
  const [at, after] = readPosition(next, 'at', ['time', 'id']) ?? [];
  const [from, to] = [dateOf(query.from), dateOf(query.to)];
  const before = after === undefined ? null : { at: new Date(at ?? 0), id: after };
  const rows = await listEvents(executor, id, { outcome, from, to, q }, { limit: limit + 1, before });
  const page = sortedPage(
    rows,
    limit,
    (row) => positionCursor('at', [row.at.getTime(), row.id]),
    (row) => ({ ...row, kind }),
  );
  const changes = await versionsBetween(executor, id, {
    from: page.has_more ? page.data.at(-1)!.at : from,
    to: before?.at ?? to,
    limit: mostChanges,
  });
  return { ...page, data: await toEntries(executor, page.data), changes: toVersions(changes) };
};
