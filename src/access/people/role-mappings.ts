import { audit } from '../../audit/index.ts';
import type { Tx } from '../../database/index.ts';
import { unprocessable } from '../../lib/errors.ts';
import { newId } from '../../lib/ids.ts';
import type { Actor } from '../../lib/principal.ts';
import {
  deleteRoleMappingRow,
  findPair,
  insertRoleMapping,
  type RoleMappingRow,
  updateRoleMappingRow,
} from './role-mapping-store.ts';
import type { MappingFields } from './role-rules.ts';
import { applyPolicy, keepingAnAdmin, type PeopleParts } from './roles.ts';

/** The most mappings that there can be. */
export const maxRoleMappings = 500;

const fieldsOf = ({ claim, value, role, priority }: MappingFields): MappingFields => ({
  claim,
  value,
  role,
  priority,
});

const pairExists = () =>
  unprocessable([{ path: 'value', message: 'has a role mapping already for this claim' }]);

/** Creates the mapping and gives everyone the role that follows. Throws 422 for a second of a pair and for the 501st. */
export const createRoleMapping = async (
  tx: Tx,
  actor: Actor,
  parts: PeopleParts,
  fields: MappingFields,
): Promise<RoleMappingRow> => {
  const { count, id: other } = await findPair(tx, fields);
  if (other) throw pairExists();
  if (count >= maxRoleMappings) {
    throw unprocessable([
      { path: 'body', message: `there are ${maxRoleMappings} role mappings already, which is the most` },
    ]);
  }
  const mapping = await insertRoleMapping(tx, newId(), fields);
  await audit(tx, actor, 'role_mapping.create', mapping.id, { before: null, after: fieldsOf(mapping) });
  await keepingAnAdmin(tx, () => applyPolicy(tx, actor, parts, 'role_mapping.create'));
  return mapping;
};

/** Changes the mapping, and gives everyone the role that follows. Throws 422 if another has the claim and value. */
export const updateRoleMapping = async (
  tx: Tx,
  actor: Actor,
  parts: PeopleParts,
  row: RoleMappingRow,
  changes: Partial<MappingFields>,
): Promise<RoleMappingRow> => {
  const before = fieldsOf(row);
  const after = { ...before, ...changes };
  const { id: other } = await findPair(tx, after);
  if (other && other !== row.id) throw pairExists();
  if ((Object.keys(after) as (keyof MappingFields)[]).every((name) => after[name] === before[name])) {
    return row;
  }
  const mapping = await updateRoleMappingRow(tx, row.id, after);
  await audit(tx, actor, 'role_mapping.update', row.id, { before, after });
  await keepingAnAdmin(tx, () => applyPolicy(tx, actor, parts, 'role_mapping.update'));
  return mapping;
};

/** Deletes the mapping, and gives everyone the role that follows. */
export const deleteRoleMapping = async (
  tx: Tx,
  actor: Actor,
  parts: PeopleParts,
  row: RoleMappingRow,
): Promise<void> => {
  await deleteRoleMappingRow(tx, row.id);
  await audit(tx, actor, 'role_mapping.delete', row.id, { before: fieldsOf(row), after: null });
  await keepingAnAdmin(tx, () => applyPolicy(tx, actor, parts, 'role_mapping.delete'));
};
