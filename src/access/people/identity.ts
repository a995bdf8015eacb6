import type { Tx } from '../../database/index.ts';
import type { Actor } from '../../lib/principal.ts';
import type { Claims, UserRow } from './store.ts';

/** A person as the provider describes them: the ID token and the response of UserInfo, verified and joined. */
export interface ProvidedIdentity {
  issuer: string;
  subject: string;
  claims: Claims;
}

/** The reason why a person may not sign in, or may not keep the session. */
export interface IdentityRefusal {
  reason: 'no_role' | 'suspended' | 'claims_incomplete';
  /** For the person: what is wrong, and who can help. */
  message: string;
}

/** The person, or why the person is refused. `details` are for the audit entry of the sign-in. */
export type IdentityResult =
  | { user: UserRow; details: Record<string, unknown> }
  | { user: null; refusal: IdentityRefusal; details: Record<string, unknown> };

/**
 * The rules that identify a person, in the transaction of a sign-in or refresh. Both take the
 * advisory lock `access`. A refusal may have changed the person (the role is gone), so it is committed as well.
 */
export interface Identities {
  /** Finds, binds or creates the person who signs in, and brings e-mail, name, claims and role up to date. */
  signIn(tx: Tx, actor: Actor, identity: ProvidedIdentity): Promise<IdentityResult>;
  /** The same for a person whose session the provider confirmed. */
  confirm(tx: Tx, actor: Actor, userId: string, identity: ProvidedIdentity): Promise<IdentityResult>;
}
