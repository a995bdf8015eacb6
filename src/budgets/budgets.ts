import { audit } from '../audit/index.ts';
import { advisoryLock, notify, type Tx } from '../database/index.ts';
import { badRequest, type Fault, notFound, unprocessable } from '../lib/errors.ts';
import { isId, newId } from '../lib/ids.ts';
import type { Actor } from '../lib/principal.ts';
import { lockLlmForShare } from '../llm-configurations/index.ts';
import { readSettings } from '../settings/index.ts';
import { budgetsChannel } from './engine/engine.ts';
import {
  type Budget,
  type BudgetChanges,
  budgets,
  deleteBudgetRow,
  findBudgetIdByName,
  findLockedBudget,
  findSubjectId,
  insertBudget,
  type NewBudget,
} from './store.ts';

/** Two creates or renames with one name come one after the other. Throws 422 if another budget has the name. */
const lockName = async (tx: Tx, name: string, ownId: string | null): Promise<void> => {
  await advisoryLock(tx, 'budgets');
  const taken = await findBudgetIdByName(tx, name);
  if (taken === undefined || taken === ownId) return;
  throw unprocessable([{ path: 'name', message: 'belongs to another budget; give another one' }]);
};

const words: Record<Budget['scope']['kind'], string> = {
  workspace: 'the workspace',
  agent: 'an agent',
  schedule: 'a schedule',
  trigger: 'a trigger',
  person: 'a person',
  api_key: 'an API key of a service account',
  llm_configuration: 'an LLM configuration',
};

/** Returns the scope as it is stored. Adds a fault for a subject that does not exist. */
const readScope = async (
  tx: Tx,
  { kind, id }: Budget['scope'],
  faults: Fault[],
): Promise<Budget['scope']> => {
  if (id === null) return { kind, id };
  const path = 'scope.id';
  if (kind === 'workspace') faults.push({ path, message: 'must be null: there is one workspace' });
  else {
    const found = isId(id) ? await findSubjectId(tx, kind, id) : undefined;
    if (found !== undefined) return { kind, id: found };
    faults.push({ path, message: `is not the id of ${words[kind]}` });
  }
  return { kind, id };
};

/** Throws 422 for fields that do not fit together, and for an unknown LLM configuration, which is locked for share. */
const lockActionTarget = async (
  tx: Tx,
  { action, period, llm_id }: Pick<Budget, 'action' | 'period' | 'llm_id'>,
  faults: Fault[] = [],
): Promise<void> => {
  if (action === 'wait' && period === 'total')
    faults.push({ path: 'action', message: 'cannot be `wait` with the period `total`, which never ends' });
  if (action === 'cheaper' && llm_id === null)
    faults.push({ path: 'llm_id', message: 'must name the LLM configuration that calls go to' });
  else if (action !== 'cheaper' && llm_id !== null)
    faults.push({ path: 'llm_id', message: 'must be null, unless the action is `cheaper`' });
  else if (llm_id !== null && !(isId(llm_id) && (await lockLlmForShare(tx, llm_id))))
    faults.push({ path: 'llm_id', message: 'is not an LLM configuration' });
  if (faults.length > 0) throw unprocessable(faults);
};

/**
 * Creates a budget. Throws 400 if there are as many as there may be. `leaving`: how many others the transaction deletes
 * afterwards.
 */
export const createBudget = async (tx: Tx, actor: Actor, values: NewBudget, leaving = 0): Promise<Budget> => {
  await lockName(tx, values.name, null);
  const { MAX_BUDGETS: max } = await readSettings(tx);
  if ((await budgets.count(tx)) - leaving >= max) {
    throw badRequest(`There are ${max} budgets, the maximum. Delete one first.`, { setting: 'MAX_BUDGETS' });
  }
  const faults: Fault[] = [];
  const given = await readScope(tx, values.scope, faults);
  await lockActionTarget(tx, values, faults);
  const budget = await insertBudget(tx, newId(), { ...values, scope: given });
  const { name, scope, unit, limit, period, action } = budget;
  await audit(tx, actor, 'budget.create', budget.id, { name, scope, unit, limit, period, action });
  await notify(tx, budgetsChannel);
  return budget;
};

/** Returns the budget, locked until the transaction ends. Throws 404 if there is none. */
export const lockBudget = async (tx: Tx, id: string): Promise<Budget> => {
  const budget = isId(id) ? await findLockedBudget(tx, id) : undefined;
  if (!budget) throw notFound('budget');
  return budget;
};

/** Returns the budget, locked. Throws 422 for changes that it cannot have. */
export const lockBudgetToUpdate = async (tx: Tx, id: string, changes: BudgetChanges): Promise<Budget> => {
  const before = await lockBudget(tx, id);
  const { scope, unit, period, timezone } = changes;
  const faults: Fault[] = [];
  const isOther = scope && (scope.kind !== before.scope.kind || scope.id !== before.scope.id);
  if (isOther) faults.push({ path: 'scope', message: 'cannot be changed; create another budget' });
  for (const [path, value] of Object.entries({ unit, period, timezone }) as ['unit', string | undefined][]) {
    if (value !== undefined && value !== before[path])
      faults.push({ path, message: `cannot be changed; it is ${before[path]}` });
  }
  if (changes.name !== undefined && changes.name !== before.name) await lockName(tx, changes.name, id);
  await lockActionTarget(tx, budgets.merge(before, changes), faults);
  return before;
};

/** Changes the budget that `lockBudgetToUpdate` returned. */
export const updateBudget = async (
  tx: Tx,
  actor: Actor,
  before: Budget,
  changes: BudgetChanges,
): Promise<Budget> => {
  const after = budgets.read(await budgets.update(tx, before.id, changes));
  await audit(tx, actor, 'budget.update', after.id, {
    name: after.name,
    changed: budgets.changed(changes),
    ...(after.limit === before.limit ? {} : { limit: { from: before.limit, to: after.limit } }),
    ...(after.enabled === before.enabled ? {} : { enabled: after.enabled }),
  });
  await notify(tx, budgetsChannel);
  return after;
};

/** Deletes the locked budget with its periods. */
export const deleteBudget = async (tx: Tx, actor: Actor, { id, name }: Budget): Promise<void> => {
  await deleteBudgetRow(tx, id);
  await audit(tx, actor, 'budget.delete', id, { name });
  await notify(tx, budgetsChannel);
};
