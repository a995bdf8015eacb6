import { type AuthProvider, auth, ClientCredentialsProvider } from '@modelcontextprotocol/client';
import type { Egress } from '../../lib/egress.ts';
import type { OAuthSettings } from '../settings.ts';
import { ConnectionFailure, egressErrorOf, TokenFailure } from './failures.ts';
import { createPlainFetch } from './http-fetch.ts';

/**
 * Gets access tokens with client credentials, from the configured issuer and from no other: what the server says about
 * its authorization server is not asked.
 */
export const createTokens = (
  egress: Egress,
  { client_id, client_secret, issuer, scope }: OAuthSettings,
): AuthProvider => {
  class Provider extends ClientCredentialsProvider {
    discoveryState() {
      return { authorizationServerUrl: issuer };
    }
  }
  const provider = new Provider({
    clientId: client_id,
    clientSecret: client_secret,
    expectedIssuer: issuer,
    ...(scope === undefined ? {} : { scope }),
  });
  const plainFetch = createPlainFetch(egress);
  return {
    token: async () => provider.tokens()?.access_token,
    onUnauthorized: async ({ serverUrl }) => {
      let unavailable: number | null = null;
      const fetchFn: typeof plainFetch = async (url, init) => {
        const response = await plainFetch(url, init);
        if (response.status >= 500 || response.status === 429) unavailable = response.status;
        return response;
      };
      try {
        await auth(provider, { serverUrl, fetchFn, ...(scope === undefined ? {} : { scope }) });
      } catch (error) {
        const egressError = egressErrorOf(error);
        if (egressError) throw egressError;
        if (unavailable !== null) {
          throw new ConnectionFailure('negotiate', `The authorization server returned HTTP ${unavailable}.`);
        }
        throw new TokenFailure('The authorization server did not give an access token.');
      }
    },
  };
};
