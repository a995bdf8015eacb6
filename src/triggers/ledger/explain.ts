import type { z } from 'zod';
import { databaseNow, type Executor } from '../../database/index.ts';
import { isId } from '../../lib/ids.ts';
import { findVersionAt, listVersions } from '../definition-store.ts';
import type { TriggerRow } from '../store.ts';
import { blockedReason, type Reading } from '../view.ts';
import { type Entry, toEntries } from './entries.ts';
import type { explanation } from './schemas.ts';
import { type Count, findEvent, findNamed, type LedgerRow, sumCounts } from './store.ts';
import { toVersions } from './versions.ts';

type Explanation = z.input<typeof explanation>;

const minute = 60_000;
const day = 86_400_000;

/** A time in UTC: without its date on the day of `now`. */
const clock = (at: Date, now: number): string => {
  const text = at.toISOString();
  const time = text.slice(11, 19);
  return text.slice(0, 10) === new Date(now).toISOString().slice(0, 10)
    ? time
    : `${text.slice(0, 10)} ${time}`;
};

/** Counts as the API shows them: by outcome, those of refused requests summed. */
export const flatCounts = (rows: readonly Count[]): Record<string, number> => {
  const flat: Record<string, number> = {};
  for (const { outcome, count } of rows) flat[outcome] = (flat[outcome] ?? 0) + count;
  return flat;
};

export const refusalWords: Record<string, string> = {
  missing: 'no signature',
  wrong: 'a wrong signature',
  stale: 'a stale timestamp',
  unsigned: 'unsigned webhooks not allowed',
  too_large: 'too large',
  batch: 'a batch',
};

const refusalsIn = (rows: readonly Count[]): string | null => {
  const refused = rows.filter(({ outcome }) => outcome === 'refused');
  const total = refused.reduce((sum, { count }) => sum + count, 0);
  if (total === 0) return null;
  const reasons = refused.map(({ reason, count }) => `${count} ${refusalWords[reason] ?? reason}`).join(', ');
  return `${total} ${total === 1 ? 'request was' : 'requests were'} refused (${reasons})`;
};

const outcomesIn = (rows: readonly Count[]): string => {
  const events = rows.filter(({ outcome }) => outcome !== 'refused' && outcome !== 'repeated');
  if (events.length === 0) return 'no event came';
  return events.map(({ outcome, count }) => `${count} ${outcome}`).join(', ');
};

const outcomeSentence = ({ outcome, reason, starts_at, by }: Entry, now: number): string => {
  if (reason !== null) return reason;
  if (outcome === 'manual') return `${by ?? 'Somebody'} redelivered it, and it started a Work Item.`;
  if (outcome === 'pending') return 'It waits to be judged.';
  return starts_at === null
    ? 'It started a Work Item.'
    : `It started a Work Item, which waits for its turn until ${clock(new Date(starts_at), now)}.`;
};

const eventText = (found: Entry, now: number): string => {
  const { at, deliveries, last_delivery_at: last, differing } = found;
  const times = deliveries === 1 ? '' : ` (${deliveries} times, last ${clock(new Date(last), now)})`;
  const others = differing === 0 ? '' : ` ${differing} of them had another body.`;
  return `Received ${clock(new Date(at), now)}${times}.${others} ${outcomeSentence(found, now)}`;
};

/** What kept events away at present. */
const obstacles = (
  row: TriggerRow,
  { allowUnsigned, reading }: { allowUnsigned: boolean; reading: Reading | null },
): string[] => {
  const found: string[] = [];
  if (!row.enabled) found.push('The trigger is paused.');
  const blocked = blockedReason(row, allowUnsigned);
  if (blocked !== null) found.push(`It is blocked: ${blocked}`);
  if (reading?.lag) found.push(`${reading.lag} messages of the broker are unread.`);
  return found;
};

export interface ExplainContext {
  allowUnsigned: boolean;
  /** How its broker is read; null for other kinds. */
  reading: Reading | null;
}

const findByName = async (executor: Executor, id: string, name: string): Promise<LedgerRow | undefined> =>
  (isId(name) ? await findEvent(executor, id, name) : undefined) ?? (await findNamed(executor, id, name));

/** Says what became of an event, by the sender's name for it, the id of its entry, or its place in a stream. */
export const explainEvent = async (
  executor: Executor,
  row: TriggerRow,
  name: string,
  context: ExplainContext,
): Promise<Explanation> => {
  const now = await databaseNow(executor);
  const counts = await sumCounts(executor, [row.id], new Date(now - day), new Date(now + minute));
  const found = await findByName(executor, row.id, name);
  if (!found) {
    const refused = refusalsIn(counts);
    const text = [
      `No event “${name.slice(0, 200).toWellFormed()}” was received.`,
      ...(refused === null ? [] : [`In the last 24 hours ${refused}.`]),
      ...obstacles(row, context),
    ].join(' ');
    const definition =
      toVersions(await listVersions(executor, row.id, { limit: 1, before: null }))[0] ?? null;
    return {
      verdict: 'not_received',
      text,
      occurrence: null,
      work_item: null,
      definition,
      counts: flatCounts(counts),
    };
  }
  const { at, revision } = found;
  const around = await sumCounts(
    executor,
    [row.id],
    new Date(Math.floor(at.getTime() / minute) * minute),
    new Date(Math.floor(at.getTime() / minute) * minute + minute),
  );
  const [occurrence] = await toEntries(executor, [{ ...found, kind: row.kind }]);
  const versions = await listVersions(executor, row.id, { limit: 1, before: revision + 1 });
  return {
    verdict: found.outcome,
    text: eventText(occurrence!, now),
    occurrence: occurrence!,
    work_item: occurrence!.work_item,
    definition: toVersions(versions)[0] ?? null,
    counts: flatCounts(around),
  };
};

/** Says what came in the minute around a time. */
export const explainMoment = async (
  executor: Executor,
  row: TriggerRow,
  at: number,
  context: ExplainContext,
): Promise<Explanation> => {
  const now = await databaseNow(executor);
  const from = new Date(Math.floor(at / minute) * minute);
  const to = new Date(from.getTime() + minute);
  const counts = await sumCounts(executor, [row.id], from, to);
  const version = await findVersionAt(executor, row.id, to);
  const refused = refusalsIn(counts);
  const repeated = counts.find(({ outcome }) => outcome === 'repeated')?.count ?? 0;
  const began = version ?? (await listVersions(executor, row.id, { limit: 1, before: null }))[0];
  const sentences = [
    `From ${clock(from, now)} to ${clock(to, now)}: ${outcomesIn(counts)}${repeated > 0 ? `, and ${repeated} repeated` : ''}.`,
    ...(refused === null ? [] : [`${refused[0]!.toUpperCase()}${refused.slice(1)}.`]),
    ...(version === undefined && row.created_at > to ? ['The trigger did not exist.'] : []),
    ...(version && !version.enabled ? ['The trigger was paused.'] : []),
    ...(now - at < 5 * minute ? obstacles(row.enabled ? row : { ...row, enabled: true }, context) : []),
  ];
  return {
    verdict: 'moment',
    text: sentences.join(' '),
    occurrence: null,
    work_item: null,
    definition: began ? toVersions([began])[0]! : null,
    counts: flatCounts(counts),
  };
};
