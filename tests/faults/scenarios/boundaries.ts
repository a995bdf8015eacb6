import { type Decision, startPostgresProxy } from '../../harness/postgres-proxy.ts';
import { until } from '../../harness/wait.ts';
import { nothingDue } from './due.ts';
import { Fixture } from './fixture.ts';
import { closeAccount } from './product-verifier.ts';
import { makeSchedules } from './test-schedules.ts';
import type { Account } from './verifier.ts';

const minute = 60_000;
const env = { ROLES: 'api,scheduler,delivery' };

export interface BoundariesReport {
  /** The statements of a firing transaction, in order. */
  statements: string[];
  /** Where connections were cut: `before 3`, `after 8`. */
  cuts: string[];
  kills: number;
  account: Account;
}

/** Whether the statements of a transaction so far are those of a firing. */
export const isFiring = (transaction: readonly string[]): boolean =>
  transaction.some((text) => /from schedules s.*for update of s skip locked/s.test(text));

/**
 * Fires under a connection that is cut before and after each statement of the firing transaction in turn, COMMIT
 * and its acknowledgement among them; at every `killEvery`th of these places, and after COMMIT, the process is killed as
 * well.
 */
export const runAtBoundaries = async (schedules: number, killEvery: number): Promise<BoundariesReport> => {
  await using fixture = await Fixture.open('postgres');
  await using proxy = await startPostgresProxy(fixture.databaseUrl!);
  await fixture.start(0, { env, databaseUrl: proxy.url });
  const made = await makeSchedules(fixture.api(), schedules);

  /** Three minutes later, of which two are missed, so that a firing has all of its statements; the loop is woken. */
  const nextFiring = async (done: () => boolean): Promise<void> => {
    await fixture.moveClock(3 * minute);
    await fixture.wake();
    await until(done, 20_000, 10);
  };
  const allFired = () =>
    until(async () => {
      await fixture.wake();
      return nothingDue(fixture);
    }, 20_000);

  let statements: string[] = [];
  proxy.decide = ({ transaction, text }) => {
    if (text === 'commit' && isFiring(transaction) && transaction.length > statements.length) {
      statements = [...transaction];
    }
    return 'pass';
  };
  await allFired();
  // Until one that has fired something, and not found the minute fired by the loop itself.
  for (let tries = 0; tries < 5 && !statements.some((text) => /update schedules/.test(text)); tries++) {
    await nextFiring(() => statements.length > 0);
    await allFired();
  }

  const cuts: string[] = [];
  let kills = 0;
  let place = 0;
  // Of `begin` only its answer: before it nothing tells a firing from the rest.
  for (let k = 1; k < statements.length; k++) {
    for (const decision of ['cut before', 'cut after'] satisfies Decision[]) {
      let done = false;
      // A firing that were committed in two parts could still do the second after a lost acknowledgement: not when killed.
      const committed = decision === 'cut after' && k === statements.length - 1;
      const kill = committed || ++place % killEvery === 0;
      proxy.decide = ({ transaction }) => {
        if (done || !isFiring(transaction) || transaction.length !== k + 1) return 'pass';
        done = true;
        return decision;
      };
      let over = false;
      proxy.onCut = async () => {
        if (kill) await fixture.kill();
        over = true;
      };
      await nextFiring(() => over);
      cuts.push(`${decision.slice(4)} ${k}`);
      if (kill) {
        kills++;
        await fixture.start(0, { env, databaseUrl: proxy.url });
      }
      await allFired();
    }
  }
  proxy.decide = () => 'pass';
  return { statements, cuts, kills, account: await closeAccount(fixture, made) };
};
