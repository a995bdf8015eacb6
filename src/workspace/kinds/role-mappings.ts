import { createRoleMappingBody, type RoleMappingRules } from '../../access/index.ts';
import type { Item, Kind } from './kind.ts';
import { readBody } from './read.ts';

/**
 * Role mappings. They are not changed one by one: everyone's role is computed once, after all changes of a document
 * (`changeAccess` in ../run.ts).
 */
export const roleMappingKind = (rules: RoleMappingRules): Kind => ({
  kind: 'role_mapping',
  key: 'role_mappings',
  secrets: {},
  defaults: {},
  nameOf: ({ claim, value }) => `${claim}=${value}`,
  keyOf: ({ claim, value }) => JSON.stringify([claim, value]),
  list: async (executor) =>
    (await rules.list(executor)).map(({ id, claim, value, role, priority }) => ({
      id,
      name: `${claim}=${value}`,
      item: { claim, value, role, priority },
    })),
  read: (given) => {
    const { claim, value, role, priority } = readBody(createRoleMappingBody, given);
    return { claim, value, role, priority } as Item;
  },
  references: () => [],
  create: async () => '',
  update: async () => {},
  remove: async () => {},
});
