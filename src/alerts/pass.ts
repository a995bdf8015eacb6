import { type Database, type RawBuilder, sql, type Tx, tryAdvisoryLock } from '../database/index.ts';
import { alertKinds } from '../lib/announcer.ts';
import { messageOf } from '../lib/errors.ts';
import type { Logger } from '../lib/log.ts';
import { Loop, type LoopPass } from '../lib/loop.ts';
import { readSettings } from '../settings/index.ts';
import type { AlertChanges } from './alerts.ts';
import { conditions } from './conditions/index.ts';
import { evaluate } from './evaluate.ts';
import type { AlertKind } from './kinds.ts';
import { RulesOfKind } from './rules/narrowest.ts';
import { listAllRules } from './rules/store.ts';
import { findPass, type KnownAlert, listKnown, listTrue, updatePass } from './store.ts';

const everyMs = 10_000;
/** Another replica looked less than this ago: once in ten seconds is enough for all. */
const freshMs = 8_000;
/** Events are looked for so far back: their transactions may commit long after the time that they say. */
const overlapMs = 60_000;

/** What one replica at a time does every ten seconds, in a transaction of its own. */
export interface TimedPass {
  /** False only if `run` would do nothing: a part of the statement that asks what there is to look at. */
  mayBeDue: RawBuilder<boolean>;
  run(tx: Tx): Promise<unknown>;
}

/** What one look knows of a kind. */
interface OfKind {
  rules: RulesOfKind;
  known: readonly KnownAlert[];
}

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
    const underLock = async (work: (tx: Tx) => Promise<unknown>): Promise<void> => {
      try {
        await db.tx(async (tx) => {
          if (await tryAdvisoryLock(tx, 'alerts')) await work(tx);
        });
      } catch (error) {
        failures.push(error);
      }
    };
    let due = passes;
    await underLock(async (tx) => {
      due = await this.#look(tx, failures);
    });
    for (const pass of due) await underLock((tx) => pass.run(tx));
    const [first] = failures;
    if (first !== undefined) throw first;
  }

  /** Returns what others may have to do now. */
  async #look(tx: Tx, failures: unknown[]): Promise<readonly TimedPass[]> {
    const { changes, log, passes } = this.#parts;
    const last = await findPass(tx);
    const now = last.now.getTime();
    const age = last.at === null ? Number.POSITIVE_INFINITY : now - last.at.getTime();
    // A last look ahead of the clock was before the clock was set back.
    if (age >= 0 && age < freshMs) return passes;
    const since = now - Math.max(overlapMs, Number.isFinite(age) ? age : 0);
    const settings = await readSettings(tx);
    const rules = Map.groupBy(await listAllRules(tx), ({ kind }) => kind);
    const known = Map.groupBy(await listKnown(tx, new Date(since)), ({ kind }) => kind);
    /** Undoes what `work` did if it fails. Returns undefined then. */
    const apart = async <T>(what: object, work: () => Promise<T>): Promise<T | undefined> => {
      // The one before is not released: that ends with the transaction, and a rollback goes to the latest.
      await sql`savepoint alert_kind`.execute(tx);
      try {
        return await work();
      } catch (error) {
        // On a connection that is lost this throws.
        await sql`rollback to savepoint alert_kind`.execute(tx);
        log.error({ ...what, error: messageOf(error) }, 'alerts of a kind could not be looked at');
        failures.push(error);
        return undefined;
      }
    };
    const kinds = new Map(
      alertKinds.map((kind): [AlertKind, OfKind] => [
        kind,
        { rules: new RulesOfKind(rules.get(kind) ?? []), known: known.get(kind) ?? [] },
      ]),
    );
    const isFiring = ({ known: own }: OfKind) => own.some(({ state }) => state === 'firing');
    const asked = [...kinds].filter(([, one]) => one.rules.enabled.length > 0 && !isFiring(one));
    const answers = await apart({}, () =>
      listTrue(tx, [
        ...asked.map(([kind, one]) => conditions[kind].mayFind({ now, since, settings, rules: one.rules })),
        ...passes.map(({ mayBeDue }) => mayBeDue),
      ]),
    );
    // A part that cannot be asked keeps no other from its look.
    const isTrue = (n: number) => answers?.has(n) ?? true;
    const looked = new Set(asked.flatMap(([kind], n) => (isTrue(n) ? [kind] : [])));
    for (const [kind, one] of kinds) if (isFiring(one)) looked.add(kind);
    let isWhole = true;
    for (const [kind, one] of kinds) {
      if (!looked.has(kind)) continue;
      const done = await apart({ kind }, async () => {
        await evaluate({ tx, kind, ...one, now, since, settings, changes });
        return true;
      });
      isWhole &&= done ?? false;
    }
    // Otherwise the next look begins where this one did, and the age of the last one tells that something is wrong.
    if (isWhole) await updatePass(tx, last.now);
    return passes.filter((_, n) => isTrue(asked.length + n));
  }
}
