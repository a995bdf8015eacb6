import { z } from 'zod';
import { advisoryLock, type Database, type Tx } from '../../database/index.ts';
import {
  finder,
  id,
  jsonRoute,
  listPage,
  optional,
  pageOf,
  pageQuery,
  type Route,
  timestamp,
} from '../../http/index.ts';
import { notFound } from '../../lib/errors.ts';
import {
  findRoleMapping,
  listRoleMappings,
  type RoleMappingRow,
  roleMappings,
} from './role-mapping-store.ts';
import { createRoleMapping, deleteRoleMapping, updateRoleMapping } from './role-mappings.ts';
import type { PeopleParts } from './roles.ts';

const roleMapping = z
  .object({ id, ...roleMappings.shown, created_at: timestamp, updated_at: timestamp })
  .meta({ id: 'RoleMapping' });

export const createBody = z.object(roleMappings.create).meta({ id: 'CreateRoleMappingBody' });
const updateBody = z.object(roleMappings.patch).meta({ id: 'UpdateRoleMappingBody' });

/** The schema of a proposed mapping, for the preview. */
export const proposedMapping = z.object({ id: optional(id, null), ...roleMappings.create });

/** The mapping, under the lock of all changes to people. Throws 404 if another request deleted it. */
const lockRoleMapping = async (tx: Tx, id: string): Promise<RoleMappingRow> => {
  await advisoryLock(tx, 'access');
  const mapping = await findRoleMapping(tx, id);
  if (!mapping) throw notFound('role mapping');
  return mapping;
};

const evaluated =
  'Everyone whose role is not set by hand gets the role that follows, at once. It is refused if it would leave no active administrator.';

/** `onChange` runs after each change, so that no credential is cached on this replica when the response is sent. */
export const roleMappingRoutes = (db: Database, parts: PeopleParts, onChange: () => void): Route[] => {
  const find = finder(db, 'role mapping', 'role_mapping_id', findRoleMapping);
  return [
    jsonRoute({
      id: 'listRoleMappings',
      role: 'admin',
      scope: 'access:read',
      request: 'GET /role-mappings',
      summary: 'List role mappings',
      query: pageQuery,
      response: pageOf('RoleMappingPage', roleMapping),
      cache: 'never',
      handler: listPage(db, listRoleMappings),
    }),
    jsonRoute({
      id: 'createRoleMapping',
      role: 'admin',
      scope: 'access',
      request: 'POST /role-mappings',
      summary: 'Create a role mapping',
      description: evaluated,
      body: createBody,
      response: roleMapping,
      otherStatuses: [412],
      idempotent: true,
      cache: 'never',
      handler: async ({ body, actor, transaction }) => {
        const mapping = await transaction(async (tx) => {
          await advisoryLock(tx, 'access');
          return createRoleMapping(tx, actor, parts, body);
        });
        onChange();
        return mapping;
      },
    }),
    jsonRoute({
      id: 'getRoleMapping',
      role: 'admin',
      scope: 'access:read',
      request: 'GET /role-mappings/{role_mapping_id}',
      summary: 'Get a role mapping',
      find,
      response: roleMapping,
      cache: 'never',
      handler: async ({ found }) => found,
    }),
    jsonRoute({
      id: 'updateRoleMapping',
      role: 'admin',
      scope: 'access',
      request: 'PATCH /role-mappings/{role_mapping_id}',
      summary: 'Update a role mapping',
      description: evaluated,
      find,
      body: updateBody,
      response: roleMapping,
      otherStatuses: [412],
      cache: 'never',
      handler: async ({ found, body, actor, transaction }) => {
        const mapping = await transaction(async (tx) =>
          updateRoleMapping(tx, actor, parts, await lockRoleMapping(tx, found.id), body),
        );
        onChange();
        return mapping;
      },
    }),
    jsonRoute({
      id: 'deleteRoleMapping',
      role: 'admin',
      scope: 'access',
      request: 'DELETE /role-mappings/{role_mapping_id}',
      summary: 'Delete a role mapping',
      description: evaluated,
      find,
      otherStatuses: [412],
      cache: 'never',
      handler: async ({ found, actor, transaction }) => {
        await transaction(async (tx) =>
          deleteRoleMapping(tx, actor, parts, await lockRoleMapping(tx, found.id)),
        );
        onChange();
      },
    }),
  ];
};
