import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { exportJWK, generateKeyPair, type JWK } from 'jose';
import type Provider from 'oidc-provider';
import type { Configuration } from 'oidc-provider';
import { listen } from './listen.ts';
import { callbackPath } from './sign-in.ts';
import { freePort } from './watchdog.ts';

/** The claims of a person; `sub` is the name of the account. */
export type AccountClaims = Record<string, unknown>;

export interface IdentityProvider extends AsyncDisposable {
  issuer: string;
  /** The variables for a platform on `port` of 127.0.0.1. */
  env: Record<string, string>;
  port: number;
  /** By subject. A test changes and removes them; a removed one gets `invalid_grant` at the next refresh. */
  accounts: Map<string, AccountClaims>;
  /** The paths that were requested, with their methods: `POST /token`. */
  requests: string[];
  /** Responds with 503 to every request while it is true. */
  down: boolean;
  /** Every response is held back for so many milliseconds. */
  delayMs: number;
  /** Sends a logout token to the platform: of the session `sid`, or of the person if it is undefined. */
  logOut(subject: string, sid?: string): Promise<void>;
  stop(): Promise<void>;
}

/** What the types of the library leave out. */
interface LogoutClient {
  backchannelLogoutSessionRequired: boolean;
  backchannelLogout(subject: string, sid: string | undefined): Promise<void>;
}

let signingKey: Promise<JWK> | undefined;
/** One key for all providers of the process: it takes a quarter of a second to make. */
const newSigningKey = (): Promise<JWK> => {
  signingKey ??= generateKeyPair('RS256', { extractable: true }).then(async ({ privateKey }) => ({
    ...(await exportJWK(privateKey)),
    kid: 'the-key',
    alg: 'RS256',
    use: 'sig',
  }));
  return signingKey;
};

/** oidc-provider says on the console that it is set up for tests. */
const silently = async <T>(fn: () => Promise<T>): Promise<T> => {
  const { info, warn } = console;
  console.info = console.warn = () => {};
  try {
    return await fn();
  } finally {
    Object.assign(console, { info, warn });
  }
};

/** The claims that accounts can have, next to those of the scopes `profile` and `email`. */
const openidClaims = [
  'sub',
  'sid',
  'groups',
  'roles',
  'department',
  'realm_access',
  'hasgroups',
  '_claim_names',
];

const configurationOf = (
  provider: Pick<IdentityProvider, 'accounts'>,
  publicUrl: string,
  key: JWK,
  { idTokenClaims, refreshTokens }: { idTokenClaims: boolean; refreshTokens: boolean },
): Configuration => ({
  clients: [
    {
      client_id: 'agent-platform',
      client_secret: 'the secret of agent-platform: & + %',
      redirect_uris: [publicUrl + callbackPath],
      post_logout_redirect_uris: [`${publicUrl}/`],
      grant_types: ['authorization_code', 'refresh_token'],
      backchannel_logout_uri: `${publicUrl}/app/api/sign-in/back-channel-logout`,
      backchannel_logout_session_required: true,
    },
  ],
  jwks: { keys: [key] },
  cookies: { keys: ['a key of the cookies'] },
  scopes: ['openid', 'offline_access'],
  claims: {
    openid: openidClaims,
    profile: ['name', 'preferred_username'],
    email: ['email', 'email_verified', 'xms_edov'],
  },
  conformIdTokenClaims: !idTokenClaims,
  findAccount: (_context, sub) => {
    const claims = provider.accounts.get(sub);
    return claims && { accountId: sub, claims: () => ({ ...claims, sub }) };
  },
  features: {
    devInteractions: { enabled: false },
    backchannelLogout: { enabled: true },
    revocation: { enabled: true, allowedPolicy: () => true },
    rpInitiatedLogout: {
      enabled: true,
      logoutSource: (context, form) => {
        context.body = form;
      },
    },
  },
  interactions: { url: (_context, { uid }) => `/interaction/${uid}` },
  issueRefreshToken: async () => refreshTokens,
  expiresWithSession: async () => false,
  rotateRefreshToken: true,
  pkce: { required: () => true },
  // Its own fetch does not go to loopback.
  fetch: (url, { dispatcher: _dispatcher, ...options }: RequestInit & { dispatcher?: unknown } = {}) =>
    fetch(url, options),
  loadExistingGrant: async ({ oidc }) => {
    const grant = new oidc.provider.Grant({
      clientId: oidc.client!.clientId,
      accountId: oidc.session!.accountId!,
    });
    grant.addOIDCScope('openid profile email offline_access');
    await grant.save();
    return grant;
  },
  ttl: {
    AccessToken: 600,
    IdToken: 600,
    RefreshToken: 86_400,
    Session: 86_400,
    Grant: 86_400,
    Interaction: 600,
  },
});

/** Signs in, without a page, the account that `login_hint` names; without that account: `access_denied`. */
const interact = async (
  provider: Provider,
  accounts: IdentityProvider['accounts'],
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> => {
  const { params } = await provider.interactionDetails(request, response);
  const accountId = String(params.login_hint);
  await provider.interactionFinished(
    request,
    response,
    accounts.has(accountId)
      ? { login: { accountId } }
      : { error: 'access_denied', error_description: 'no such account' },
  );
};

/**
 * A certified identity provider (oidc-provider) on a port of 127.0.0.1. `login_hint` in the authorization request says
 * who signs in, without a page. Claims are in UserInfo only unless `idTokenClaims`.
 */
export const startIdentityProvider = async ({
  accounts = {},
  idTokenClaims = false,
  refreshTokens = true,
}: {
  accounts?: Record<string, AccountClaims>;
  idTokenClaims?: boolean;
  refreshTokens?: boolean;
} = {}): Promise<IdentityProvider> => {
  const port = await freePort();
  const publicUrl = `http://127.0.0.1:${port}`;
  const key = await newSigningKey();
  let handle: (request: IncomingMessage, response: ServerResponse) => Promise<void>;
  const server = createServer(async (request, response) => {
    started.requests.push(`${request.method} ${request.url!.split('?')[0]}`);
    if (started.delayMs > 0) await new Promise((resolve) => setTimeout(resolve, started.delayMs));
    if (started.down) response.writeHead(503).end('down');
    else await handle(request, response);
  });
  const { origin: issuer, close: stop } = await listen(server);
  const started: IdentityProvider = {
    issuer,
    port,
    env: {
      PORT: String(port),
      PUBLIC_URL: publicUrl,
      OIDC_ISSUER: issuer,
      OIDC_CLIENT_ID: 'agent-platform',
      OIDC_CLIENT_SECRET: 'the secret of agent-platform: & + %',
      OIDC_NAME: 'the test provider',
    },
    accounts: new Map(Object.entries(accounts)),
    requests: [],
    down: false,
    delayMs: 0,
    logOut: async (subject, sid) => {
      const client = (await provider.Client.find('agent-platform')) as unknown as LogoutClient;
      client.backchannelLogoutSessionRequired = sid !== undefined;
      try {
        await client.backchannelLogout(subject, sid);
      } finally {
        client.backchannelLogoutSessionRequired = true;
      }
    },
    stop,
    [Symbol.asyncDispose]: stop,
  };
  const provider = await silently(async () => {
    const { default: Certified } = await import('oidc-provider');
    return new Certified(issuer, configurationOf(started, publicUrl, key, { idTokenClaims, refreshTokens }));
  });
  const callback = provider.callback();
  handle = (request, response) =>
    request.url!.startsWith('/interaction/')
      ? interact(provider, started.accounts, request, response)
      : (callback(request, response) as unknown as Promise<void>);
  return started;
};
