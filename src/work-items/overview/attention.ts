import type { Executor } from '../../database/index.ts';
import { type Attention, linesOf, mostLines } from '../../lib/attention.ts';
import { counted, isolate, quotedEnd, sentence } from '../../lib/prose.ts';
import { LocalClock, lengthOf } from '../../lib/times.ts';
import {
  type ErrorRow,
  listErrors,
  listPending,
  listWaiting,
  mostCounted,
  type PendingRow,
  pendingMinutes,
  type WaitingRow,
} from './attention-store.ts';

const items = (n: number): string => counted(n, 'Work Item', mostCounted);
const agentOf = (id: string, name: string | null) =>
  name === null ? null : { type: 'agent' as const, id, name };

const errorLine = (row: ErrorRow, from: Date, now: number): Attention => {
  const clock = new LocalClock('UTC', now);
  const what = row.message ?? row.code ?? 'no one recorded why';
  const one = row.agents === 1 ? agentOf(row.agent_id, row.agent_name) : null;
  const times = row.count === 1 ? 'failed' : `failed ${counted(row.count, 'time', mostCounted)}`;
  return {
    kind: 'work_items_error',
    severity: 'error',
    count: row.count,
    since: row.since,
    subject: one,
    title: one
      ? `${isolate(one.name)} ${times}`
      : `${items(row.count)} of ${counted(row.agents, 'agent')} failed`,
    detail: `${isolate(sentence(what.slice(0, 200)))} The last one failed at ${clock.near(row.last.getTime(), now)} (UTC).`,
    filter: {
      status: 'ERROR',
      ...(row.code === null ? {} : { error_code: row.code }),
      ...(one ? { agent_id: one.id } : {}),
      finished_from: from.toISOString(),
    },
  };
};

const waitingLine = ({ status, count, since, id, name, question }: WaitingRow, now: number): Attention => {
  const subject = { type: 'work_item' as const, id, name };
  const asked = question ? `: ${quotedEnd(question)}` : '.';
  const waited = lengthOf(Math.max(0, now - since.getTime()));
  const oldest = `The oldest is ${isolate(name)}, which has waited ${waited}${asked}`;
  return status === 'NEEDS_REVIEW'
    ? {
        kind: 'reviews_waiting',
        severity: 'warning',
        count,
        since,
        subject,
        title: `${items(count)} ${count === 1 ? 'waits' : 'wait'} for a person`,
        detail: oldest,
        filter: { status },
      }
    : {
        kind: 'work_items_indeterminate',
        severity: 'error',
        count,
        since,
        subject,
        title: `It is not known whether ${items(count)} ${count === 1 ? 'was' : 'were'} carried out`,
        detail: `${oldest} A person has to look at what the last tool call did.`,
        filter: { status },
      };
};

export interface WorkerFacts {
  alive: boolean;
  executing: number;
  /** Number of Work Items that all replicas execute at once. */
  slots: number;
}

const whyPending = (row: PendingRow, workers: WorkerFacts, now: number): string => {
  const clock = new LocalClock('UTC', now);
  if (row.agent_name === null) return 'Their agent does not exist any more.';
  if (row.retries === row.count && row.retry_at) {
    const waited = row.budget_waits === row.count ? 'the next period of their budget' : 'their next attempt';
    return `They wait for ${waited}, the first until ${clock.near(row.retry_at.getTime(), now)} (UTC).`;
  }
  if (row.max_concurrency <= row.executing) {
    return `All ${row.max_concurrency} slots of the agent are in use.`;
  }
  if (row.external) return 'No external worker has claimed them.';
  if (!workers.alive) return 'No replica executes Work Items.';
  if (workers.executing >= workers.slots) return `All ${workers.slots} slots of the replicas are in use.`;
  return 'Workers have room for them, so look at the log of the replicas.';
};

const pendingLines = (rows: readonly PendingRow[], workers: WorkerFacts, now: number): Attention[] => {
  const lineOf = (row: PendingRow): Attention => {
    const subject = agentOf(row.agent_id, row.agent_name);
    return {
      kind: 'work_items_pending',
      severity: 'warning',
      count: row.count,
      since: row.since,
      subject,
      title: `${items(row.count)} of ${isolate(row.agent_name ?? 'a deleted agent')} ${row.count === 1 ? 'has' : 'have'} been pending for more than ${pendingMinutes} min`,
      detail: whyPending(row, workers, now),
      filter: { status: 'PENDING', agent_id: row.agent_id },
    };
  };
  const count = rows.reduce((sum, row) => sum + row.count, 0);
  return linesOf(rows, lineOf, ({ agent_name }, { detail }) => ({
    count,
    since: new Date(Math.min(...rows.map((row) => row.since.getTime()))),
    title: `${items(count)} of more than ${mostLines} agents have been pending for more than ${pendingMinutes} min`,
    detail: `Most are of ${isolate(agent_name ?? 'a deleted agent')}. ${detail}`,
    filter: { status: 'PENDING' },
  }));
};

/** Work Items that failed since `from`, that no worker takes, and that wait for a person. */
export const workItemAttention = async (
  executor: Executor,
  workers: WorkerFacts,
  from: Date,
  now: number,
): Promise<Attention[]> => [
  ...(await listErrors(executor, from)).map((row) => errorLine(row, from, now)),
  ...(await listWaiting(executor)).map((row) => waitingLine(row, now)),
  ...pendingLines(await listPending(executor), workers, now),
];
