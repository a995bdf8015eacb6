import { audit } from '../audit/index.ts';
import type { Executor, Tx } from '../database/index.ts';
import { ApiError, notFound, unprocessable } from '../lib/errors.ts';
import { isId, newId } from '../lib/ids.ts';
import type { Actor } from '../lib/principal.ts';
import { effectiveBaseUrl, kindOf, type LlmSettings, type ResolvedLlm, secretFields } from './kinds.ts';
import { readChanges } from './schemas.ts';
import type { LlmSettingsStore } from './settings.ts';
import {
  deleteLlmRow,
  findBudgetIdOf,
  findDefaultLlm,
  findLlm,
  findLockedLlm,
  insertLlm,
  type LlmRow,
  type LlmUse,
  llms,
  lockLlmForShare,
  updateDefaultLlmRow,
} from './store.ts';

/** A new configuration: the settings of its kind, a name and a model. */
export type NewLlm = LlmSettings & { name: string; model: string };

/** Changes of the settings of a kind: an absent field stays as it is, null resets it. */
export type SettingChanges = Record<string, unknown>;

/** Returns the configuration `llmId`, or the default if it is null. Throws 404 if there is none. */
export const resolveLlm = async (
  executor: Executor,
  { resolve }: LlmSettingsStore,
  llmId: string | null,
): Promise<ResolvedLlm> => {
  const named = (id: string) => (isId(id) ? findLlm(executor, id) : undefined);
  const row = await (llmId === null ? findDefaultLlm(executor) : named(llmId));
  if (!row) throw notFound('LLM configuration');
  return resolve(row);
};

/** Returns the row, locked until the transaction ends. Throws 404 if there is none. */
export const lockLlm = async (tx: Tx, id: string): Promise<LlmRow> => {
  const row = await findLockedLlm(tx, id);
  if (!row) throw notFound('LLM configuration');
  return row;
};

export const createLlm = async (
  tx: Tx,
  actor: Actor,
  store: LlmSettingsStore,
  { name, model, ...settings }: NewLlm,
): Promise<LlmRow> => {
  const id = newId();
  const row = await insertLlm(tx, {
    id,
    name,
    model,
    kind: settings.kind,
    ...store.columnsOf(id, settings),
  });
  await audit(tx, actor, 'llm_configuration.create', id, { name, model, ...store.masked(settings) });
  return row;
};

/**
 * Returns `before` with `changes`. Throws 422 for settings that do not fit together, and for another address
 * without every stored secret: a secret is never sent to a host that it was not given for.
 */
const changedSettings = (before: LlmSettings, changes: SettingChanges): LlmSettings => {
  const merged = Object.entries({ ...before, ...changes }).filter(([, value]) => value != null);
  const after = Object.fromEntries(merged) as LlmSettings;
  const fault = kindOf(after.kind).fault?.(after);
  if (fault) throw unprocessable([{ path: fault.path, message: fault.message }]);
  const address = (settings: LlmSettings) => effectiveBaseUrl(settings)?.replace(/\/+$/, '');
  if (address(before) === address(after)) return after;
  const kept = secretFields.filter((field) => hasSecret(before, field) && changes[field] === undefined);
  if (kept.length === 0) return after;
  throw unprocessable(
    kept.map((path) => ({ path, message: 'must be given again, or null, because the address changes' })),
  );
};

export const hasSecret = (settings: LlmSettings, field: (typeof secretFields)[number]): boolean => {
  const value = (settings as Record<string, unknown>)[field];
  return value !== undefined && (field !== 'headers' || Object.keys(value as object).length > 0);
};

/** Changes the row, which is locked, to `settings`; `changes` are those that the audit log names. */
const writeLlm = async (
  tx: Tx,
  actor: Actor,
  store: LlmSettingsStore,
  before: LlmRow,
  { name, model, changes, settings }: LlmUpdate,
): Promise<LlmRow> => {
  const row = await llms.update(
    tx,
    before.id,
    { name, model },
    {
      ...store.columnsOf(before.id, settings),
      // Another name or price changes nothing that was tested.
      ...((model !== undefined || Object.keys(changes).some((change) => change !== 'price_as')) && {
        test_passed_at: null,
      }),
    },
  );
  const details = { ...(name && { name }), ...(model && { model }) };
  await audit(tx, actor, 'llm_configuration.update', row.id, {
    ...details,
    ...store.masked(changes as Partial<LlmSettings>),
  });
  return row;
};

interface LlmUpdate {
  name: string | undefined;
  model: string | undefined;
  changes: SettingChanges;
  settings: LlmSettings;
}

/** Throws 422 for another kind: a configuration keeps the kind that it was created with. */
const checkKind = (before: LlmRow, { kind }: { kind?: string }): void => {
  if (kind !== undefined && kind !== before.kind) {
    throw unprocessable([{ path: 'kind', message: `cannot be changed; it is ${before.kind}` }]);
  }
};

/** An update of a locked configuration, which was checked. */
interface CheckedUpdate extends LlmUpdate {
  before: LlmRow;
  revision: number;
}

/** Locks the configuration, and checks what `body` names: 422 for settings that its kind cannot have. */
export const lockToUpdate = async (
  tx: Tx,
  store: LlmSettingsStore,
  id: string,
  body: { kind?: string; name?: string; model?: string },
): Promise<CheckedUpdate> => {
  const before = await lockLlm(tx, id);
  checkKind(before, body);
  const { name, model } = body;
  const changes = readChanges(before.kind, body);
  const settings = changedSettings(store.open(before), changes);
  return { before, revision: before.revision, name, model, changes, settings };
};

export const updateLlm = (
  tx: Tx,
  actor: Actor,
  store: LlmSettingsStore,
  { before, ...update }: CheckedUpdate,
): Promise<LlmRow> => writeLlm(tx, actor, store, before, update);

const usedBy: Record<LlmUse, string> = {
  default:
    'This LLM configuration is the default. Make another one the default first (PUT /llm-configurations/defaults).',
  agents: 'Agents use this LLM configuration, as their own or as a fallback. Give them another one first.',
  documents: 'Document intelligence uses this LLM configuration. Give it another one first.',
  budgets: 'A budget sends calls to this LLM configuration. Give it another one first.',
};

/** Deletes the locked configuration. Throws 412 for the default and for one that something else uses. */
export const deleteLlm = async (tx: Tx, actor: Actor, row: LlmRow): Promise<void> => {
  const budgetId = await findBudgetIdOf(tx, row.id);
  if (budgetId !== undefined) {
    throw new ApiError('precondition_failed', usedBy.budgets, { llm_id: row.id, budget_id: budgetId });
  }
  const use = await deleteLlmRow(tx, row.id);
  if (use !== null) {
    throw new ApiError('precondition_failed', usedBy[use], { llm_id: row.id });
  }
  await audit(tx, actor, 'llm_configuration.delete', row.id, { name: row.name, kind: row.kind });
};

/** Makes `id` the default, which agents without `llm_id` use. Throws 422 if there is no such configuration. */
export const updateDefaultLlm = async (tx: Tx, actor: Actor, id: string): Promise<void> => {
  if (!isId(id) || !(await lockLlmForShare(tx, id))) {
    throw unprocessable([{ path: 'llm_id', message: 'there is no such LLM configuration' }], { llm_id: id });
  }
  const before = await updateDefaultLlmRow(tx, id);
  if (before !== id) await audit(tx, actor, 'llm_configuration.set_default', id, { before });
};
