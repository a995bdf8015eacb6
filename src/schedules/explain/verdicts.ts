import { describeCron } from '@agent-platform/cron';
import { sentence } from '../../lib/prose.ts';
import { type LocalClock, lengthOf } from '../../lib/times.ts';
import type { Scheduling } from '../../replicas/index.ts';
import type { DefinitionVersion, HistoryRow } from '../definition-store.ts';
import type { LedgerEntry } from './ledger.ts';
import { because, changer, pausedSentence, whyOverdue } from './sentences.ts';

export const verdicts = [
  'fired',
  'caught_up',
  'skipped',
  'due',
  'missing',
  'upcoming',
  'not_nominal',
  'changed',
  'paused',
  'blocked',
  'before_records',
] as const;
export type Verdict = (typeof verdicts)[number];

/** `“At 02:30, Monday through Friday” (30 2 * * 1-5)`. */
const shownTimes = ({ cron_expression, timezone }: DefinitionVersion, clock: LocalClock): string => {
  const zone = timezone === clock.name ? '' : `, ${timezone}`;
  try {
    return `“${describeCron(cron_expression)}” (${cron_expression}${zone})`;
  } catch {
    return `${cron_expression}${zone}`;
  }
};

const itemSentence = ({ work_item_id, work_item: item }: LedgerEntry): string | null => {
  if (work_item_id === null) return null;
  if (!item) return 'Its Work Item is no longer kept.';
  switch (item.status) {
    case 'COMPLETED':
      return `Its Work Item was completed${item.duration_ms === null ? '' : ` in ${lengthOf(item.duration_ms)}`}.`;
    case 'ERROR':
      return `Its Work Item failed${item.error ? `: ${sentence(item.error.message)}` : '.'}`;
    case 'CANCELLED':
      return 'Its Work Item was cancelled.';
    case 'NEEDS_REVIEW':
      return 'Its Work Item waits for a person.';
    case 'INDETERMINATE':
      return 'It is not known whether its Work Item was carried out.';
    case 'EXECUTING':
      return 'Its Work Item is executing.';
    default:
      return 'Its Work Item waits to be executed.';
  }
};

const dueAt = (at: number, clock: LocalClock): string => `Due at ${clock.moment(at)} (${clock.name}).`;

const join = (...sentences: (string | null)[]): string =>
  sentences.filter((one) => one !== null && one !== '').join(' ');

export const recordedText = (due: number, entry: LedgerEntry, clock: LocalClock): string => {
  if (entry.status === 'on_time') return join(dueAt(due, clock), 'It fired on time.', itemSentence(entry));
  const lead = entry.outcome === 'skipped' ? 'It did not fire.' : null;
  return join(dueAt(due, clock), lead, entry.reason, itemSentence(entry));
};

export const overdueText = (due: number, scheduling: Scheduling, clock: LocalClock): string =>
  join(dueAt(due, clock), 'It has not fired yet.', whyOverdue(scheduling, new Date(due), clock));

export const missingText = (due: number, clock: LocalClock): string =>
  join(dueAt(due, clock), 'It did not become a Work Item, and nothing was recorded of it.');

export const upcomingText = (due: number, now: number, clock: LocalClock): string =>
  `Due at ${clock.moment(due)} (${clock.name}), in ${lengthOf(due - now)}.`;

/** `by`: what the schedule cannot fire from, and since when; null if nothing records it. */
export const blockedText = (by: { at: Date; reason: string } | null, clock: LocalClock): string =>
  by
    ? `The schedule has not been able to fire since ${clock.moment(by.at.getTime())}. ${sentence(by.reason)} It runs again after its definition has been changed.`
    : 'The schedule cannot fire: no next time can be computed. It runs again after its definition has been changed.';

/** `wouldBeDue`: whether its expression matches a moment, which `isComing` or not. `resumed`: the change that ended the pause. */
export const pausedText = (
  pause: HistoryRow | undefined,
  resumed: HistoryRow | undefined,
  { wouldBeDue, isComing }: { wouldBeDue: boolean; isComing: boolean },
  clock: LocalClock,
): string =>
  join(
    pausedSentence(pause, clock),
    resumed
      ? `It was resumed by ${changer(resumed)} on ${clock.moment(resumed.from_at.getTime())}.`
      : 'It still is.',
    wouldBeDue
      ? `Otherwise it would ${isComing ? 'be' : 'have been'} due then.`
      : `It would not ${isComing ? 'be' : 'have been'} due then anyway.`,
  );

/** `matching`: the other version that matches, `change`: what lies between the two. */
export const changedText = (
  at: number,
  { inForce, matching, change }: Record<'inForce' | 'matching' | 'change', HistoryRow>,
  clock: LocalClock,
): string => {
  const when = clock.moment(change.from_at.getTime());
  const to = `${changer(change)} changed it to ${shownTimes(change, clock)}`;
  const lead = `It was not due at ${clock.moment(at)} (${clock.name}).`;
  return matching.revision > inForce.revision
    ? `${lead} The schedule ran ${shownTimes(inForce, clock)} until ${to} on ${when}.`
    : `${lead} The schedule ran ${shownTimes(matching, clock)} until ${to} on ${when}, before that time.`;
};

/** `shown`: the moment, which `isComing` or not; `nearest`: the times next to it, each with what became of it. */
export const notNominalText = (
  { shown, isComing }: { shown: string; isComing: boolean },
  inForce: DefinitionVersion,
  nearest: readonly string[],
  clock: LocalClock,
): string => {
  const lead = `It ${isComing ? 'is' : 'was'} not due at ${shown} (${clock.name}).`;
  const runs = `The schedule ${isComing ? 'runs' : 'ran'} ${shownTimes(inForce, clock)}.`;
  const [one, other] = nearest;
  if (!one) return join(lead, runs);
  return join(lead, runs, other ? `The nearest are ${one}, and ${other}.` : `The nearest is ${one}.`);
};

/** `created`: how the schedule came to be, if that is recorded and was later. */
export const beforeRecordsText = (
  at: number,
  knownFrom: number,
  created: HistoryRow | null,
  clock: LocalClock,
): string =>
  created
    ? `The schedule did not exist at ${clock.moment(at)} (${clock.name}): it was created by ${changer(created)} on ${clock.moment(created.from_at.getTime())}.`
    : `What happened at ${clock.moment(at)} (${clock.name}) is not known: the records begin on ${clock.moment(knownFrom)}.`;

const outcomesInWords: Record<string, string> = {
  on_time: 'which fired on time',
  late: 'which fired late',
  caught_up: 'which was caught up',
  skipped: 'which was skipped',
  due: 'which has not fired yet',
  missing: 'of which nothing was recorded',
};

/** `Fri 20 Nov 02:30, which was caught up`. */
export const nearestText = (at: number, status: string | null, clock: LocalClock): string => {
  const what = status === null ? undefined : outcomesInWords[status];
  return `${clock.moment(at)}${what ? `, ${what}` : ''}`;
};

const fieldNames: Record<string, string> = {
  cron_expression: 'the times',
  timezone: 'the time zone',
  catch_up: 'catch up',
  overlap: 'what happens if a Work Item is still running',
  work_item_name: 'the name',
  message: 'the message',
  payload: 'the payload',
  metadata: 'the metadata',
};

const listInWords = (words: readonly string[]): string =>
  words.length < 2 ? words.join('') : `${words.slice(0, -1).join(', ')} and ${words.at(-1)}`;

/** Returns the change that a version of the definition made to the one before, in words. */
export const historyText = (row: HistoryRow, before: HistoryRow | undefined, clock: LocalClock): string => {
  const by = changer(row);
  if (row.action === 'create') return `Created by ${by}: ${shownTimes(row, clock)}.`;
  if (row.action === 'pause') return `Paused by ${by}${because(row.reason)}`;
  if (row.action === 'resume') return `Resumed by ${by}${because(row.reason)}`;
  if (!before) return `It runs ${shownTimes(row, clock)}.`;
  const timesChanged = before.cron_expression !== row.cron_expression || before.timezone !== row.timezone;
  const changes: string[] = [];
  if (timesChanged) changes.push(`the times from ${shownTimes(before, clock)} to ${shownTimes(row, clock)}`);
  const others = (row.changed ?? []).filter((field) => !['cron_expression', 'timezone'].includes(field));
  changes.push(...others.map((field) => fieldNames[field] ?? field));
  // A release that recorded no more than the times.
  if (changes.length === 0)
    return row.enabled === before.enabled ? `Changed by ${by}.` : row.enabled ? 'Resumed.' : 'Paused.';
  return `${by === 'someone' ? 'Someone' : by} changed ${listInWords(changes)}.`;
};
