import { setTimeout as sleep } from 'node:timers/promises';
import { until } from '../../harness/wait.ts';
import { nothingDue } from './due.ts';
import { Fixture, must } from './fixture.ts';
import { verifyWithProduct } from './product-verifier.ts';
import { makeSchedules } from './test-schedules.ts';
import type { Verification } from './verifier.ts';

const minute = 60_000;

export interface RestartReport {
  restarts: number;
  /** Numbers of responses by status. */
  statuses: Record<number, number>;
  /** The slowest response, in milliseconds. */
  slowestMs: number;
  /** From the database's return to the first 200 of /readyz, and to a firing that a notification caused. */
  readyMs: number[];
  heardMs: number[];
  problems: string[];
  verification: Verification;
}

/** PostgreSQL goes away under load, cleanly or by a crash, and comes back. The platform is not touched. */
export const runDatabaseRestarts = async (signals: readonly NodeJS.Signals[]): Promise<RestartReport> => {
  await using fixture = await Fixture.open('postgres');
  const postgres = fixture.postgres!;
  await fixture.start(0, { env: { ROLES: 'api,scheduler,delivery' } });
  const process = fixture.replicas[0]!.process!;
  const api = fixture.api();
  const schedules = await makeSchedules(api, 20);
  const report = { statuses: {} as Record<number, number>, slowestMs: 0, problems: [] as string[] };
  let stopped = false;
  const load = (ask: () => Promise<{ status: number; text: string }>) => async (): Promise<void> => {
    while (!stopped) {
      const begun = Date.now();
      try {
        const { status, text } = await ask();
        report.statuses[status] = (report.statuses[status] ?? 0) + 1;
        if (status !== 200 && status !== 503) report.problems.push(`${status} ${text}`);
      } catch (error) {
        report.problems.push(`no response: ${String(error)}`);
      }
      report.slowestMs = Math.max(report.slowestMs, Date.now() - begun);
      await sleep(5);
    }
  };
  let n = 0;
  const agentId = schedules[0]!.agentId;
  const clients = [
    load(() => api.get('/work-items?limit=5')),
    load(() => api.get(`/agents/${agentId}/schedules`)),
    load(() => api.post('/agents', { name: `Made ${n++}`, mode: 'worker' })),
    load(() => api.patch(`/agents/${agentId}`, { description: `Changed ${n++}` })),
  ].map((one) => one());
  const ready = async () => (await fixture.api(0, '').get('/readyz')).status;
  const readyMs: number[] = [];
  const heardMs: number[] = [];
  try {
    for (const signal of signals) {
      await postgres.kill(signal);
      await until(async () => (await ready()) === 503, 10_000);
      if ((await fixture.api(0, '').get('/healthz')).status !== 200) report.problems.push('not alive');
      await postgres.restart();
      let begun = Date.now();
      await until(async () => (await ready()) === 200, 20_000);
      readyMs.push(Date.now() - begun);
      await until(() => nothingDue(fixture), 20_000);
      await fixture.moveClock(minute);
      begun = Date.now();
      // The loop sleeps for up to 15 s now: what is due fires soon only if a notification is received.
      await until(
        async () => {
          await fixture.wake();
          return nothingDue(fixture);
        },
        20_000,
        100,
      );
      heardMs.push(Date.now() - begun);
    }
  } finally {
    stopped = true;
    await Promise.all(clients);
  }
  await must(api.get('/agents'));
  if (fixture.replicas[0]!.process !== process) report.problems.push('the platform was started again');
  const verification = await verifyWithProduct(fixture, schedules);
  return { restarts: signals.length, ...report, readyMs, heardMs, verification };
};
