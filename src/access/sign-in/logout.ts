import type { Services } from '../../feature.ts';
import { sha256 } from '../../lib/crypto.ts';
import { ApiError, badRequest } from '../../lib/errors.ts';
import { isObject } from '../../lib/objects.ts';
import { type Actor, systemPrincipal } from '../../lib/principal.ts';
import type { Claims } from '../people/store.ts';
import { findUserByIdentity } from '../people/store.ts';
import type { Sessions } from '../sessions/sessions.ts';
import type { Discovery, OidcConfig } from './discovery.ts';
import { causeOf, clockToleranceSeconds } from './failures.ts';
import type { ProviderKeys } from './keys.ts';
import { insertUsedOnce } from './store.ts';
import { sidOf, subjectOf, verifyJwt } from './tokens.ts';

/** The greatest age of a logout token, in seconds, without the tolerance for clocks. */
const maxAgeSeconds = 300;
const event = 'http://schemas.openid.net/event/backchannel-logout';

export interface LogoutParts extends Pick<Services, 'db' | 'log' | 'clock'> {
  oidc: OidcConfig;
  discovery: Discovery;
  keys: ProviderKeys;
  sessions: Sessions;
}

/** The content of a valid logout token. */
interface LogoutToken {
  jti: string;
  issuedAt: Date;
  /** The rest of its validity, in seconds. */
  validFor: number;
  sid: string | null;
  subject: string | null;
}

const isType = (type: unknown): boolean =>
  type === undefined || (typeof type === 'string' && /^(?:jwt|logout\+jwt)$/i.test(type));

/**
 * Returns why the claims of a verified token are no logout (OpenID Connect Back-Channel Logout 1.0, section 2.6); or
 * null.
 */
const faultOf = (claims: Claims, { issuer, clientId }: OidcConfig, now: number): string | null => {
  const { iss, aud, iat, exp, jti, events, sub, sid } = claims;
  if (iss !== issuer) return '`iss` is another issuer';
  if (![aud].flat().includes(clientId)) return '`aud` is another client';
  if (typeof exp !== 'number' || exp <= now - clockToleranceSeconds) return '`exp` is missing or in the past';
  if (typeof iat !== 'number' || iat > now + clockToleranceSeconds)
    return '`iat` is missing or in the future';
  if (iat < now - maxAgeSeconds - clockToleranceSeconds) return '`iat` is more than 5 minutes ago';
  if (typeof jti !== 'string' || jti === '') return '`jti` is missing';
  const ownEvent = isObject(events) && Object.hasOwn(events, event) ? events[event] : undefined;
  if (!isObject(ownEvent)) return '`events` names no back-channel logout';
  if (Object.hasOwn(claims, 'nonce')) return '`nonce` must not be there';
  if (sub !== undefined && subjectOf(claims) === null) return '`sub` is no subject';
  if (sid !== undefined && typeof sid !== 'string') return '`sid` is no text';
  return sub === undefined && sid === undefined ? '`sub` and `sid` are missing' : null;
};

/** Ends the sessions that the provider has ended (OpenID Connect Back-Channel Logout 1.0). */
export class BackChannelLogout {
  readonly #parts: LogoutParts;

  constructor(parts: LogoutParts) {
    this.#parts = parts;
  }

  /** Ends the sessions that the token names. Rejects with 400 if it is not valid, and 503 if it cannot be verified. */
  async logOut(jwt: string, actor: Actor): Promise<void> {
    const { db, log, sessions } = this.#parts;
    const token = await this.#verify(jwt);
    const provider = { ...actor, principal: systemPrincipal('identity_provider', 'the identity provider') };
    const ended = await db.tx(async (tx) => {
      // In the transaction that ends the sessions: a token whose logout failed can be sent again.
      const first = await insertUsedOnce(tx, sha256(`logout token ${token.jti}`), token.validFor);
      if (!first) throw badRequest('The logout token was used already.');
      const before = token.issuedAt;
      if (token.sid !== null) {
        return sessions.endOf(tx, provider, { providerSid: token.sid, before }, 'back_channel');
      }
      const user = await findUserByIdentity(tx, this.#parts.oidc.issuer, token.subject!);
      if (!user) return 0;
      return sessions.endOf(tx, provider, { providerUserId: user.id, before }, 'back_channel');
    });
    sessions.onChange();
    log.info({ request_id: actor.requestId, sessions: ended }, 'the identity provider logged a person out');
  }

  async #verify(jwt: string): Promise<LogoutToken> {
    const { oidc, discovery, keys, clock } = this.#parts;
    const { id_token_signing_alg_values_supported: algorithms } = await discovery.get();
    const invalid = (why: string) => badRequest(`The logout token is not valid: ${why}.`);
    const { type, claims } = await verifyJwt(jwt, keys, algorithms).catch((error) => {
      if (error instanceof ApiError && error.code === 'service_unavailable') throw error;
      this.#parts.log.info({ cause: causeOf(error) }, 'a logout token could not be verified');
      throw invalid('its signature or its form does not hold');
    });
    if (!isType(type)) throw invalid('its `typ` is another');
    const now = Math.floor(clock.now() / 1000);
    const fault = faultOf(claims, oidc, now);
    if (fault) throw invalid(fault);
    const { jti, iat, exp } = claims as { jti: string; iat: number; exp: number };
    const until = Math.min(exp, iat + maxAgeSeconds) + clockToleranceSeconds;
    return {
      jti,
      issuedAt: new Date(Math.floor(iat) * 1000),
      validFor: Math.ceil(until - now) + 1,
      sid: claims.sid === undefined ? null : (sidOf(claims) ?? ''),
      subject: subjectOf(claims),
    };
  }
}
