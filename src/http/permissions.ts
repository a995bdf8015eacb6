import { ApiError } from '../lib/errors.ts';
import { type Principal, type RequiredRole, roleAllows, type Scope, scopesAllow } from '../lib/principal.ts';
import type { RouteGroup } from './route.ts';

interface Permission {
  /** The operationId. */
  id: string;
  /** The least role that may call the operation. */
  role: RequiredRole;
  /** The scope that a key with scopes must have. */
  scope: Scope | null;
  method: string;
  /** With the first base of the route. */
  path: string;
}

/** Returns the permission of every operation, in the order of the groups. Throws if two operations have the same id. */
export const permissionsOf = (groups: readonly RouteGroup[]): Permission[] => {
  const permissions = groups.flatMap(({ routes = [], rawRoutes = [] }) => [
    ...routes.map((route) => ({
      id: route.id,
      role: route.role,
      scope: route.scope,
      method: route.method,
      path: route.bases[0]! + route.path,
    })),
    ...rawRoutes.map(({ document: { id, role, scope }, paths }) => ({
      id,
      role,
      scope,
      method: 'POST',
      path: paths[0]!,
    })),
  ]);
  const ids = permissions.map(({ id }) => id);
  const twice = ids.find((id, i) => ids.indexOf(id) !== i);
  if (twice !== undefined) throw new Error(`two operations have the id ${twice}`);
  return permissions;
};

/** Throws 403 unless the principal has the role and the scope that an operation requires. */
export const checkPermission = (
  required: Pick<Permission, 'role' | 'scope'>,
  { role, scopes }: Principal,
): void => {
  if (required.role !== 'anyone' && !roleAllows(role, required.role)) {
    throw new ApiError('forbidden', `This requires the role ${required.role}; your role is ${role}.`);
  }
  if (!scopesAllow(scopes, required.scope)) {
    throw new ApiError(
      'forbidden',
      `This requires the scope ${required.scope}, which the API key does not have.`,
    );
  }
};
