import { type Config, ConfigError } from './config.ts';
import { type Database, folderFault } from './database/index.ts';
import { traceStatements } from './database-spans.ts';
import { createFeatures, type Features } from './features.ts';
import {
  createManagementServer,
  createServer,
  deleteExpiredKeys,
  type Listener,
  TokenBuckets,
} from './http/index.ts';
import { type Clock, systemClock } from './lib/clock.ts';
import { messageOf } from './lib/errors.ts';
import { onUncheckedValue } from './lib/json-schema.ts';
import type { Logger } from './lib/log.ts';
import { counter, createMetrics, histogram } from './lib/metrics.ts';
import { version } from './lib/version.ts';
import { withTimeout } from './lib/with-timeout.ts';
import { Refusals } from './refusals.ts';
import { traceRequests } from './request-spans.ts';
import { retentionLoop } from './retention.ts';
import { openServices, rotateCredentials, startStep } from './services.ts';

const readinessWithinMs = 2_000;

export interface Platform {
  /** The address shown to users. */
  url: string;
  port: number;
  /** Null: the metrics are on `port`. */
  managementPort: number | null;
  database: Database['kind'];
  /** The first administrator's key if this start created it, to be shown once. */
  firstKey: string | null;
  db: Database;
  features: Features;
  /** Takes no more work, finishes or releases what is in flight, closes everything. */
  stop(): Promise<void>;
}

/**
 * The parts that were started, to be stopped in the opposite order. A part that fails to stop does not keep the others
 * running.
 */
class Started {
  readonly #stops: [name: string, stop: () => unknown][] = [];
  readonly #log: Logger;

  constructor(log: Logger) {
    this.#log = log;
  }

  add(name: string, stop: () => unknown): void {
    this.#stops.push([name, stop]);
  }

  async stop(): Promise<void> {
    for (const [name, stop] of this.#stops.splice(0).reverse()) {
      try {
        await stop();
      } catch (error) {
        this.#log.error({ part: name, error: messageOf(error) }, 'did not stop cleanly');
      }
    }
  }
}

/**
 * Opens the services, starts the features and the loops that `config.roles` names, and listens. Rejects with
 * ConfigError, or with an Error that names the process that holds the data folder, and leaves nothing running.
 */
export const startPlatform = async (
  config: Config,
  { log, clock = systemClock }: { log: Logger; clock?: Clock },
): Promise<Platform> => {
  const started = new Started(log);
  try {
    return await build(config, log, clock, started);
  } catch (error) {
    await started.stop();
    throw folderFault(config.dataDir, error) ?? error;
  }
};

const listenFaults: Record<string, string> = {
  EADDRINUSE: 'is taken',
  EACCES: 'may not be used by this user',
  EADDRNOTAVAIL: 'is not on this machine',
};

/** Resolves with the port it listens on; rejects with ConfigError, which names the `variable` of the port. */
const listen = (server: Listener, host: string, port: number, variable: string): Promise<number> =>
  server.listen(port, host).catch((error: NodeJS.ErrnoException) => {
    const why = listenFaults[error.code ?? ''];
    throw why ? new ConfigError([`HOST, ${variable}: ${host}:${port} ${why}`]) : error;
  });

const build = async (config: Config, log: Logger, clock: Clock, started: Started): Promise<Platform> => {
  let url = config.publicUrl ?? '';
  const opened = await openServices(config, { log, clock }, (name, close) => started.add(name, close));
  const services = { ...opened, publicUrl: () => url };
  const { db, settings } = services;
  const features = createFeatures(services);
  const { list, tracing } = features;

  const secrets = list.flatMap((feature) => feature.secrets ?? []);
  await startStep(log, () => rotateCredentials(services, secrets));
  for (const feature of list) {
    started.add(feature.tag?.name ?? 'feature', () => feature.stop?.());
    await startStep(log, async () => feature.start?.());
  }
  traceStatements(db, tracing);

  const requests = histogram(
    'agent_platform_http_request_duration_seconds',
    'Duration of API requests',
    [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10],
    ['operation', 'method', 'status'],
  );
  const unchecked = counter(
    'agent_platform_schema_checks_refused_total',
    'Values that were refused because they could not be checked by a JSON Schema in time',
  );
  started.add(
    'schema checks',
    onUncheckedValue((subject) => {
      unchecked.inc();
      log.warn({ subject }, 'a value could not be checked by its JSON Schema in time, and was refused');
    }),
  );
  const metrics = createMetrics([requests, unchecked, ...list.flatMap((feature) => feature.metrics ?? [])]);

  const health = {
    readiness: () =>
      withTimeout(db.ping(), readinessWithinMs).then(
        () => null,
        () => 'the database does not respond',
      ),
    metrics: metrics.read,
  };
  const refusals = new Refusals(services);
  const server = createServer({
    ...health,
    hasManagementPort: config.managementPort !== null,
    // A replica without the role `api` only reports its health.
    groups: config.roles.has('api') ? list : [],
    authenticate: features.authenticate,
    db,
    vault: services.vault,
    log,
    publicUrl: () => url,
    version,
    trustProxy: config.trustProxy,
    buckets: new TokenBuckets(clock),
    rateLimit: () => ({
      perSecond: settings.get().RATE_LIMIT_REQUESTS_PER_SECOND,
      burst: settings.get().RATE_LIMIT_BURST,
    }),
    onRefused: refusals.record,
    onResponse: ({ seconds, ...labels }) => requests.observe(labels, seconds),
    trace: traceRequests(tracing),
  });

  // Before any work is taken: a port that is taken is found out first.
  const servers: Listener[] = [server];
  // Stopped first: nothing new comes in while the rest ends.
  const closeServers = () => Promise.all(servers.map((one) => one.close()));
  let port: number;
  let managementPort: number | null = null;
  let firstKey: string | null;
  try {
    port = await listen(server, config.host, config.port, 'PORT');
    url ||= `http://${config.host.includes(':') ? `[${config.host}]` : config.host}:${port}`;
    if (config.managementPort !== null) {
      const management = createManagementServer({ ...health, log });
      servers.push(management);
      managementPort = await listen(management, config.host, config.managementPort, 'MANAGEMENT_PORT');
    }
    // Not before: a start that failed after it would have created a key that no one has seen.
    firstKey = await startStep(log, features.createFirstKey);
  } catch (error) {
    await closeServers();
    throw error;
  }

  const loops = [
    retentionLoop(services, [
      ...list.flatMap((feature) => feature.retention ?? []),
      (tx, _, limit) => deleteExpiredKeys(tx, limit),
    ]),
    refusals,
    ...list.flatMap((feature) => feature.loops ?? []).filter(({ role }) => !role || config.roles.has(role)),
  ];
  for (const loop of loops) loop.start();
  // All at once: while the database is away each of them waits for it, and all together have 20 s.
  started.add('loops', () => Promise.all(loops.map((loop) => loop.stop())));
  started.add('http', closeServers);
  return { url, port, managementPort, database: db.kind, firstKey, db, features, stop: () => started.stop() };
};
