import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type CryptoKey, exportJWK, generateKeyPair, type JWK, SignJWT } from 'jose';
import { freePort } from './watchdog.ts';

type Claims = Record<string, unknown>;
type Endpoint = 'discovery' | 'jwks' | 'authorize' | 'token' | 'userinfo' | 'revoke';

/**
 * How an endpoint responds instead: `hang` never does, `endless` never stops sending; a body that is no text is sent as
 * JSON.
 */
export type Reply =
  | { status?: number; headers?: Record<string, string>; body?: unknown }
  | 'hang'
  | 'endless';

export interface ReceivedRequest {
  endpoint: Endpoint | 'other';
  headers: IncomingMessage['headers'];
  /** The fields of the form, or of the query. */
  fields: Record<string, string>;
}

/** What a test changes. `reset` puts it back. */
interface Script {
  /** Changes the claims of the ID token. */
  claims: (claims: Claims) => Claims;
  /** Makes the ID token of the claims. */
  sign: (claims: Claims) => Promise<string> | string;
  /** The response of UserInfo; `sub` is added. */
  userinfo: Claims;
  /** Changes the discovery document. */
  discovery: (document: Claims) => Claims;
  /** Changes the parameters with which the browser is sent back. */
  authorize: (parameters: Record<string, string>) => Record<string, string>;
  /** Changes the response of the token endpoint. */
  tokens: (response: Claims) => Claims;
  replies: Partial<Record<Endpoint, Reply | ((request: ReceivedRequest) => Reply | undefined)>>;
  /** The public keys. */
  keys: JWK[];
}

export interface ForgingProvider extends AsyncDisposable {
  issuer: string;
  /** The variables for a platform on `port` of 127.0.0.1. */
  env: Record<string, string>;
  port: number;
  script: Script;
  /** Makes the provider honest again. */
  reset(): void;
  requests: ReceivedRequest[];
  /** How often an endpoint was requested. */
  count(endpoint: Endpoint): number;
  /** Signs claims with the provider's key; `header` changes the header of the token. */
  sign(claims: Claims, header?: Record<string, unknown>, key?: CryptoKey): Promise<string>;
  publicKey: JWK;
  /** A key that the provider does not publish. */
  otherKey: { privateKey: CryptoKey; publicKey: JWK };
  /** Begins to refuse connections, and accepts them again on the same port. */
  stopListening(): Promise<void>;
  listen(): Promise<void>;
}

const newKey = async (kid: string) => {
  const { privateKey, publicKey } = await generateKeyPair('ES256', { extractable: true });
  return { privateKey, publicKey: { ...(await exportJWK(publicKey)), kid, use: 'sig', alg: 'ES256' } as JWK };
};
let keys: Promise<Awaited<ReturnType<typeof newKey>>[]> | undefined;

const send = (response: ServerResponse, reply: Reply): void => {
  if (reply === 'hang') return;
  if (reply === 'endless') {
    response.writeHead(200, { 'content-type': 'application/json' });
    const chunk = Buffer.alloc(65_536, 32);
    const more = (): void => {
      while (!response.destroyed && response.write(chunk));
    };
    response.on('drain', more);
    more();
    return;
  }
  const { status = 200, headers = {}, body = '' } = reply;
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(text);
};

const readFields = async (request: IncomingMessage, url: URL): Promise<Record<string, string>> => {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Object.fromEntries([...url.searchParams, ...new URLSearchParams(Buffer.concat(chunks).toString())]);
};

/** The time in whole seconds, as tokens have it. */
export const epoch = (): number => Math.floor(Date.now() / 1000);

/**
 * An identity provider that does as a test says: honest at first, and each of its responses can be changed. The browser
 * is sent back at once; the subject is `login_hint` of the request, or `alice`. A code works any number of times.
 */
export const startForgingProvider = async (): Promise<ForgingProvider> => {
  keys ??= Promise.all([newKey('key-1'), newKey('key-2')]);
  const [own, other] = (await keys) as [
    Awaited<ReturnType<typeof newKey>>,
    Awaited<ReturnType<typeof newKey>>,
  ];
  const port = await freePort();
  let issuer = '';
  /** By code. */
  const nonces = new Map<string, string>();

  const sign: ForgingProvider['sign'] = (claims, header = {}, key = own.privateKey) =>
    new SignJWT(claims)
      .setProtectedHeader({ alg: 'ES256', kid: 'key-1', ...header })
      .sign(key, { crit: { exp: true } });
  const honest = (): Script => ({
    claims: (claims) => claims,
    sign: (claims) => sign(claims),
    userinfo: {},
    discovery: (document) => document,
    authorize: (parameters) => parameters,
    tokens: (response) => response,
    replies: {},
    keys: [own.publicKey],
  });

  const endpoints: Record<Endpoint, (request: ReceivedRequest) => Promise<Reply>> = {
    discovery: async () => ({
      body: provider.script.discovery({
        issuer,
        authorization_endpoint: `${issuer}/authorize`,
        token_endpoint: `${issuer}/token`,
        userinfo_endpoint: `${issuer}/userinfo`,
        revocation_endpoint: `${issuer}/revoke`,
        end_session_endpoint: `${issuer}/end?at=once`,
        jwks_uri: `${issuer}/jwks`,
        id_token_signing_alg_values_supported: ['ES256', 'none', 'HS256'],
        scopes_supported: ['openid', 'profile', 'email', 'offline_access'],
      }),
    }),
    jwks: async () => ({ body: { keys: provider.script.keys } }),
    authorize: async ({ fields }) => {
      const code = `${fields.login_hint ?? 'alice'}~${nonces.size}`;
      nonces.set(code, fields.nonce!);
      const parameters = provider.script.authorize({ code, state: fields.state! });
      const location = new URL(fields.redirect_uri!);
      for (const [name, value] of Object.entries(parameters)) location.searchParams.append(name, value);
      return { status: 302, headers: { location: location.href } };
    },
    token: async ({ fields }) => {
      const { code } = fields;
      const subject = code?.split('~')[0] ?? fields.refresh_token!.replace('refresh ', '');
      const nonce = code === undefined ? {} : { nonce: nonces.get(code) };
      const times = { iat: epoch(), exp: epoch() + 600 };
      const claims = { iss: issuer, sub: subject, aud: 'agent-platform', ...times, ...nonce };
      return {
        body: provider.script.tokens({
          access_token: `access ${subject}`,
          token_type: 'Bearer',
          refresh_token: `refresh ${subject}`,
          id_token: await provider.script.sign(provider.script.claims(claims)),
        }),
      };
    },
    userinfo: async ({ headers }) => ({
      body: { sub: headers.authorization!.replace('Bearer access ', ''), ...provider.script.userinfo },
    }),
    revoke: async () => ({ body: '' }),
  };
  const paths: Record<string, Endpoint> = {
    '/.well-known/openid-configuration': 'discovery',
    ...Object.fromEntries(
      (['jwks', 'authorize', 'token', 'userinfo', 'revoke'] as const).map((name) => [`/${name}`, name]),
    ),
  };

  const server = createServer(async (request, response) => {
    const url = new URL(request.url!, issuer);
    const endpoint = paths[url.pathname];
    const received: ReceivedRequest = {
      endpoint: endpoint ?? 'other',
      headers: request.headers,
      fields: await readFields(request, url),
    };
    provider.requests.push(received);
    if (!endpoint) return send(response, { status: 404, body: {} });
    const scripted = provider.script.replies[endpoint];
    const reply = typeof scripted === 'function' ? scripted(received) : scripted;
    try {
      send(response, reply ?? (await endpoints[endpoint](received)));
    } catch (error) {
      send(response, { status: 500, body: String(error) });
    }
  });
  const listenOn = (at: number) => new Promise<void>((done) => server.listen(at, '127.0.0.1', done));
  const stopListening = async (): Promise<void> => {
    server.closeAllConnections();
    await new Promise((done) => server.close(done));
  };
  await listenOn(0);
  const ownPort = (server.address() as AddressInfo).port;
  issuer = `http://127.0.0.1:${ownPort}`;

  const provider: ForgingProvider = {
    issuer,
    port,
    env: {
      PORT: String(port),
      PUBLIC_URL: `http://127.0.0.1:${port}`,
      OIDC_ISSUER: issuer,
      OIDC_CLIENT_ID: 'agent-platform',
      OIDC_CLIENT_SECRET: 'the-client-secret',
    },
    script: honest(),
    reset: () => {
      provider.script = honest();
      provider.requests.length = 0;
    },
    requests: [],
    count: (endpoint) => provider.requests.filter((request) => request.endpoint === endpoint).length,
    sign,
    publicKey: own.publicKey,
    otherKey: other,
    stopListening,
    listen: () => listenOn(ownPort),
    [Symbol.asyncDispose]: stopListening,
  };
  return provider;
};
