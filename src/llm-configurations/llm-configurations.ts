import { audit } from '../audit/index.ts';
import type { Executor, Tx } from '../database/index.ts';
import { ApiError, notFound, unprocessable } from '../lib/errors.ts';
import { isId, newId } from '../lib/ids.ts';
import type { Actor } from '../lib/principal.ts';
import type { LlmSettings, LlmSettingsStore, ResolvedLlm } from './settings.ts';
import {
  deleteLlmRow,
  findDefaultLlm,
  findLlm,
  findLockedLlm,
  insertLlm,
  type LlmRow,
  lockLlmForShare,
  updateDefaultLlmRow,
  updateLlmRow,
} from './store.ts';

/** A new configuration: the settings of its kind, a name and a model. */
export type NewLlm = LlmSettings & { name: string; model: string };

/** Changes of a configuration: an absent field stays as it is, null clears it. */
export interface LlmChanges {
  kind?: string;
  name?: string;
  model?: string;
  base_url?: string;
  api_key?: string | null;
  headers?: Record<string, string> | null;
}

/** Returns the configuration `llmId`, or the default if it is null. Throws 404 if there is none. */
export const resolveLlm = async (
  executor: Executor,
  { resolve }: LlmSettingsStore,
  llmId: string | null,
): Promise<ResolvedLlm> => {
  const row = llmId === null ? await findDefaultLlm(executor) : await findLlm(executor, llmId);
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

/** Changes the fields that `changes` has. `before` is locked. */
export const updateLlm = async (
  tx: Tx,
  actor: Actor,
  store: LlmSettingsStore,
  before: LlmRow,
  { kind: _, name, model, ...given }: LlmChanges,
): Promise<LlmRow> => {
  // As in a create, the fields of another kind are ignored.
  const changes = before.kind === 'mock' ? {} : given;
  const merged = Object.entries({ ...store.open(before), ...changes }).filter(([, value]) => value !== null);
  const row = await updateLlmRow(tx, before.id, {
    name: name ?? before.name,
    model: model ?? before.model,
    ...store.columnsOf(before.id, Object.fromEntries(merged) as LlmSettings),
  });
  const details = { ...(name && { name }), ...(model && { model }) };
  await audit(tx, actor, 'llm_configuration.update', row.id, {
    ...details,
    ...store.masked(changes as Partial<LlmSettings>),
  });
  return row;
};

/** Throws 422 for another kind: a configuration keeps the kind that it was created with. */
export const checkKind = (before: LlmRow, { kind }: LlmChanges): void => {
  if (kind !== undefined && kind !== before.kind) {
    throw unprocessable([{ path: 'kind', message: `cannot be changed; it is ${before.kind}` }]);
  }
};

/** Deletes the configuration; `row` is locked. Throws 412 for the default and for one that agents use. */
export const deleteLlm = async (tx: Tx, actor: Actor, row: LlmRow): Promise<void> => {
  const use = await deleteLlmRow(tx, row.id);
  if (use !== null) {
    throw new ApiError(
      'precondition_failed',
      use === 'default'
        ? 'This LLM configuration is the default. Make another one the default first (PUT /llm-configurations/defaults).'
        : 'Agents use this LLM configuration. Give them another one first.',
      { llm_id: row.id },
    );
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
