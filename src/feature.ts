import type { Config, ReplicaRole } from './config.ts';
import type { Database, Tx } from './database/index.ts';
import type { RouteGroup } from './http/index.ts';
import type { Clock } from './lib/clock.ts';
import type { SealedColumn, Vault } from './lib/crypto.ts';
import type { Egress } from './lib/egress.ts';
import type { Logger } from './lib/log.ts';
import type { LoopPass } from './lib/loop.ts';
import type { Metric } from './lib/metrics.ts';
import type { CurrentSettings, Settings } from './settings/index.ts';

/** The services that every feature may use. `services.ts` opens and closes them. */
export interface Services {
  config: Config;
  db: Database;
  vault: Vault;
  settings: CurrentSettings;
  egress: Egress;
  log: Logger;
  clock: Clock;
  /** The address shown to users and put in links, without a slash at the end; known once the server listens. */
  publicUrl: () => string;
}

/** Work in the background of a replica. */
export interface FeatureLoop {
  /** The loop runs only on replicas with this role; without it, on every replica. */
  role?: ReplicaRole;
  start(): void;
  /** Resolves when nothing of it runs any more, within 20 s. */
  stop(): Promise<void>;
  /** Returns what the loop last did, for the heartbeat. */
  pass?(): LoopPass;
}

/** Removes at most `limit` rows that are older than `settings` keep. Returns how many it removed. */
export type Retention = (tx: Tx, settings: Settings, limit: number) => Promise<number>;

/**
 * The parts that a feature gives to the platform. `index.ts` of a feature exports one `createX(services, needs)`, which
 * returns these and whatever other features call. `createX` reads and writes nothing: a list of features can be made
 * without a database, to print what they declare. `start` is the first to touch the outside.
 */
export interface Feature extends RouteGroup {
  /** The columns that the vault has sealed. */
  secrets?: readonly SealedColumn[];
  retention?: readonly Retention[];
  loops?: readonly FeatureLoop[];
  metrics?: readonly Metric[];
  /** Called after the migrations, in the order of the list of features, before the port is open. */
  start?(): Promise<void>;
  /** Called after the port and the loops are closed, in the opposite order. */
  stop?(): Promise<void>;
}
