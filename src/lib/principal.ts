/** The three roles, least first: each may do all that the ones before it may (product, section 4). */
export const roles = ['member', 'builder', 'admin'] as const;
export type Role = (typeof roles)[number];

/** What an operation requires: a role at least, or nothing, not even a key. */
export type RequiredRole = Role | 'anyone';

/** Whether `role` is at least `required`. */
export const roleAllows = (role: Role, required: Role): boolean =>
  roles.indexOf(role) >= roles.indexOf(required);

/** Who a request acts as. `id` is the API key's or the person's, and is what limits and history are kept by. */
export interface Principal {
  kind: 'service_account' | 'person' | 'system';
  id: string;
  name: string;
  role: Role;
  /** The key that authenticated the request; null for a session of the application or the platform itself. */
  keyId: string | null;
}

/** Who acts, and in which request: what the audit log says of a change. */
export interface Actor {
  principal: Principal;
  /** Null for what the platform does by itself. */
  requestId: string | null;
}

/** Whom an operation for anyone acts as. */
export const anonymous: Principal = {
  kind: 'system',
  id: 'anonymous',
  name: 'anonymous',
  role: 'member',
  keyId: null,
};
