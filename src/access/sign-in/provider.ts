import type { ProvidedIdentity } from '../people/identity.ts';

/** The tokens of a session at the provider; null where the provider gives none. */
export interface ProviderTokens {
  idToken: string | null;
  refreshToken: string | null;
}

/**
 * The outcome of a refresh. `ended`: the provider refuses the person. `unavailable`: it neither confirmed nor refused the
 * person; ask again.
 */
export type RefreshResult =
  /** The tokens replace those of the session: an older token that is still good is among them. */
  | { outcome: 'confirmed'; identity: ProvidedIdentity; tokens: ProviderTokens }
  | { outcome: 'ended'; reason: string }
  /** `refreshToken`: the provider replaced the token before it failed. The old one is not valid any more. */
  | { outcome: 'unavailable'; reason: string; refreshToken?: string };

/** The identity of the person of a session. */
export interface ExpectedIdentity {
  issuer: string;
  subject: string;
  /**
   * The ID token of the session. If the provider sends no new one, its claims still hold, unless UserInfo has newer ones.
   */
  idToken: string | null;
}

/** The identity provider, as sessions need it. */
export interface IdentityProvider {
  /** Asks the provider to confirm the person. Takes at most 10 s, and never rejects. */
  refresh(refreshToken: string, expected: ExpectedIdentity): Promise<RefreshResult>;
  /** The address at which a browser ends its session at the provider (RP-Initiated Logout); null if there is none. */
  endSessionUrl(idToken: string): string | null;
  /** Revokes the token at the provider, if it can (RFC 7009). Takes at most 10 s, and never rejects. */
  revoke(refreshToken: string): Promise<void>;
}
