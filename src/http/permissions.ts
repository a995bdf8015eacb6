import type { RequiredRole } from '../lib/principal.ts';
import { basesOf, type RouteGroup } from './route.ts';

interface Permission {
  /** The operationId. */
  id: string;
  /** The least role that may call the operation. */
  role: RequiredRole;
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
      method: route.method,
      path: basesOf(route)[0] + route.path,
    })),
    ...rawRoutes.map(({ document: { id, role }, paths }) => ({ id, role, method: 'POST', path: paths[0]! })),
  ]);
  const ids = permissions.map(({ id }) => id);
  const twice = ids.find((id, i) => ids.indexOf(id) !== i);
  if (twice !== undefined) throw new Error(`two operations have the id ${twice}`);
  return permissions;
};
