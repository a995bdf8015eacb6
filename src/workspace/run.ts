import { createRoleMappingBody, type RoleMappings } from '../access/index.ts';
import { sql, type Tx } from '../database/index.ts';
import { ApiError, type Fault } from '../lib/errors.ts';
import type { Actor } from '../lib/principal.ts';
import type { Entry } from './entries.ts';
import { at, faultsOf } from './faults.ts';
import { type KindName, type Run, Unavailable } from './kind.ts';
import type { Plan } from './plan.ts';
import type { State } from './state.ts';

/** The faults, and the work that is left after the transaction. */
export interface Outcome {
  faults: Fault[];
  afterwards: ReadonlyMap<string, () => unknown>;
}

/** The reason in the audit entries of people whose role follows from a document. */
const reason = 'workspace.apply';

/**
 * Kinds that are deleted before anything is made: names and prefixes become free. The rest goes last, when nothing refers
 * to it any more.
 */
const deletedFirst: readonly KindName[] = [
  // It would go with its agent or schedule.
  'alert_rule',
  'route',
  'tool_server',
  'trigger',
  'agent',
  'schedule',
  'budget',
  'integration',
];
const deletedLast: readonly KindName[] = [
  'dataset',
  'semantic_data_model',
  'data_connection',
  'event_connection',
  'channel',
  'price',
  'llm_configuration',
];
/** Each kind after those that it refers to. */
const written: readonly KindName[] = [
  'branding',
  'llm_configuration',
  'default_llm',
  'price',
  'tool_server',
  'data_connection',
  'event_connection',
  'semantic_data_model',
  'dataset',
  'agent',
  'schedule',
  'trigger',
  'budget',
  'integration',
  'alert_rule',
  'channel',
  'route',
  'document_intelligence',
];

/**
 * Makes the changes of a plan in `tx` by the rules of the API, and collects what they refuse. If there are faults, or if
 * it is only a plan, the caller rolls back.
 */
export const runPlan = async (
  tx: Tx,
  actor: Actor,
  { entries, faults: known }: Plan,
  state: State,
  roleMappings: RoleMappings,
): Promise<Outcome> => {
  const faults: Fault[] = [];
  const afterwards = new Map<string, () => unknown>();
  const ends: { entry: Entry; check: () => Promise<void> }[] = [];
  const ids = new Map<string, string>();
  const key = (kind: KindName, name: string) => JSON.stringify([kind, name]);
  for (const [kind, found] of state) for (const { id, name } of found) ids.set(key(kind, name), id);

  const runOf = (entry: Entry): Run => ({
    tx,
    actor,
    idOf: (kind, name) => {
      const id = ids.get(key(kind, name));
      if (id === undefined) throw new Unavailable(name);
      return id;
    },
    leaving: () => entries.filter((one) => one.kind === entry.kind && one.action === 'delete').length,
    atEnd: (check) => void ends.push({ entry, check }),
    afterwards: (name, fn) => void afterwards.set(name, fn),
  });

  /** Runs one change. What it did is undone if it is refused, and the others go on. */
  const attempt = async (path: string, change: () => Promise<unknown>): Promise<void> => {
    await sql`savepoint workspace_change`.execute(tx);
    try {
      await change();
      await sql`release savepoint workspace_change`.execute(tx);
    } catch (error) {
      if (!(error instanceof ApiError) && !(error instanceof Unavailable)) throw error;
      await sql`rollback to savepoint workspace_change`.execute(tx);
      if (error instanceof ApiError) faults.push(...at(path, faultsOf(error)));
    }
  };

  const of = (kind: KindName, ...actions: Entry['action'][]): Entry[] =>
    entries.filter(
      (entry) =>
        entry.kind.kind === kind && actions.includes(entry.action) && !entry.cascades && !entry.isUsed,
    );

  const write = async (entry: Entry): Promise<void> => {
    const { kind, found, item, changed, name } = entry;
    if (!item) return;
    const run = runOf(entry);
    if (found) await kind.update(run, found, item, changed);
    else ids.set(key(kind.kind, name), await kind.create(run, item));
  };

  const remove = async (kind: KindName): Promise<void> => {
    for (const entry of of(kind, 'delete')) {
      await attempt(entry.path, () => entry.kind.remove(runOf(entry), entry.found!));
      ids.delete(key(kind, entry.name));
    }
  };

  /** Settings and role mappings: roles depend on both, and are computed once, when both are as they will be. */
  const changeAccess = async (): Promise<void> => {
    const [settings] = of('settings', 'update');
    const changeSettings = async () => settings && (await write(settings));
    const mappings = of('role_mapping', 'create', 'update', 'delete');
    if (mappings.length === 0) {
      if (settings) await attempt(settings.path, changeSettings);
      return;
    }
    const changes = {
      create: of('role_mapping', 'create').flatMap(({ item }) =>
        item ? [createRoleMappingBody.parse(item)] : [],
      ),
      update: of('role_mapping', 'update').flatMap(({ item, found }) =>
        item ? [{ id: found!.id, fields: createRoleMappingBody.parse(item) }] : [],
      ),
      delete: of('role_mapping', 'delete').map(({ found }) => found!.id),
      also: changeSettings,
    };
    await attempt('document.role_mappings', () => roleMappings.change(tx, actor, changes, reason));
    afterwards.set('access', () => roleMappings.changed());
  };

  await changeAccess();
  for (const kind of deletedFirst) await remove(kind);
  for (const kind of written) {
    for (const entry of of(kind, 'create', 'update')) await attempt(entry.path, () => write(entry));
  }
  // A thing with faults is not written, so things that it no longer needs would seem to be used.
  if (known.length + faults.length === 0) {
    for (const kind of deletedLast) await remove(kind);
    for (const { entry, check } of ends) await attempt(entry.path, check);
  }
  return { faults, afterwards };
};
