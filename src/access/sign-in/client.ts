import {
  authorizationCodeGrant,
  buildAuthorizationUrl,
  buildEndSessionUrl,
  calculatePKCECodeChallenge,
  ResponseBodyError,
  refreshTokenGrant,
  tokenRevocation,
} from 'openid-client';
import { withTimeout } from '../../lib/with-timeout.ts';
import type { ProvidedIdentity } from '../people/identity.ts';
import { joinClaims, parseClaims, payloadText } from './claims.ts';
import { type Conversation, type ConversationParts, openConversation, readUserInfo } from './conversation.ts';
import { causeOf, SignInError, toSignInError } from './failures.ts';
import type { Flow } from './flow.ts';
import type { ExpectedIdentity, IdentityProvider, ProviderTokens, RefreshResult } from './provider.ts';
import { readIdToken, sidOf } from './tokens.ts';

/** The time limit of a whole conversation, in milliseconds. A request in it takes at most 10 s. */
const signInMs = 20_000;
const refreshMs = 10_000;

/** The provider will not confirm the person again (RFC 6749, section 5.2; OpenID Connect Core 1.0, section 3.1.2.6). */
const final = [
  'invalid_grant',
  'access_denied',
  'login_required',
  'consent_required',
  'interaction_required',
];

export interface VerifiedSignIn {
  identity: ProvidedIdentity;
  tokens: ProviderTokens;
  /** The provider's session; null if it names none. */
  sid: string | null;
}

interface ClientParts extends ConversationParts {
  publicUrl: string;
}

/** The parameters with which the provider sends a browser back. */
export interface CallbackParameters {
  code?: string | undefined;
  state: string;
  iss?: string | undefined;
  error?: string | undefined;
}

/** This platform as a client of the identity provider (OpenID Connect Core 1.0). Every request goes through `lib/egress`. */
export class OidcClient implements IdentityProvider {
  readonly #parts: ClientParts;

  constructor(parts: ClientParts) {
    this.#parts = parts;
  }

  get #redirectUri(): string {
    return `${this.#parts.publicUrl}/app/api/sign-in/callback`;
  }

  get #now(): number {
    return Math.floor(this.#parts.clock.now() / 1000);
  }

  /** Returns where the browser is sent to sign in. Rejects with 503 `provider_unavailable`. */
  async authorizationUrl({ state, nonce, verifier }: Flow): Promise<string> {
    const { oidc, discovery } = this.#parts;
    const metadata = await discovery.get();
    const offline = metadata.scopes_supported?.includes('offline_access') ? ['offline_access'] : [];
    const parameters = new URLSearchParams([
      ...oidc.parameters.map(([name, value]): [string, string] => [name, value]),
      ['redirect_uri', this.#redirectUri],
      ['response_type', 'code'],
      ['response_mode', 'query'],
      ['scope', (oidc.scopes ?? ['openid', 'profile', 'email', ...offline]).join(' ')],
      ['state', state],
      ['nonce', nonce],
      ['code_challenge', await calculatePKCECodeChallenge(verifier)],
      ['code_challenge_method', 'S256'],
    ]);
    return buildAuthorizationUrl(openConversation(this.#parts, metadata, signInMs).configuration, parameters)
      .href;
  }

  /** Exchanges the code for a verified identity. Rejects with SignInError. */
  async exchange(parameters: CallbackParameters, { state, nonce, verifier }: Flow): Promise<VerifiedSignIn> {
    const { oidc, discovery } = this.#parts;
    const conversation = openConversation(this.#parts, await discovery.get(), signInMs);
    const callback = new URL(this.#redirectUri);
    for (const [name, value] of Object.entries(parameters)) {
      if (value !== undefined) callback.searchParams.set(name, value);
    }
    try {
      const tokens = await authorizationCodeGrant(conversation.configuration, callback, {
        expectedState: state,
        expectedNonce: nonce,
        pkceCodeVerifier: verifier,
        idTokenExpected: true,
      });
      const fromToken = readIdToken(tokens.id_token!, oidc.clientId, this.#now);
      const userInfo = await readUserInfo(conversation, tokens.access_token);
      if (userInfo && userInfo.sub !== fromToken.sub) {
        throw new SignInError('token_invalid', 'UserInfo is about another subject');
      }
      const identity = {
        issuer: oidc.issuer,
        subject: fromToken.sub,
        claims: joinClaims(userInfo ?? {}, fromToken),
      };
      const { id_token: idToken = null, refresh_token: refreshToken = null } = tokens;
      return { identity, tokens: { idToken, refreshToken }, sid: sidOf(fromToken) };
    } catch (error) {
      throw toSignInError(error, this.#now);
    }
  }

  async refresh(refreshToken: string, expected: ExpectedIdentity): Promise<RefreshResult> {
    const { oidc, discovery } = this.#parts;
    // This provider must not see a refresh token of another provider.
    if (expected.issuer !== oidc.issuer) return { outcome: 'ended', reason: 'another_issuer' };
    let conversation: Conversation | undefined;
    const ask = async (): Promise<RefreshResult> => {
      conversation = openConversation(this.#parts, await discovery.get(), refreshMs);
      return this.#refresh(conversation, refreshToken, expected);
    };
    try {
      // The keys and the metadata have limits of their own.
      return await withTimeout(ask(), refreshMs);
    } catch (error) {
      if (error instanceof ResponseBodyError && final.includes(error.error)) {
        return { outcome: 'ended', reason: causeOf(error) };
      }
      const reason = causeOf(toSignInError(error, this.#now));
      const replaced = conversation?.refreshToken;
      return { outcome: 'unavailable', reason, ...(replaced !== undefined && { refreshToken: replaced }) };
    }
  }

  async #refresh(
    conversation: Conversation,
    refreshToken: string,
    expected: ExpectedIdentity,
  ): Promise<RefreshResult> {
    const { oidc } = this.#parts;
    const tokens = await refreshTokenGrant(conversation.configuration, refreshToken);
    const { id_token: idToken = expected.idToken } = tokens;
    const fresh =
      tokens.id_token === undefined ? null : readIdToken(tokens.id_token, oidc.clientId, this.#now);
    const userInfo = await readUserInfo(conversation, tokens.access_token);
    const subjects = [fresh?.sub, userInfo?.sub].filter((sub) => sub !== undefined);
    if (subjects.some((sub) => sub !== expected.subject)) {
      return { outcome: 'ended', reason: 'another_subject' };
    }
    if (!userInfo && idToken === null) throw new SignInError('provider_unavailable', 'no claims');
    // A claim that the provider does not send again still holds; the newest value wins.
    const kept = fresh || idToken === null ? {} : parseClaims(payloadText(idToken));
    const claims = joinClaims(kept, userInfo ?? {}, fresh ?? {});
    return {
      outcome: 'confirmed',
      identity: { issuer: oidc.issuer, subject: expected.subject, claims },
      tokens: { idToken, refreshToken: tokens.refresh_token ?? refreshToken },
    };
  }

  endSessionUrl(idToken: string): string | null {
    const { discovery, publicUrl } = this.#parts;
    const { metadata } = discovery;
    if (!metadata?.end_session_endpoint) return null;
    return buildEndSessionUrl(openConversation(this.#parts, metadata, refreshMs).configuration, {
      id_token_hint: idToken,
      post_logout_redirect_uri: `${publicUrl}/`,
    }).href;
  }

  async revoke(refreshToken: string): Promise<void> {
    const { metadata } = this.#parts.discovery;
    if (!metadata?.revocation_endpoint) return;
    const { configuration } = openConversation(this.#parts, metadata, refreshMs);
    // A token that is not revoked ends by itself.
    await tokenRevocation(configuration, refreshToken, { token_type_hint: 'refresh_token' }).catch(() => {});
  }
}
