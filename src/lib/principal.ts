/** The three roles, least first: each may do all that the ones before it may (product, section 4). */
export const roles = ['member', 'builder', 'admin'] as const;
export type Role = (typeof roles)[number];

/** Whether `role` may do what needs `needed`. */
export const roleAllows = (role: Role, needed: Role): boolean => roles.indexOf(role) >= roles.indexOf(needed);

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
