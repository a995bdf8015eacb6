import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { SpanKind, SpanStatusCode } from '@opentelemetry/api';
import { Authenticator, apiKeyRoutes, makeFirstKey, roleOf } from './access/index.ts';
import { agentRoutes } from './agents/index.ts';
import { audit, auditRoutes, chainLoop } from './audit/index.ts';
import type { Config } from './config.ts';
import { type Database, lockFolder } from './database/index.ts';
import { createServer, type Route, TokenBuckets } from './http/index.ts';
import { type Clock, systemClock } from './lib/clock.ts';
import { createEgress } from './lib/egress.ts';
import { messageOf } from './lib/errors.ts';
import type { Logger } from './lib/log.ts';
import { withTimeout } from './lib/with-timeout.ts';
import { llmExists, llmRoutes, llmSecrets } from './llm-configurations/index.ts';
import { createObservability, integrationSecrets } from './observability/index.ts';
import { createPlatformMetrics } from './platform-metrics.ts';
import { retentionLoop } from './retention.ts';
import { createRuntime } from './runtime/index.ts';
import { Firing, scheduleRoutes } from './schedules/index.ts';
import { settingsRoutes, watchSettings } from './settings/index.ts';
import {
  listen,
  migrateDatabase,
  openDatabase,
  openTelemetryLog,
  openVault,
  rotateCredentials,
} from './start-up.ts';
import { tags } from './tags.ts';
import { createTelemetry, type Telemetry } from './telemetry/index.ts';
import { telemetryRoute } from './telemetry/receiver/route.ts';
import { workItemTraceRoute } from './work-item-trace.ts';
import { cancelOpenOf, wakeWorkers, workItemRoutes } from './work-items/index.ts';

const { version } = JSON.parse(readFileSync(join(import.meta.dirname, '..', 'package.json'), 'utf8')) as {
  version: string;
};

const readinessWithinMs = 2_000;

export interface Platform {
  /** The address shown to users. */
  url: string;
  port: number;
  database: 'embedded' | 'postgres';
  /** The first administrator's key, where this start made it; to be shown once. */
  firstKey: string | null;
  db: Database;
  telemetry: Telemetry;
  firing: Firing;
  routes: readonly Route[];
  /** The OpenAPI document of /api/v2. */
  openapi(): Record<string, unknown>;
  /** Stop taking work, finish or hand back what is in flight, close everything. */
  stop(): Promise<void>;
}

/** What is started is put here, and stopped in the opposite order, whatever the others do. */
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
 * The composition root: the one visible list of what depends on what. Opens the database, builds the features,
 * starts the loops that `config.roles` names, and listens. Tests build it too. Rejects with ConfigError, or with
 * an Error that says who holds the data folder, and leaves nothing running.
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
    throw error;
  }
};

const build = async (config: Config, log: Logger, clock: Clock, started: Started): Promise<Platform> => {
  const lock = lockFolder(config.dataDir);
  started.add('folder lock', () => lock.release());
  const vault = openVault(config);
  const db = await openDatabase(config, log);
  started.add('database', () => db.close());
  await migrateDatabase(config, db, log);

  await rotateCredentials(db, vault, [...integrationSecrets, ...llmSecrets]);
  const settings = await watchSettings(db, log);
  const authenticator = new Authenticator(db, log, config.bootstrapKey);
  const egress = createEgress({ deny: config.egress.deny ?? undefined, allow: config.egress.allow });
  started.add('outgoing connections', () => egress.close());

  const observability = createObservability({
    db,
    vault,
    egress,
    log,
    placeholders: config.urlPlaceholders,
    projectHeader: config.llmTracingProjectHeader,
    telemetry: {
      health: (number) => telemetry.health(number),
      resume: (number) => telemetry.resume(number),
      deadLetters: () => telemetry,
    },
  });
  await observability.start();
  started.add('observability', () => observability.stop());
  const { destinations } = observability;

  const sharedLog = await openTelemetryLog(config, db, log, observability.exists);
  const telemetry = await createTelemetry({
    directory: join(config.dataDir, 'telemetry'),
    ...(sharedLog ? { shared: { log: sharedLog, db } } : {}),
    destinations,
    sharedAccounts: observability.accounts,
    egress,
    log,
    clock,
    settings: {
      retentionHours: () => settings.get().TELEMETRY_RETENTION_HOURS,
      retentionMegabytes: () => settings.get().TELEMETRY_RETENTION_MB,
    },
  });
  started.add('telemetry', () => telemetry.stop());
  settings.onChange(() => telemetry.wake());
  const known = telemetry.accounts().map(({ number }) => number);
  if (known.length > 0) await observability.reserveNumbers(Math.max(...known));
  const { tracing } = telemetry;
  // https://opentelemetry.io/docs/specs/semconv/database/database-spans/
  db.onStatement(({ text, milliseconds, failure }) => {
    const verb = /\w+/.exec(text)?.[0].toUpperCase() ?? 'SQL';
    const attributes = { 'db.system.name': 'postgresql', 'db.query.text': text };
    tracing.ended(verb, milliseconds, { kind: SpanKind.CLIENT, attributes }, failure);
  });

  const metrics = createPlatformMetrics({
    db,
    telemetry: () => telemetry,
    integrationId: observability.idOf,
  });

  const runtime = createRuntime({
    db,
    vault,
    egress,
    log,
    settings,
    tracing,
    flush: () => telemetry.flush(),
    onFinished: (status) => metrics.workItemFinished(status),
  });
  const firing = new Firing({
    db,
    log,
    onFired: metrics.fired,
    span: (name, fn) =>
      tracing.withSpan(name, { application: true }, (span) =>
        fn((attributes) => span.setAttributes(attributes)),
      ),
  });

  const nothingYet = async () => false;
  const routes: Route[] = [
    ...agentRoutes(db, {
      llmExists,
      toolServerExists: nothingYet,
      semanticDataModelExists: nothingYet,
      onDelete: [cancelOpenOf],
      onSettings: [wakeWorkers],
    }),
    ...scheduleRoutes(db),
    ...workItemRoutes(db),
    workItemTraceRoute(db, observability.traceLinks),
    ...observability.routes,
    ...llmRoutes(db, vault, runtime.probe),
    ...apiKeyRoutes(db, authenticator),
    ...settingsRoutes(db, settings.refresh),
    ...auditRoutes(db),
  ];

  let url = config.publicUrl ?? '';
  // A replica without the role `api` answers for its health only.
  const isApi = config.roles.has('api');
  const server = createServer({
    routes: isApi ? routes : [],
    rawRoutes: isApi ? [telemetryRoute(() => telemetry.receiver)] : [],
    roleOf,
    authenticate: ({ token }) => authenticator.authenticate(token),
    db,
    vault,
    log,
    publicUrl: () => url,
    version,
    tags,
    trustProxy: config.trustProxy,
    buckets: new TokenBuckets(clock),
    rateLimit: () => ({
      perSecond: settings.get().RATE_LIMIT_REQUESTS_PER_SECOND,
      burst: settings.get().RATE_LIMIT_BURST,
    }),
    onRefused: (principal, { operation, path, requestId }) => {
      db.tx((tx) =>
        audit(tx, principal, {
          action: operation,
          targetType: 'operation',
          targetId: path.slice(0, 500),
          outcome: 'refused',
          requestId,
        }),
      ).catch((error) =>
        log.error({ error: messageOf(error) }, 'a refusal could not be written to the audit log'),
      );
    },
    onResponse: metrics.answered,
    trace: async (request, fn) => {
      const { method, route, path, scheme, traceparent } = request;
      await tracing.withSpan(
        `${method} ${route}`,
        {
          application: true,
          kind: SpanKind.SERVER,
          // https://opentelemetry.io/docs/specs/semconv/http/http-spans/
          attributes: {
            'http.request.method': method,
            'http.route': route,
            'url.path': path,
            'url.scheme': scheme,
          },
          ...(traceparent ? { traceparent } : {}),
        },
        async (span) => {
          const status = await fn(tracing.traceparent()!);
          span.setAttribute('http.response.status_code', status);
          if (status >= 500) span.setStatus({ code: SpanStatusCode.ERROR });
        },
      );
    },
    readiness: () =>
      withTimeout(db.ping(), readinessWithinMs).then(
        () => null,
        () => 'the database does not answer',
      ),
    metrics: metrics.read,
  });

  // Before anything is taken up: a port that is taken is found out first.
  const port = await listen(server, config);
  url ||= `http://${config.host.includes(':') ? `[${config.host}]` : config.host}:${port}`;
  // Not before: a start that failed behind it would have made a key that nobody has seen.
  const firstKey = config.bootstrapKey
    ? null
    : await makeFirstKey(db).catch(async (error) => {
        await server.close();
        throw error;
      });
  const { roles } = config;
  if (roles.has('delivery')) telemetry.start();
  const loops = [
    chainLoop(db, log),
    retentionLoop(db, log),
    ...(roles.has('worker') ? [runtime] : []),
    ...(roles.has('scheduler') ? [firing] : []),
  ];
  for (const one of loops) one.start();
  // Side by side: where the database is away each waits for it, and all together have 20 s.
  started.add('loops', () => Promise.all(loops.map((one) => one.stop())));
  // Stopped first: nothing new comes in while the rest ends.
  started.add('http', () => server.close());
  return {
    url,
    port,
    database: db.kind,
    firstKey,
    db,
    telemetry,
    firing,
    routes,
    openapi: () => server.document('/api/v2').value,
    stop: () => started.stop(),
  };
};
