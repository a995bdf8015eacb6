import type { Database } from '../../src/database/index.ts';
import { createServer, type RouteGroup, TokenBuckets } from '../../src/http/index.ts';
import { systemClock } from '../../src/lib/clock.ts';
import { Vault } from '../../src/lib/crypto.ts';
import { ApiError } from '../../src/lib/errors.ts';
import { silentLogger } from '../../src/lib/log.ts';
import type { Actor, Principal, Role } from '../../src/lib/principal.ts';
import { type Client, client } from './http.ts';

/** Who the requests of `v2` and `v1` of `serveRoutes` act as. */
export const tester: Principal = {
  kind: 'service_account',
  id: 'tester',
  rootId: 'tester',
  name: 'Tester',
  role: 'admin',
  keyId: null,
  scopes: null,
  sessionId: null,
};

/** `tester`, in a request. */
export const testActor: Actor = { principal: tester, requestId: 'r', ip: null, userAgent: null };

export interface ServedRoutes {
  /** As `tester`. */
  v2: Client;
  v1: Client;
  /** As a service account of this name and role, below /api/v2. */
  as(name: string, role: Role): Client;
  /** Without a key, below /api/v2. */
  withoutKey: Client;
  /** `http://127.0.0.1:PORT`. */
  origin: string;
  /** The OpenAPI document of /api/v2. */
  // biome-ignore lint/suspicious/noExplicitAny: JSON, read field by field
  document: any;
  close(): Promise<void>;
}

/** A key is `tester`, or the name and role of a service account: `NAME:ROLE`. */
const principalOf = (key: string | undefined): Principal => {
  if (key === tester.id) return tester;
  const [name, role] = key?.split(':') ?? [];
  if (!name || !role) throw new ApiError('unauthorized', 'An API key is required.');
  return { ...tester, id: name, name, role: role as Role, keyId: name };
};

/** The routes of one feature over real HTTP, without the rest of the platform. */
export async function serveRoutes(db: Database, feature: RouteGroup): Promise<ServedRoutes> {
  const server = createServer({
    groups: [feature],
    authenticate: async ({ token }) => principalOf(token),
    db,
    vault: new Vault([Buffer.alloc(32, 1)]),
    log: silentLogger,
    publicUrl: () => 'http://localhost',
    version: 'test',
    buckets: new TokenBuckets(systemClock),
    rateLimit: () => ({ perSecond: 0, burst: 0 }),
    readiness: async () => null,
    metrics: async () => ({ contentType: 'text/plain', text: '' }),
  });
  const port = await server.listen(0, '127.0.0.1');
  const origin = `http://127.0.0.1:${port}`;
  const at = (base: string, key?: string) => client(origin + base, key);
  return {
    v2: at('/api/v2', tester.id),
    v1: at('/api/v1', tester.id),
    as: (name, role) => at('/api/v2', `${name}:${role}`),
    withoutKey: at('/api/v2'),
    origin,
    document: server.document('/api/v2').value,
    close: () => server.close(),
  };
}
