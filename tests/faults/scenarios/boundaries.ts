import { type Decision, startPostgresProxy } from '../../harness/postgres-proxy.ts';
import { until } from '../../harness/wait.ts';
import { nothingDue } from './due.ts';
import { Fixture } from './fixture.ts';
import { verifyWithProduct } from './product-verifier.ts';
import { makeSchedules } from './test-schedules.ts';
import type { Verification } from './verifier.ts';

const minute = 60_000;
const env = { ROLES: 'api,scheduler,delivery' };

export interface BoundariesReport {
  /** The statements of a firing transaction, in order. */
  statements: string[];
  /** The places where connections were cut: `before 3`, `after 8`. */
  cuts: string[];
  kills: number;
  verification: Verification;
}

/** Whether the statements of a transaction so far are those of a firing. */
export const isFiring = (transaction: readonly string[]): boolean =>
  transaction.some((text) => /from schedules s.*for update of s skip locked/s.test(text));

/**
 * Fires over a connection that is cut before and after each statement of the firing transaction in turn, COMMIT and its
 * acknowledgement included. At every `killEvery`th of these places, and after COMMIT, the process is killed too.
 */
export const runAtBoundaries = async (schedules: number, killEvery: number): Promise<BoundariesReport> => {
  await using fixture = await Fixture.open('postgres');
  await using proxy = await startPostgresProxy(fixture.databaseUrl!);
  await fixture.start(0, { env, databaseUrl: proxy.url });
  const made = await makeSchedules(fixture.api(), schedules);

  /**
   * Moves the clock by three minutes, of which two are missed, so that a firing has all of its statements, and wakes
   * the loop.
   */
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
  // Repeats until this firing has fired something, and the loop did not fire the minute by itself.
  for (let tries = 0; tries < 5 && !statements.some((text) => /update schedules/.test(text)); tries++) {
    await nextFiring(() => statements.length > 0);
    await allFired();
  }

  const cuts: string[] = [];
  let kills = 0;
  let place = 0;
  // Of `begin` only its response is cut: before it nothing distinguishes a firing from other transactions.
  for (let k = 1; k < statements.length; k++) {
    for (const decision of ['cut before', 'cut after'] satisfies Decision[]) {
      let done = false;
      // A firing that was committed in two parts could still do the second part after a lost acknowledgement, but not
      // when killed.
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
  return { statements, cuts, kills, verification: await verifyWithProduct(fixture, made) };
};
