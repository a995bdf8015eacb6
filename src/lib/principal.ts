/** The three roles, lowest first. Each may do all that the roles before it may. */
export const roles = ['member', 'builder', 'admin'] as const;
export type Role = (typeof roles)[number];

/** The lowest role that an operation requires; `anyone` needs no key. */
export type RequiredRole = Role | 'anyone';

/** Returns whether `role` is at least `required`. */
export const roleAllows = (role: Role, required: Role): boolean =>
  roles.indexOf(role) >= roles.indexOf(required);

/** The groups of operations that a key can be limited to. */
const scopeGroups = [
  'telemetry',
  'work_items',
  'schedules',
  'triggers',
  'agents',
  'evaluations',
  'costs',
  'conversations',
  'reviews',
  'alerts',
  'observability',
  'llm',
  'data',
  'settings',
  'access',
  'audit',
  'workspace',
] as const;
type ScopeGroup = (typeof scopeGroups)[number];

/** A group of operations, or only those of it that change nothing. */
export type Scope = ScopeGroup | `${ScopeGroup}:read`;
export const scopes: readonly Scope[] = scopeGroups.flatMap((group) => [group, `${group}:read`] as const);

/**
 * Returns whether `granted` (null: everything) contains `required` (null: nothing is required). `x` contains `x:read`.
 */
export const scopesAllow = (granted: readonly Scope[] | null, required: Scope | null): boolean =>
  granted === null ||
  required === null ||
  granted.includes(required) ||
  granted.includes(required.replace(/:read$/, '') as Scope);

/**
 * Who a request acts as. `id` is that of the person, or of the first API key of the service account: a rotation does not
 * change it. History, conversations and idempotency keys belong to it.
 */
export interface Principal {
  kind: 'service_account' | 'person' | 'system' | 'unknown';
  id: string;
  /**
   * Whose limits count: the person, also for keys that belong to the person; else the service account of the workspace,
   * which is also that of the keys that it made; else `bootstrap`.
   */
  rootId: string;
  name: string;
  role: Role;
  /** The key that authenticated the request or its session; null for a person's session and for the platform itself. */
  keyId: string | null;
  /** The scopes that the key is limited to; null: everything that the role allows. */
  scopes: readonly Scope[] | null;
  /** The session of the application; null if the request had a key, and for the platform itself. */
  sessionId: string | null;
}

/** A principal as a history names it: still readable when the key or the person is gone. */
export type Who = Pick<Principal, 'kind' | 'id' | 'name'>;

export const mayCall = ({ role, scopes }: Principal, required: Role, scope: Scope): boolean =>
  roleAllows(role, required) && scopesAllow(scopes, scope);

/** Who acts, and in which request. The audit log records both. */
export interface Actor {
  principal: Principal;
  /** Null if the platform itself acts, like the two fields below. */
  requestId: string | null;
  /** The address of the client, behind trusted proxies. */
  ip: string | null;
  userAgent: string | null;
  /** `channel`: by a click in a channel, for whose person that channel vouches. */
  via?: 'channel';
}

/** The platform itself, as a principal with this id and name. */
export const systemPrincipal = (id: string, name: string): Principal => ({
  kind: 'system',
  id,
  rootId: id,
  name,
  role: 'admin',
  keyId: null,
  scopes: null,
  sessionId: null,
});

/** The actor of what the platform does by itself, outside any request. */
export const systemActor: Actor = {
  principal: systemPrincipal('system', 'the platform'),
  requestId: null,
  ip: null,
  userAgent: null,
};

/** The principal of a request without a key, to an operation for anyone. */
export const anonymous: Principal = {
  ...systemPrincipal('anonymous', 'anonymous'),
  kind: 'unknown',
  role: 'member',
};
