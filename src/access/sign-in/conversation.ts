import {
  allowInsecureRequests,
  ClientSecretBasic,
  ClientSecretPost,
  Configuration,
  clockSkew,
  clockTolerance,
  customFetch,
  enableNonRepudiationChecks,
  fetchProtectedResource,
} from 'openid-client';
import type { Clock } from '../../lib/clock.ts';
import type { Egress } from '../../lib/egress.ts';
import type { Claims } from '../people/store.ts';
import { decodeText, parseClaims } from './claims.ts';
import type { Discovery, OidcConfig, ProviderMetadata } from './discovery.ts';
import { causeOf, clockToleranceSeconds, SignInError } from './failures.ts';
import type { ProviderKeys } from './keys.ts';
import { providerFetch } from './provider-fetch.ts';
import { keyIdOf, verifyJwt } from './tokens.ts';

export interface ConversationParts {
  oidc: OidcConfig;
  discovery: Discovery;
  keys: ProviderKeys;
  egress: Egress;
  clock: Clock;
}

/** A few requests to the provider that belong together. */
export interface Conversation {
  parts: ConversationParts;
  metadata: ProviderMetadata;
  /** The library with this provider. It verifies the signature of every ID token. */
  configuration: Configuration;
  /** The refresh token that the provider last sent, also in a response that did not hold otherwise. */
  refreshToken: string | undefined;
}

/** The library's configuration, without a fetch. */
const configure = (
  { oidc, clock }: ConversationParts,
  { token_endpoint_auth_methods_supported: methods, ...metadata }: ProviderMetadata,
): Configuration => {
  // RFC 8414, section 2: the default is client_secret_basic.
  const basic = methods === undefined || methods.includes('client_secret_basic');
  const authenticate = basic ? ClientSecretBasic : ClientSecretPost;
  const times = {
    [clockTolerance]: clockToleranceSeconds,
    [clockSkew]: Math.round((clock.now() - Date.now()) / 1000),
  };
  const secret = authenticate(oidc.clientSecret.reveal());
  const configuration = new Configuration(metadata, oidc.clientId, times, secret);
  // Its own limit would be one for each request.
  configuration.timeout = 0;
  enableNonRepudiationChecks(configuration);
  if (oidc.issuer.startsWith('http:')) allowInsecureRequests(configuration);
  return configuration;
};

/**
 * Opens a conversation of at most `withinMs` in all. The library gets the provider's keys from the shared cache, which is
 * asked for the key that the token names.
 */
export const openConversation = (
  parts: ConversationParts,
  metadata: ProviderMetadata,
  withinMs: number,
): Conversation => {
  const configuration = configure(parts, metadata);
  const conversation: Conversation = { parts, metadata, configuration, refreshToken: undefined };
  const fetch = providerFetch(parts.egress, withinMs);
  const keysUrl = new URL(metadata.jwks_uri).href;
  let keyId: string | undefined;
  configuration[customFetch] = async (url, options) => {
    if (url === keysUrl) return Response.json(await parts.keys.get(keyId));
    const response = await fetch(url, options);
    if (options.method !== 'POST') return response;
    const body = (await response
      .clone()
      .json()
      .catch(() => null)) as Record<string, unknown> | null;
    keyId = keyIdOf(body?.id_token);
    if (typeof body?.refresh_token === 'string') conversation.refreshToken = body.refresh_token;
    return response;
  };
  return conversation;
};

const unavailable = (what: string) => new SignInError('provider_unavailable', `UserInfo: ${what}`);

/** UserInfo as a signed JWT (OpenID Connect Core 1.0, section 5.3.2). */
const readSignedUserInfo = async ({ parts, metadata }: Conversation, jwt: string): Promise<Claims> => {
  const { oidc, keys } = parts;
  const algorithms = metadata.id_token_signing_alg_values_supported;
  const { claims } = await verifyJwt(jwt, keys, algorithms).catch((error) => {
    throw unavailable(`its signature: ${causeOf(error)}`);
  });
  const audiences = [claims.aud].flat();
  if (claims.iss !== oidc.issuer || !audiences.includes(oidc.clientId))
    throw unavailable('not signed for us');
  return claims;
};

/**
 * Resolves to what UserInfo says, not yet compared with the token's subject; null if the provider has no such endpoint.
 * Rejects with 503 if it fails: a person whose groups are unknown is not a person without groups.
 */
export const readUserInfo = async (
  conversation: Conversation,
  accessToken: string,
): Promise<Claims | null> => {
  const { configuration, metadata } = conversation;
  if (metadata.userinfo_endpoint === undefined) return null;
  const url = new URL(metadata.userinfo_endpoint);
  const headers = new Headers({ accept: 'application/json, application/jwt' });
  const response = await fetchProtectedResource(configuration, accessToken, url, 'GET', null, headers);
  if (response.status !== 200) throw unavailable(`status ${response.status}`);
  const text = decodeText(await response.arrayBuffer());
  if (text === null) throw unavailable('not UTF-8');
  const type = response.headers.get('content-type')?.split(';')[0]?.trim().toLowerCase();
  if (type === 'application/jwt') return readSignedUserInfo(conversation, text);
  if (!/^\s*\{/.test(text)) throw unavailable('no JSON object');
  return parseClaims(text, () => unavailable('no JSON object'));
};
