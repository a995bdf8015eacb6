import { AlertChanges } from '../../src/alerts/alerts.ts';
import { AlertPass } from '../../src/alerts/pass.ts';
import type { announcer } from '../../src/channels/index.ts';
import { sql } from '../../src/database/index.ts';
import { silentLogger } from '../../src/lib/log.ts';
import { type Fixture, ok } from './fixture.ts';

// biome-ignore lint/suspicious/noExplicitAny: JSON, read field by field
type Json = any;

/** Replicas that look for alerts by a clock of their own, which is ahead of that of the database by `seconds`. */
export class Looks {
  readonly #at: () => Fixture;
  /** It never goes back: an alert is never resolved before it was fired. */
  seconds = 0;
  /** What tells people of its alerts; null: no one is told. */
  announcer: typeof announcer | null = null;

  constructor(at: () => Fixture) {
    this.#at = at;
  }

  /** The platform itself looks no longer. */
  async stopOwn(): Promise<void> {
    await this.#at().test.platform.features.alerts.looks.stop();
  }

  #replica(): AlertPass {
    const { db } = this.#at();
    const shifted: typeof db = {
      ...db,
      tx: (fn) =>
        db.tx(async (tx) => {
          await sql`select set_config('platform.clock_offset_ms', ${String(this.seconds * 1000)}, true)`.execute(
            tx,
          );
          return fn(tx);
        }),
    };
    return new AlertPass({
      db: shifted,
      log: silentLogger,
      changes: new AlertChanges(this.announcer),
      passes: [],
    });
  }

  /** Some seconds later several replicas look at the same time. */
  async after(seconds: number, replicas = 2): Promise<void> {
    this.seconds += seconds;
    await Promise.all(Array.from({ length: replicas }, () => this.#replica().run()));
  }

  /** The time of its clock. */
  now(seconds = 0): Date {
    return new Date(Date.now() + (this.seconds + seconds) * 1000);
  }

  /** The alerts that match, newest first. */
  async alerts(query = ''): Promise<Json[]> {
    return (await ok(this.#at().api.get(`/alerts?limit=200&${query}`))).data;
  }
}

/** Deletes every rule and alert, and the schedules that there would be alerts about. */
export const withoutRules = async (at: Fixture): Promise<void> => {
  await at.sql`delete from alert_rules`;
  await at.sql`delete from alerts`;
  await at.sql`delete from schedules`;
};
