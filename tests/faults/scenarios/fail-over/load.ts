import { randomUUID } from 'node:crypto';
import { int } from '../../../../packages/cron/tests/random.ts';
import type { Client } from '../../../harness/http.ts';
import { until } from '../../../harness/wait.ts';
import type { Fixture, Rows } from '../fixture.ts';

// biome-ignore lint/suspicious/noExplicitAny: JSON, read field by field
export type Json = any;

/** One kind of work that goes on through every fail-over, and what must be true of it at the end. */
export interface Load {
  /** Begins nothing more, and resolves when everything that was begun is acknowledged. */
  stop(): Promise<void>;
  /** Waits until everything has ended, and resolves to what is wrong. */
  problems(rows: Rows): Promise<string[]>;
  /** For the report. */
  figures(): Record<string, unknown>;
  /** Ends what it started beside the platform. */
  [Symbol.asyncDispose](): PromiseLike<void>;
}

/** Starts a kind of load on running replicas. */
export type StartLoad = (fixture: Fixture) => Promise<Load>;

export const brief = () => ({ signal: AbortSignal.timeout(5_000) });

export const anyReplica = (fixture: Fixture): number => int(Math.random, 0, fixture.replicas.length - 1);

/** Repeats a request under one Idempotency-Key, through each replica in turn, until it succeeds. */
export const persist = async (
  fixture: Fixture,
  request: (api: Client, headers: Record<string, string>) => Promise<{ status: number; body: Json }>,
): Promise<Json> => {
  const headers = { 'idempotency-key': randomUUID() };
  let n = anyReplica(fixture);
  return until(
    async () => {
      const { status, body } = await request(fixture.api(n++ % fixture.replicas.length), headers);
      if (status >= 400 && status < 500 && status !== 409 && status !== 429)
        return { refused: `${status} ${JSON.stringify(body)}` };
      return status < 300 && body;
    },
    120_000,
    50,
  );
};

/** Waits until Work Items have ended, and adds up their statuses. Those that do not count as stuck. */
export const ended = async (rows: Rows, where: string): Promise<Record<string, number>> => {
  const open = `select status, count(*)::int as n from work_items where ${where} group by 1`;
  let last: { status: string; n: number }[] = [];
  await until(
    async () => {
      last = await rows(open);
      return last.every(({ status }) =>
        ['COMPLETED', 'ERROR', 'CANCELLED', 'INDETERMINATE'].includes(status),
      );
    },
    90_000,
    100,
  ).catch(() => {});
  return Object.fromEntries(last.map(({ status, n }) => [status, n]));
};
