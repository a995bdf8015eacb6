import { z } from 'zod';
import { advisoryLock, type Database, type Tx } from '../../database/index.ts';
import { finder, jsonRoute, listPage, pageOf, type Route } from '../../http/index.ts';
import { notFound } from '../../lib/errors.ts';
import { afterDeletion, deletedWithKeys, endMadeKeysQuery, toEndedKeys } from './ended-keys.ts';
import type { PeopleParts } from './roles.ts';
import { findUser, listUsers, type UserRow } from './store.ts';
import {
  inviteBody,
  publicUser,
  toUserResponse,
  updatedUser,
  updateUserBody,
  userQuery,
  userWithClaims,
} from './user-schemas.ts';
import { deleteUser, inviteUser, updateUser } from './users.ts';

/** The person, under the lock of all changes to people. Throws 404 if another request deleted the person. */
const lockUser = async (tx: Tx, id: string): Promise<UserRow> => {
  await advisoryLock(tx, 'access');
  const user = await findUser(tx, id);
  if (!user) throw notFound('user');
  return user;
};

/** `onChange` runs after each change, so that no credential is cached on this replica when the response is sent. */
export const userRoutes = (db: Database, parts: PeopleParts, onChange: () => void): Route[] => {
  const find = finder(db, 'user', 'user_id', findUser);
  return [
    jsonRoute({
      id: 'listUsers',
      role: 'admin',
      scope: 'access:read',
      request: 'GET /users',
      summary: 'List users',
      description: 'Returns people and invitations, without their claims.',
      query: userQuery,
      response: pageOf('UserPage', publicUser),
      cache: 'never',
      handler: listPage(db, listUsers, toUserResponse),
    }),
    jsonRoute({
      id: 'inviteUser',
      role: 'admin',
      scope: 'access',
      request: 'POST /users',
      summary: 'Invite a user',
      description:
        'The person who signs in with this e-mail, verified by the identity provider, accepts the invitation. No message is sent.',
      body: inviteBody,
      response: publicUser,
      idempotent: true,
      cache: 'never',
      handler: async ({ body, actor, transaction }) =>
        transaction(async (tx) => {
          await advisoryLock(tx, 'access');
          return toUserResponse(await inviteUser(tx, actor, body));
        }),
    }),
    jsonRoute({
      id: 'getUser',
      role: 'admin',
      scope: 'access:read',
      request: 'GET /users/{user_id}',
      summary: 'Get a user',
      find,
      response: userWithClaims,
      cache: 'never',
      handler: async ({ found }) => ({ ...toUserResponse(found), claims: found.claims }),
    }),
    jsonRoute({
      id: 'updateUser',
      role: 'admin',
      scope: 'access',
      request: 'PATCH /users/{user_id}',
      summary: 'Update a user',
      description:
        'Sets the role, suspends or activates the person, or removes the identity. It is refused if it would leave no active administrator. The keys of a suspended person pause. Keys of the workspace that the person made end when the person is suspended or gets a lower role, unless `end_made_keys` is false.',
      find,
      body: updateUserBody,
      response: updatedUser,
      otherStatuses: [412],
      cache: 'never',
      handler: async ({ found, body, actor, transaction }) => {
        const updated = await transaction(async (tx) => {
          const { user, ended } = await updateUser(tx, actor, parts, await lockUser(tx, found.id), body);
          return { ...toUserResponse(user), ended_keys: toEndedKeys(ended) };
        });
        onChange();
        return updated;
      },
    }),
    jsonRoute({
      id: 'deleteUser',
      role: 'admin',
      scope: 'access',
      request: 'DELETE /users/{user_id}',
      summary: 'Delete a user',
      description:
        'Ends the sessions and the keys of the person, and the keys of the workspace that the person made, unless `end_made_keys` is false; `GET /api-keys?made_by=` lists these. Schedules and history stay. If a role mapping admits the person, the next sign-in makes a new person: suspend to keep someone out. The response is a 204, or, if `end_made_keys` is given or keys of the workspace ended, a 200 with `ended_keys`.',
      find,
      query: z.object({
        end_made_keys: endMadeKeysQuery.describe(
          'Whether the keys of the workspace that the person made, and that those made, end. Default: true.',
        ),
      }),
      response: deletedWithKeys.nullable(),
      otherStatuses: [412],
      cache: 'never',
      handler: async ({ found, query, actor, transaction }) => {
        const { end_made_keys } = query;
        const ended = await transaction(async (tx) =>
          deleteUser(tx, actor, parts, await lockUser(tx, found.id), end_made_keys ?? true),
        );
        onChange();
        return afterDeletion(ended, end_made_keys);
      },
    }),
  ];
};
