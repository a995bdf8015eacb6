import type { Principal, Role } from '../../lib/principal.ts';
import type { AccessKey } from '../keys/key-principal.ts';
import type { SessionOfRequest } from './store.ts';

/** Returns a person who signed in with the provider, as a principal. */
export const personPrincipal = (id: string, name: string, role: Role): Principal => ({
  kind: 'person',
  id,
  rootId: id,
  name,
  role,
  keyId: null,
  scopes: null,
  sessionId: null,
});

/** Returns the person of a session that was made with the provider, as a principal; null without access. */
export const personOfSession = ({ user_id, user_name, user_role, user_status }: SessionOfRequest) =>
  user_status === 'active' && user_role !== null ? personPrincipal(user_id!, user_name!, user_role) : null;

/** Returns the key that a session was made with. */
export const keyOfSession = (session: SessionOfRequest): AccessKey => ({
  ...session,
  id: session.key_id!,
  kind: session.key_kind!,
  name: session.key_name!,
  scopes: session.key_scopes,
});
