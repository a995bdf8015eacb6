import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'vitest';
import { spansNamed } from '../../../packages/otlp/tests/encode.ts';
import { type Nats, type NatsOptions, startNats } from '../../harness/nats.ts';
import type { NatsCluster } from '../../harness/nats-cluster.ts';
import { type OtlpReceiver, startOtlpReceiver } from '../../harness/otlp-receiver.ts';
import { adminKey } from '../../harness/process.ts';
import { until } from '../../harness/wait.ts';
import { Fixture, must } from './fixture.ts';

/** Longer than a lease (12 s). */
export const leaseOver = 13_000;
const spansEach = 3;

export interface Health {
  state: string;
  delivered: number;
  rejected: number;
  dead_lettered: number;
  expired: number;
  discarded: number;
  queued: number;
}

/** Replicas on one PostgreSQL and one nats-server or cluster; replica i has `roles[i]`. Two integrations get every span. */
export class SharedLogFixture {
  readonly fixture: Fixture;
  /** The only nats-server, or the first of the cluster. */
  readonly nats: Nats;
  readonly #url: string;
  readonly backends: OtlpReceiver[];
  readonly integrations: string[] = [];
  readonly #roles: string[];

  private constructor(fixture: Fixture, nats: Nats, url: string, backends: OtlpReceiver[], roles: string[]) {
    this.fixture = fixture;
    this.nats = nats;
    this.#url = url;
    this.backends = backends;
    this.#roles = roles;
  }

  /** With a `cluster`, which the caller ends; else with a server of its own. */
  static async open(
    roles: string[],
    options: NatsOptions = {},
    cluster?: NatsCluster,
  ): Promise<SharedLogFixture> {
    const [fixture, nats, ...backends] = await Promise.all([
      Fixture.open('postgres', roles.length),
      cluster?.servers[0] ?? startNats(options),
      startOtlpReceiver(),
      startOtlpReceiver(),
    ]);
    const one = new SharedLogFixture(fixture, nats, cluster?.url ?? nats.url, backends, roles);
    try {
      await Promise.all(roles.map((_, i) => one.start(i)));
      for (const { url } of backends) {
        const settings = { provider: 'otlp_custom_headers', url, headers: { 'X-Tenant': 'a' } };
        const made = await must(
          fixture.api().post('/observability/integrations', { settings, version: '1' }),
        );
        one.integrations.push(String(made.id));
        const global = `/observability/integrations/${one.integrations.at(-1)}/scopes`;
        await must(fixture.api().post(global, { scope: 'global' }));
      }
      // A change of integrations takes effect within 1 s on every replica.
      await sleep(1_000);
    } catch (error) {
      await one[Symbol.asyncDispose]();
      throw error;
    }
    return one;
  }

  async start(i: number): Promise<void> {
    await this.fixture.start(i, {
      env: { TELEMETRY_LOG_URL: this.#url, ROLES: this.#roles[i]!, EGRESS_ALLOW: '127.0.0.0/8' },
    });
  }

  /** Sends one request to replica `i`. Resolves to the status of the response, or 0 if there is none. */
  async send(
    i: number,
    prefix: string,
    spans = spansEach,
    padding = 200,
  ): Promise<{ status: number; retryAfter: string | null }> {
    try {
      const response = await fetch(`http://127.0.0.1:${this.fixture.replicas[i]!.port}/v1/traces`, {
        method: 'POST',
        headers: { authorization: `Bearer ${adminKey}`, 'content-type': 'application/x-protobuf' },
        body: new Uint8Array(spansNamed(prefix, spans, 'agent', padding)),
        signal: AbortSignal.timeout(15_000),
      });
      await response.arrayBuffer();
      return { status: response.status, retryAfter: response.headers.get('retry-after') };
    } catch {
      return { status: 0, retryAfter: null };
    }
  }

  async health(i: number, integration = 0): Promise<Health> {
    return (await must(
      this.fixture.api(i).get(`/observability/integrations/${this.integrations[integration]}/health`),
    )) as unknown as Health;
  }

  /** The replica that delivers an integration: the one whose metrics report it. */
  async owner(integration = 0): Promise<number> {
    return until(async () => {
      const delivering = await Promise.all(
        this.fixture.replicas.map(async ({ port, process }) => {
          if (process === null) return false;
          const text = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text();
          return text.includes(`_spans{integration="${this.integrations[integration]}",state="queued"}`);
        }),
      );
      const index = delivering.indexOf(true);
      return index < 0 ? null : { index };
    }, 20_000).then(({ index }) => index);
  }

  /** Kills a replica and lets its leases expire. */
  async kill(i: number): Promise<void> {
    await this.fixture.kill(i);
    await this.fixture.moveClock(leaseOver);
  }

  /**
   * Waits until nothing is queued, and checks every span: what was acknowledged is at each backend; what a backend has
   * is what was accepted for it; and every replica in `replicas` reports that.
   */
  async check(acknowledged: ReadonlySet<string>, replicas: number[]): Promise<void> {
    for (const [k, backend] of this.backends.entries()) {
      const received = () => new Set(backend.spans().map(({ name }) => name));
      const missing = () => {
        const names = received();
        return [...acknowledged].flatMap((prefix) =>
          Array.from({ length: spansEach }, (_, s) => `${prefix}-${s}`).filter((name) => !names.has(name)),
        );
      };
      // A replica that has lost the server reads the stream again a moment after it is back. Until then it counts
      // nothing as queued, so the backend is asked as well.
      for (const i of replicas) {
        await until(
          async () => missing().length === 0 && (await this.health(i, k)).queued === 0,
          20_000,
        ).catch(async () => expect(await this.health(i, k)).toMatchObject({ queued: 0 }));
      }
      expect(missing()).toEqual([]);
      const names = received();
      for (const i of replicas) {
        expect(await this.health(i, k)).toMatchObject({
          delivered: names.size,
          rejected: 0,
          dead_lettered: 0,
          expired: 0,
          discarded: 0,
          queued: 0,
        });
      }
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.fixture[Symbol.asyncDispose]();
    await this.nats.stop();
    for (const backend of this.backends) await backend.close();
  }
}

/** Clients that send requests to the replicas in rotation, each with a name of its own, until `stop`. */
export class Senders {
  readonly acknowledged = new Set<string>();
  /** Responses 503, all with Retry-After; and requests without a response. */
  refused = 0;
  unanswered = 0;
  readonly unexpected: string[] = [];
  #stopped = false;
  readonly #loops: Promise<void>[];

  constructor(fixture: SharedLogFixture, name: string, replicas: number[], clients = 3) {
    this.#loops = Array.from({ length: clients }, async (_, client) => {
      for (let n = 0; !this.#stopped; n++) {
        const prefix = `${name}.${client}.${n}`;
        // Sometimes one that is larger than a message may be.
        const { status, retryAfter } = await fixture.send(
          replicas[(client + n) % replicas.length]!,
          prefix,
          spansEach,
          n % 40 === 39 ? 700_000 : 200,
        );
        if (status === 200) this.acknowledged.add(prefix);
        else if (status === 503 && retryAfter !== null) this.refused++;
        else if (status === 0) this.unanswered++;
        else this.unexpected.push(`${status} retry-after ${retryAfter}`);
        await sleep(status === 200 ? 2 : 50);
      }
    });
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    await Promise.all(this.#loops);
    expect(this.unexpected).toEqual([]);
  }
}
