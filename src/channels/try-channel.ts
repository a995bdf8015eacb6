import { addressees } from '../access/index.ts';
import { audit } from '../audit/index.ts';
import type { Database } from '../database/index.ts';
import { isId } from '../lib/ids.ts';
import type { Actor } from '../lib/principal.ts';
import { Redactor } from '../lib/redactor.ts';
import type { StepResult } from '../lib/steps.ts';
import type { Kinds } from './kinds/index.ts';
import { makeMessagesDue } from './messages/store.ts';
import { type ChannelSettingsStore, secretsIn } from './settings.ts';
import { type ChannelRow, recordChannelResult } from './store.ts';
import { type StepName, TestFailure, TestSteps } from './test-steps.ts';

export type TestChannel = (
  row: ChannelRow,
  actor: Actor,
) => Promise<{ ok: boolean; steps: StepResult<StepName>[] }>;

interface Parts {
  db: Database;
  store: ChannelSettingsStore;
  kinds: Kinds;
}

/** The verified e-mail of the person who acts; null for a service account. */
const emailOf = async (db: Database, { principal }: Actor): Promise<string | null> => {
  if (principal.kind !== 'person' || !isId(principal.id)) return null;
  const [person] = await db.run((executor) => addressees.listByIds(executor, [principal.id]));
  return person?.email ?? null;
};

/**
 * Tests a channel as messages use it, in steps, and records what came of it: after a good test, what waits is due at once.
 * Never rejects because of what the other side does.
 */
export const createTest =
  ({ db, store, kinds }: Parts): TestChannel =>
  async (row, actor) => {
    const settings = store.open(row);
    const steps = new TestSteps();
    const context = { id: row.id, callerEmail: await emailOf(db, actor), steps };
    let failure: TestFailure | null = null;
    try {
      await steps.within(kinds.test(settings, context));
    } catch (error) {
      if (!(error instanceof TestFailure)) throw error;
      failure = error;
    }
    const redactor = new Redactor(secretsIn(settings));
    const shown = (failure ? steps.failed(failure) : [...steps.steps]).map((one) => ({
      ...one,
      detail: redactor.text(one.detail),
    }));
    const ok = failure === null;
    await db.tx(async (tx) => {
      await recordChannelResult(tx, {
        id: row.id,
        revision: row.revision,
        error: ok ? null : shown.at(-1)!.detail,
        resumes: ok,
      });
      if (ok) await makeMessagesDue(tx, row.id);
      await audit(tx, actor, 'channel.test', row.id, { ok });
    });
    return { ok, steps: shown };
  };
