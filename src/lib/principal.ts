/** The three roles, lowest first. Each may do all that the roles before it may (product, section 4). */
export const roles = ['member', 'builder', 'admin'] as const;
export type Role = (typeof roles)[number];

/** The lowest role that an operation requires; `anyone` needs no key. */
export type RequiredRole = Role | 'anyone';

/** Whether `role` is at least `required`. */
export const roleAllows = (role: Role, required: Role): boolean =>
  roles.indexOf(role) >= roles.indexOf(required);

/** Who a request acts as. `id` is that of the API key or the person. History and idempotency keys belong to it. */
export interface Principal {
  kind: 'service_account' | 'person' | 'system';
  id: string;
  name: string;
  role: Role;
  /** The key that authenticated the request; null for a session of the application and for the platform itself. */
  keyId: string | null;
}

/** Who acts, and in which request. The audit log records both. */
export interface Actor {
  principal: Principal;
  /** Null if the platform itself acts. */
  requestId: string | null;
}

/** The principal of a request without a key, to an operation for anyone. */
export const anonymous: Principal = {
  kind: 'system',
  id: 'anonymous',
  name: 'anonymous',
  role: 'member',
  keyId: null,
};
