import { setTimeout as sleep } from 'node:timers/promises';
import type { Client } from '../../tests/harness/http.ts';
import type { Postgres } from '../../tests/harness/postgres.ts';
import type { PlatformProcess } from '../../tests/harness/process.ts';
import { percentile } from '../console/client.ts';

export interface Rig {
  api: Client;
  platform: PlatformProcess;
  postgres: Postgres;
}

/** A line of the table. */
export interface Figure {
  what: string;
  goal: string;
  here: string;
  /** The bare library on the same data, in this run. */
  bare: string;
}

export const ms = (value: number): string => `${value.toFixed(value < 10 ? 2 : 0)} ms`;

/** Milliseconds that `fn` takes, the median of `times`, `pauseMs` apart, after one call that is not counted. */
export const medianMs = async (times: number, fn: () => unknown, pauseMs = 0): Promise<number> => {
  await fn();
  const took: number[] = [];
  for (let i = 0; i < times; i++) {
    if (pauseMs > 0) await sleep(pauseMs);
    const begun = performance.now();
    await fn();
    took.push(performance.now() - begun);
  }
  return percentile(took, 0.5);
};

/** The body of a response that must have succeeded. */
export const body = async (response: ReturnType<Client['get']>) => {
  const { status, body, text } = await response;
  if (status >= 300) throw new Error(`${status} ${text}`);
  return body;
};

/** Runs `fn`. Returns the longest and the 99th percentile of the waits of another client, which asks every 5 ms while it runs. */
export const waitsDuring = async ({ api }: Rig, fn: () => Promise<unknown>) => {
  const took: number[] = [];
  let done = false;
  const other = (async () => {
    while (!done) {
      const begun = performance.now();
      await body(api.get('/agents?limit=1'));
      took.push(performance.now() - begun);
      await sleep(5);
    }
  })();
  await fn().finally(() => {
    done = true;
  });
  await other;
  return { p99: percentile(took, 0.99), longest: Math.max(...took) };
};

/** The line about the other requests that wait while it runs. */
export const waitFigure = (what: string, { p99, longest }: { p99: number; longest: number }): Figure => ({
  what: `another request at the same time (${what})`,
  goal: '100 ms',
  here: `longest ${ms(longest)}, p99 ${ms(p99)}`,
  bare: '',
});
