import { readConfig } from '../../src/config.ts';
import type { Database } from '../../src/database/index.ts';
import type { Services } from '../../src/feature.ts';
import { createFeatures } from '../../src/features.ts';
import { permissionsOf } from '../../src/http/index.ts';
import { systemClock } from '../../src/lib/clock.ts';
import { Vault } from '../../src/lib/crypto.ts';
import { createEgress } from '../../src/lib/egress.ts';
import { silentLogger } from '../../src/lib/log.ts';
import type { RequiredRole } from '../../src/lib/principal.ts';
import { offlineServices } from '../../src/services.ts';
import { createSettings } from '../../src/settings/index.ts';

/** Services over `db` for the features under test; what is not given has the product's defaults. */
export const testServices = (db: Database, given: Partial<Services> = {}): Services => ({
  config: readConfig({}),
  db,
  vault: new Vault([Buffer.alloc(32, 1)]),
  settings: createSettings(db, silentLogger),
  egress: createEgress({}),
  log: silentLogger,
  clock: systemClock,
  publicUrl: () => 'http://localhost',
  ...given,
});

/** The lowest role for each operation, as the routes declare it. */
export const requiredRoles: Record<string, RequiredRole> = Object.fromEntries(
  permissionsOf(createFeatures(offlineServices(readConfig({}))).list).map(({ id, role }) => [id, role]),
);
