import { audit } from '../../audit/index.ts';
import { advisoryLock, type Tx } from '../../database/index.ts';
import { unprocessable } from '../../lib/errors.ts';
import { newId } from '../../lib/ids.ts';
import type { Actor } from '../../lib/principal.ts';
import type { ChangesOf } from '../../resource/index.ts';
import { checkGivesRoles } from './giving-roles.ts';
import {
  deleteRoleMappingRow,
  findPair,
  insertRoleMapping,
  listAllRoleMappings,
  type MappingFields,
  type RoleMappingRow,
  roleMappings,
} from './role-mapping-store.ts';
import { applyPolicy, keepingAnAdmin, type PeopleParts } from './roles.ts';

/** The most mappings that there can be. */
export const maxRoleMappings = 500;

/** The fields of a mapping, for the audit log. */
const fieldsOf = (row: MappingFields) => roleMappings.write(row);

const pairExists = () =>
  unprocessable([{ path: 'value', message: 'has a role mapping already for this claim' }]);

/** Creates the mapping. Throws 422 for a second of a pair and for the 501st. */
const addMapping = async (tx: Tx, actor: Actor, fields: MappingFields): Promise<RoleMappingRow> => {
  const { count, id: other } = await findPair(tx, fields);
  if (other) throw pairExists();
  if (count >= maxRoleMappings) {
    throw unprocessable([
      { path: 'body', message: `there are ${maxRoleMappings} role mappings already, which is the most` },
    ]);
  }
  const mapping = await insertRoleMapping(tx, newId(), fields);
  await audit(tx, actor, 'role_mapping.create', mapping.id, { before: null, after: fieldsOf(mapping) });
  return mapping;
};

/** Changes the mapping. Returns `row` itself if nothing changes. Throws 422 if another has the claim and value. */
const changeMapping = async (
  tx: Tx,
  actor: Actor,
  row: RoleMappingRow,
  changes: ChangesOf<typeof roleMappings>,
): Promise<RoleMappingRow> => {
  const before = fieldsOf(row);
  const after = roleMappings.merge(before, changes);
  const { id: other } = await findPair(tx, after);
  if (other && other !== row.id) throw pairExists();
  if ((Object.keys(after) as (keyof MappingFields)[]).every((name) => after[name] === before[name])) {
    return row;
  }
  const mapping = await roleMappings.update(tx, row.id, changes);
  await audit(tx, actor, 'role_mapping.update', row.id, { before, after });
  return mapping;
};

const removeMapping = async (tx: Tx, actor: Actor, row: RoleMappingRow): Promise<void> => {
  await deleteRoleMappingRow(tx, row.id);
  await audit(tx, actor, 'role_mapping.delete', row.id, { before: fieldsOf(row), after: null });
};

/**
 * Gives everyone the role that follows. Throws 403 for a key with scopes, and 412 if that leaves no active administrator.
 */
const evaluate = async (tx: Tx, actor: Actor, parts: PeopleParts, reason: string): Promise<number> => {
  checkGivesRoles(actor.principal);
  return keepingAnAdmin(tx, () => applyPolicy(tx, actor, parts, reason));
};

/** Creates the mapping and gives everyone the role that follows. Throws 422 for a second of a pair and for the 501st. */
export const createRoleMapping = async (
  tx: Tx,
  actor: Actor,
  parts: PeopleParts,
  fields: MappingFields,
): Promise<RoleMappingRow> => {
  const mapping = await addMapping(tx, actor, fields);
  await evaluate(tx, actor, parts, 'role_mapping.create');
  return mapping;
};

/** Changes the mapping, and gives everyone the role that follows. Throws 422 if another has the claim and value. */
export const updateRoleMapping = async (
  tx: Tx,
  actor: Actor,
  parts: PeopleParts,
  row: RoleMappingRow,
  changes: ChangesOf<typeof roleMappings>,
): Promise<RoleMappingRow> => {
  const mapping = await changeMapping(tx, actor, row, changes);
  if (mapping !== row) await evaluate(tx, actor, parts, 'role_mapping.update');
  return mapping;
};

/** Deletes the mapping, and gives everyone the role that follows. */
export const deleteRoleMapping = async (
  tx: Tx,
  actor: Actor,
  parts: PeopleParts,
  row: RoleMappingRow,
): Promise<void> => {
  await removeMapping(tx, actor, row);
  await evaluate(tx, actor, parts, 'role_mapping.delete');
};

/** Changes of many mappings at once. Those that are deleted make room for those that are created. */
export interface RoleMappingChanges {
  create: readonly MappingFields[];
  update: readonly { id: string; fields: MappingFields }[];
  delete: readonly string[];
  /** Changes in the same transaction on which roles depend as well (DEFAULT_ROLE). */
  also: () => Promise<unknown>;
}

/** Makes all changes, and then gives everyone the role that follows, once: no step between counts. */
export const changeRoleMappings = async (
  tx: Tx,
  actor: Actor,
  parts: PeopleParts,
  changes: RoleMappingChanges,
  reason: string,
): Promise<void> => {
  await advisoryLock(tx, 'access');
  const rows = new Map((await listAllRoleMappings(tx)).map((row) => [row.id, row]));
  for (const id of changes.delete) await removeMapping(tx, actor, rows.get(id)!);
  for (const { id, fields } of changes.update) await changeMapping(tx, actor, rows.get(id)!, fields);
  for (const fields of changes.create) await addMapping(tx, actor, fields);
  await changes.also();
  await evaluate(tx, actor, parts, reason);
};
