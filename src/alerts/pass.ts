import { type Database, sql, type Tx, tryAdvisoryLock } from '../database/index.ts';
import { alertKinds } from '../lib/announcer.ts';
import { messageOf } from '../lib/errors.ts';
import type { Logger } from '../lib/log.ts';
import { Loop, type LoopPass } from '../lib/loop.ts';
import { readSettings } from '../settings/index.ts';
import type { AlertChanges } from './alerts.ts';
import { evaluate } from './evaluate.ts';
import { RulesOfKind } from './rules/narrowest.ts';
import { listAllRules } from './rules/store.ts';
import { findPass, listKnown, updatePass } from './store.ts';

const everyMs = 10_000;
/** Another replica looked less than this ago: once in ten seconds is enough for all. */
const freshMs = 8_000;
/** Events are looked for so far back: their transactions may commit long after the time that they say. */
const overlapMs = 60_000;

/** What one replica at a time does every ten seconds, in a transaction of its own. */
export type TimedPass = (tx: Tx) => Promise<unknown>;

interface Parts {
  db: Database;
  log: Logger;
  changes: AlertChanges;
  /** What others do in the same rhythm. */
  passes: readonly TimedPass[];
}

/** Looks every ten seconds what alerts fire. Every replica has one, of any role; a lock lets one of them look. */
export class AlertPass {
  readonly #parts: Parts;
  readonly #loop: Loop;

  constructor(parts: Parts) {
    this.#parts = parts;
    this.#loop = new Loop({
      name: 'alerts',
      log: parts.log,
      tick: async () => {
        await this.run();
        return everyMs;
      },
    });
  }

  start(): void {
    this.#loop.start();
  }

  stop(): Promise<void> {
    return this.#loop.stop();
  }

  pass(): LoopPass {
    return this.#loop.pass();
  }

  /** Looks once, unless a replica has just done so. A part that fails does not keep the others from their work. */
  async run(): Promise<void> {
    const { db, passes } = this.#parts;
    const failures: unknown[] = [];
    for (const pass of [(tx: Tx) => this.#look(tx, failures), ...passes]) {
      try {
        await db.tx(async (tx) => {
          if (await tryAdvisoryLock(tx, 'alerts')) await pass(tx);
        });
      } catch (error) {
        failures.push(error);
      }
    }
    const [first] = failures;
    if (first !== undefined) throw first;
  }

  async #look(tx: Tx, failures: unknown[]): Promise<void> {
    const { changes, log } = this.#parts;
    const last = await findPass(tx);
    const now = last.now.getTime();
    const age = last.at === null ? Number.POSITIVE_INFINITY : now - last.at.getTime();
    // A last look ahead of the clock was before the clock was set back.
    if (age >= 0 && age < freshMs) return;
    const since = now - Math.max(overlapMs, Number.isFinite(age) ? age : 0);
    const settings = await readSettings(tx);
    const rules = Map.groupBy(await listAllRules(tx), ({ kind }) => kind);
    const known = Map.groupBy(await listKnown(tx, new Date(since)), ({ kind }) => kind);
    let isWhole = true;
    for (const kind of alertKinds) {
      // The one before is not released: that ends with the transaction, and a rollback goes to the latest.
      await sql`savepoint alert_kind`.execute(tx);
      try {
        const own = new RulesOfKind(rules.get(kind) ?? []);
        await evaluate({
          tx,
          kind,
          rules: own,
          known: known.get(kind) ?? [],
          now,
          since,
          settings,
          changes,
        });
      } catch (error) {
        // On a connection that is lost this throws.
        await sql`rollback to savepoint alert_kind`.execute(tx);
        log.error({ kind, error: messageOf(error) }, 'alerts of a kind could not be looked at');
        failures.push(error);
        isWhole = false;
      }
    }
    // Otherwise the next look begins where this one did, and the age of the last one tells that something is wrong.
    if (isWhole) await updatePass(tx, last.now);
  }
}
