import { createRoleMappingBody, type RoleMappings, roleMappings } from '../../access/index.ts';
import type { Kind } from '../kind.ts';
import { resourceKind } from '../resource-kind.ts';

/**
 * Role mappings. They are not changed one by one: everyone's role is computed once, after all changes of a document
 * (`changeAccess` in ../run.ts).
 */
export const roleMappingKind = (mappings: RoleMappings): Kind =>
  resourceKind({
    kind: 'role_mapping',
    key: 'role_mappings',
    fields: roleMappings.fields,
    body: createRoleMappingBody,
    defaults: {},
    namedBy: ['claim', 'value'],
    nameOf: ({ claim, value }) => `${claim}=${value}`,
    list: async (executor) =>
      (await mappings.list(executor)).map((row) => ({ id: row.id, values: { ...row } })),
    create: async () => ({ id: '' }),
    update: async () => {},
  });
