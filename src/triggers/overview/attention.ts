import type { Executor } from '../../database/index.ts';
import { type Attention, linesOf } from '../../lib/attention.ts';
import { counted, isolate, sentence } from '../../lib/prose.ts';
import { refusalWords } from '../ledger/explain.ts';
import {
  type AttentionTrigger,
  type BehindTrigger,
  type BlockedTrigger,
  countFaultsOfHour,
  type HourCount,
  listBehind,
  listBlocked,
} from './store.ts';

/** Triggers that need attention: those that receive nothing, are behind, or receive much that starts nothing. */

/** Unread messages are expected for a moment: a line begins after so many seconds. */
const behindAfterSeconds = 60;
/** So many invalid events, or refused requests, in an hour are no accident. */
const invalidFrom = 10;
const refusedFrom = 100;

const subjectOf = ({ id, name }: AttentionTrigger) => ({ type: 'trigger' as const, id, name });
const nameOf = ({ name, agent_name }: AttentionTrigger): string =>
  `The trigger ${isolate(name)} of ${isolate(agent_name)}`;
const oldest = (dates: readonly Date[]): Date => new Date(Math.min(...dates.map((at) => at.getTime())));

const blockedLines = (rows: readonly BlockedTrigger[]): Attention[] =>
  linesOf(
    rows,
    (row) => ({
      kind: 'trigger_blocked',
      severity: 'error',
      count: 1,
      since: null,
      subject: subjectOf(row),
      title: `${nameOf(row)} receives nothing`,
      detail: sentence(row.reason),
      filter: {},
    }),
    (first, { detail }) => ({
      count: rows.length,
      title: `${rows.length} triggers receive nothing`,
      detail: `One is ${isolate(first.name)} of ${isolate(first.agent_name)}. ${detail}`,
      filter: { state: 'blocked' },
    }),
  );

const behindLines = (rows: readonly BehindTrigger[]): Attention[] =>
  linesOf(
    rows,
    (row) => ({
      kind: 'trigger_behind',
      severity: 'warning',
      count: row.unread,
      since: row.since,
      subject: subjectOf(row),
      title: `${nameOf(row)} has ${counted(row.unread, 'unread message')}`,
      detail: row.last_error
        ? sentence(row.last_error)
        : 'They come faster than they are stored, or it reads what gathered while nothing was read. The broker keeps them.',
      filter: {},
    }),
    (first) => ({
      count: rows.length,
      title: `${rows.length} triggers have many unread messages`,
      detail: `The first to fall behind was ${isolate(first.name)} of ${isolate(first.agent_name)}.`,
    }),
  );

/** One line for the counts of an hour, if they are many; of one trigger or of several. */
const hourLine = (
  rows: readonly HourCount[],
  from: number,
  line: (total: number, of: string) => Pick<Attention, 'kind' | 'title' | 'detail' | 'filter'>,
): Attention[] => {
  const total = rows.reduce((sum, { n }) => sum + n, 0);
  const [first] = rows;
  if (!first || total < from) return [];
  const triggers = new Set(rows.map(({ id }) => id)).size;
  const of =
    triggers === 1
      ? `the trigger ${isolate(first.name)} of ${isolate(first.agent_name)}`
      : counted(triggers, 'trigger');
  return [
    {
      severity: 'warning',
      count: total,
      since: oldest(rows.map(({ since }) => since)),
      subject: triggers === 1 ? subjectOf(first) : null,
      ...line(total, of),
    },
  ];
};

const reasonsOf = (rows: readonly HourCount[]): string =>
  [...Map.groupBy(rows, ({ reason }) => reason)]
    .map(([reason, some]) => {
      const n = some.reduce((sum, one) => sum + one.n, 0);
      return `${n.toLocaleString('en')} ${refusalWords[reason] ?? reason}`;
    })
    .join(', ');

/** The lines of the Overview on triggers. */
export const triggerAttention = async (executor: Executor, allowUnsigned: boolean): Promise<Attention[]> => {
  const faults = await countFaultsOfHour(executor);
  const invalid = faults.filter(({ outcome }) => outcome === 'invalid');
  const refused = faults.filter(({ outcome }) => outcome === 'refused');
  return [
    ...blockedLines(await listBlocked(executor, allowUnsigned)),
    ...behindLines(await listBehind(executor, behindAfterSeconds)),
    ...hourLine(invalid, invalidFrom, (total, of) => ({
      kind: 'events_invalid',
      title: `${counted(total, 'event')} of ${of} were invalid in the last hour`,
      detail:
        'They started no Work Item: the body could not be read, or the mapping or the key failed. Fix the trigger, then redeliver them.',
      filter: { outcome: 'invalid' },
    })),
    ...hourLine(refused, refusedFrom, (total, of) => ({
      kind: 'webhooks_refused',
      title: `${counted(total, 'request')} to ${of} were refused in the last hour`,
      detail: `Why: ${reasonsOf(refused)}. A sender may have another secret, or someone tries to get in.`,
      filter: {},
    })),
  ];
};
