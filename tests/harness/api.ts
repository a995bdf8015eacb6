import type { Database } from '../../src/database/index.ts';
import { createServer, type RouteGroup, TokenBuckets } from '../../src/http/index.ts';
import { systemClock } from '../../src/lib/clock.ts';
import { Vault } from '../../src/lib/crypto.ts';
import { silentLogger } from '../../src/lib/log.ts';
import type { Principal } from '../../src/lib/principal.ts';
import { type Client, client } from './http.ts';

/** Who the requests of `serveRoutes` act as. */
export const tester: Principal = {
  kind: 'service_account',
  id: 'tester',
  name: 'Tester',
  role: 'admin',
  keyId: null,
};

/** The routes of one feature over real HTTP. Every request acts as `tester`. */
export async function serveRoutes(
  db: Database,
  feature: RouteGroup,
): Promise<{ v2: Client; v1: Client; close: () => Promise<void> }> {
  const server = createServer({
    groups: [feature],
    authenticate: async () => tester,
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
  const at = (base: string) => client(`http://127.0.0.1:${port}${base}`, 'any');
  return { v2: at('/api/v2'), v1: at('/api/v1'), close: () => server.close() };
}
