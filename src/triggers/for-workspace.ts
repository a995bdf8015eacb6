import type { Executor, Tx } from '../database/index.ts';
import type { Actor } from '../lib/principal.ts';
import { pauseTrigger, resumeTrigger, rotateSecret } from './pauses.ts';
import { definition } from './schemas.ts';
import type { Configured } from './settings.ts';
import { listAllTriggers, type TriggerRow } from './store.ts';
import {
  checkDefinition,
  checkReplacement,
  checkSecret,
  createTrigger,
  type Definition,
  deleteTrigger,
  lockToDelete,
  lockTrigger,
  replaceTrigger,
  type TriggerParts,
} from './triggers.ts';

/** A trigger with its settings open, secrets included. */
interface OpenTrigger {
  row: TriggerRow;
  configured: Configured;
}

type Enabled = Definition & { enabled: boolean };

/** The seconds for which the secret before a document is valid too: those of a rotation. */
const overlapSeconds = 86_400;

const secretOf = ({ kind, settings }: Definition): string | undefined =>
  kind === 'webhook' ? settings.secret : undefined;

/** What a workspace document does with triggers, by the rules of the API. */
export interface TriggerChanges {
  /** All triggers, the oldest first. */
  list(executor: Executor): Promise<OpenTrigger[]>;
  /** Throws 422 for what no schema can refuse: a secret that its scheme cannot use, wrong expressions. */
  check(given: Definition): void;
  create(tx: Tx, actor: Actor, agentId: string, given: Enabled): Promise<{ id: string }>;
  /**
   * Changes a trigger. `changed`: the fields that differ; alone, `enabled` makes no new definition. Another secret takes
   * the place of the stored one, which stays valid for a day.
   */
  change(tx: Tx, actor: Actor, id: string, given: Enabled, changed: ReadonlySet<string>): Promise<void>;
  /** Throws 412 while triggers watch it. */
  delete(tx: Tx, actor: Actor, id: string): Promise<void>;
}

export const createTriggerChanges = (parts: TriggerParts): TriggerChanges => {
  const { store } = parts;
  const check = (given: Definition): void => {
    const secret = secretOf(given);
    if (given.kind === 'webhook' && secret !== undefined) checkSecret(given.settings, secret);
    // A secret that is generated signs, if its scheme does.
    checkDefinition(given, secret ?? 'whsec_');
  };
  return {
    list: async (executor) =>
      (await listAllTriggers(executor)).map((row) => ({ row, configured: store.open(row) })),
    check,
    create: async (tx, actor, agentId, given) => {
      check(given);
      return (await createTrigger(tx, actor, parts, agentId, given)).row;
    },
    change: async (tx, actor, id, { enabled, ...given }, changed) => {
      let row = await lockTrigger(tx, id);
      const secret = secretOf(given);
      const stored = store.open(row);
      if (secret !== undefined && stored.kind === 'webhook' && stored.settings.secret !== secret) {
        row = (await rotateSecret(tx, actor, store, row, { secret, overlap_seconds: overlapSeconds })).row;
      }
      if (!enabled) row = await pauseTrigger(tx, actor, store, row);
      if ([...changed].some((field) => field !== 'enabled')) {
        checkReplacement(store, row, given);
        row = await replaceTrigger(tx, actor, parts, row, given);
      }
      if (enabled) await resumeTrigger(tx, actor, store, row);
    },
    delete: async (tx, actor, id) => deleteTrigger(tx, actor, await lockToDelete(tx, id)),
  };
};

export { definition as triggerDefinition };
