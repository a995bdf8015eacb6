import type { Agents, Check } from '../../agents/index.ts';
import type { Database, Tx } from '../../database/index.ts';
import type { FeatureLoop } from '../../feature.ts';
import { ApiError, messageOf } from '../../lib/errors.ts';
import type { Logger } from '../../lib/log.ts';
import { Loop } from '../../lib/loop.ts';
import { systemActor } from '../../lib/principal.ts';
import { startExperiment } from '../experiments/experiments.ts';
import { trialEndsChannel } from '../experiments/kind.ts';
import { experimentOf } from './gatekeeper.ts';
import { type Decision, decide } from './verdict.ts';

/**
 * Checks that wait for their trials. Any replica ends one: the verdict is computed without a lock, and applied once under
 * the lock of the agent, in one transaction with what it publishes.
 */

interface Parts {
  db: Database;
  log: Logger;
  gates: Agents['gates'];
}

/** The interval, in milliseconds, at which checks are looked at whose notification was lost. */
const everyMs = 10_000;
/** The same while there is none. */
const idleEveryMs = 30_000;

const apply = async (tx: Tx, gates: Agents['gates'], read: Check, decision: Decision): Promise<void> => {
  const locked = await gates.lockCheck(tx, read);
  if (!locked) return;
  const { verdict, figures, reason } = decision;
  if (verdict !== 'again') return gates.endCheck(tx, locked, verdict, figures, reason);
  const { check } = locked;
  const [, published] = figures.experiment_ids;
  const fields = experimentOf(check.rules, {
    agentId: check.agent_id,
    version: check.from_version,
    publicationId: check.id,
  });
  try {
    const { id } = await startExperiment(tx, systemActor, { ...fields, reuse: false, repeats: published! });
    await gates.updateFigures(tx, check.id, { ...figures, experiment_ids: [...figures.experiment_ids, id] });
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    const why = `The published version could not be run once more: ${error.message}`;
    await gates.endCheck(tx, locked, 'inconclusive', figures, why);
  }
};

/** Goes on with one check, if its trials have ended. */
const advance = async ({ db, gates }: Parts, check: Check): Promise<void> => {
  const decision = await db.run((executor) => decide(executor, check));
  if (decision) await db.tx((tx) => apply(tx, gates, check, decision));
};

/** Ends the checks of gates in the background, on every replica with the role `worker`. */
export const checkLoop = (parts: Parts): FeatureLoop & { listen(): void } => {
  const { db, log, gates } = parts;
  const loop = new Loop({
    name: 'gates',
    log,
    tick: async () => {
      const checks = await db.run(gates.listChecks);
      for (const check of checks) {
        // A check that fails keeps no other waiting. It is tried again, and people can cancel it.
        await advance(parts, check).catch((error: unknown) => {
          log.error({ publication_id: check.id, error: messageOf(error) }, 'the check of a gate failed');
        });
      }
      return checks.length > 0 ? everyMs : idleEveryMs;
    },
  });
  return {
    role: 'worker',
    listen: () => db.listen(trialEndsChannel, () => loop.wake()),
    start: () => void loop.start(),
    stop: () => loop.stop(),
    pass: () => loop.pass(),
  };
};
