import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { spansNamed } from '../../../packages/otlp/tests/encode.ts';
import type { Client } from '../../harness/http.ts';
import type { OtlpReceiver } from '../../harness/otlp-receiver.ts';
import { must, type Rows } from './fixture.ts';

/** A client in a loop, until `stop`. */
export interface Workload {
  stop(): Promise<void>;
}

/** `clients` loops, each of which calls `step` with its number, again and again with a pause. */
export const forever = (
  clients: number,
  pauseMs: number,
  step: (client: number) => Promise<void>,
): Workload => {
  const stop = new AbortController();
  const { signal } = stop;
  const loops = Array.from({ length: clients }, async (_, i) => {
    while (!signal.aborted) {
      await step(i);
      await sleep(pauseMs, undefined, { signal }).catch(() => {});
    }
  });
  return {
    stop: async () => {
      stop.abort();
      await Promise.all(loops);
    },
  };
};

/** Every request gets a response within 5 s or fails. */
const brief = () => ({ signal: AbortSignal.timeout(5_000) });

/**
 * Creates agents, through any of `apis`. A request without a response is sent again with the same Idempotency-Key until
 * it is acknowledged, as a careful client does.
 */
export class Writer implements Workload {
  readonly acknowledged = new Map<string, string>();
  /** Requests that had to be sent more than once. */
  repeated = 0;
  /** Responses other than a success or a 503 with Retry-After. */
  readonly refusals: string[] = [];
  readonly #loop: Workload;
  #ending = false;

  constructor(apis: Client[], clients: number, pauseMs = 10) {
    let n = 0;
    this.#loop = forever(clients, pauseMs, async () => {
      const name = `written ${n++}`;
      const headers = { 'idempotency-key': randomUUID() };
      for (let tries = 0; !(this.#ending && tries > 0); tries++) {
        const api = apis[(n + tries) % apis.length]!;
        if (tries === 1) this.repeated++;
        try {
          const response = await api.post('/agents', { name, mode: 'worker' }, { headers, ...brief() });
          if (response.status === 200) return void this.acknowledged.set(response.body.id, name);
          if (response.status !== 503) return void this.refusals.push(`${response.status} ${response.text}`);
        } catch {
          // Killed in the middle: whether it was done is not known.
        }
        await sleep(50);
      }
    });
  }

  stop(): Promise<void> {
    this.#ending = true;
    return this.#loop.stop();
  }

  /** Acknowledged writes that are missing, and writes that were executed more than once. */
  async problems(rows: Rows): Promise<string[]> {
    const stored = await rows<{ id: string; name: string }>(
      `select id, name from agents where name like 'written %'`,
    );
    const byId = new Map(stored.map((row) => [row.id, row.name]));
    const names = new Map<string, number>();
    for (const { name } of stored) names.set(name, (names.get(name) ?? 0) + 1);
    return [
      ...[...this.acknowledged].flatMap(([id, name]) => (byId.get(id) === name ? [] : `${name} is lost`)),
      ...[...names].flatMap(([name, times]) => (times === 1 ? [] : `${name} was created ${times} times`)),
      ...this.refusals,
    ];
  }
}

const spansARequest = 3;
/** Spans that the second backend refuses one by one: few, so that the spans are at fault and not the backend. */
const isBad = (name: string): boolean => /^span\.\d+\.\d*7-1$/.test(name);

/** Posts spans of an agent and keeps the acknowledged ones; two backends, of which one is difficult. */
export class Tracer implements Workload {
  readonly acknowledged: string[] = [];
  readonly #loop: Workload;
  readonly #good: OtlpReceiver;
  readonly #difficult: OtlpReceiver;
  readonly #integrations: string[];

  private constructor(
    api: Client,
    agentId: string,
    clients: number,
    good: OtlpReceiver,
    difficult: OtlpReceiver,
    integrations: string[],
  ) {
    this.#good = good;
    this.#difficult = difficult;
    this.#integrations = integrations;
    difficult.respondWith((request, index) => {
      if (index % 31 === 30) return { status: 503, headers: { 'retry-after': '0' } };
      return request.spans.some(({ name }) => isBad(name)) ? 400 : 200;
    });
    let n = 0;
    this.#loop = forever(clients, 10, async (i) => {
      const prefix = `span.${i}.${n++}`;
      const headers = { 'content-type': 'application/x-protobuf' };
      try {
        const body = spansNamed(prefix, spansARequest, agentId, 100);
        const response = await api.raw('POST', '/telemetry/v1/traces', body, { headers, ...brief() });
        if (response.status === 200) this.acknowledged.push(prefix);
      } catch {
        // The process was killed: an SDK would send the request again, this client does not rely on it.
        await sleep(50);
      }
    });
  }

  static async start(
    api: Client,
    agentId: string,
    clients: number,
    good: OtlpReceiver,
    difficult: OtlpReceiver,
  ): Promise<Tracer> {
    const integrations: string[] = [];
    for (const { url } of [good, difficult]) {
      const body = { version: '1', settings: { provider: 'otlp_custom_headers', url } };
      integrations.push((await must(api.post('/observability/integrations', body))).id!);
    }
    return new Tracer(api, agentId, clients, good, difficult, integrations);
  }

  stop(): Promise<void> {
    return this.#loop.stop();
  }

  /** The health of both integrations. */
  async health(api: Client): Promise<Record<string, number>[]> {
    return Promise.all(
      this.#integrations.map((id) => must(api.get(`/observability/integrations/${id}/health`))),
    ) as Promise<Record<string, number>[]>;
  }

  /** After nothing is queued any more: what is missing, duplicated beyond what `kills` explain, or counted wrongly. */
  async problems(
    api: Client,
    kills: number,
  ): Promise<{ problems: string[]; spans: number; duplicates: number }> {
    const problems: string[] = [];
    const received = [this.#good, this.#difficult].map((one) => one.spans().map(({ name }) => name));
    const unique = received.map((names) => new Set(names));
    for (const prefix of this.acknowledged) {
      for (let i = 0; i < spansARequest; i++) {
        const name = `${prefix}-${i}`;
        if (!unique[0]!.has(name)) problems.push(`${name} is lost`);
        if (!isBad(name) && !unique[1]!.has(name)) problems.push(`${name} is lost by the difficult backend`);
      }
    }
    const health = await this.health(api);
    // Everything that was accepted has arrived at the good backend, acknowledged or not.
    const accepted = unique[0]!.size;
    const bad = [...unique[0]!].filter(isBad).length;
    const expected = [
      { delivered: accepted, dead_lettered: 0 },
      { delivered: accepted - bad, dead_lettered: bad },
    ];
    health.forEach((is, i) => {
      for (const [name, wanted] of Object.entries({
        ...expected[i],
        rejected: 0,
        expired: 0,
        discarded: 0,
        queued: 0,
      })) {
        if (is[name] !== wanted) problems.push(`integration ${i + 1}: ${name} is ${is[name]}, not ${wanted}`);
      }
    });
    let duplicates = 0;
    [this.#good, this.#difficult].forEach((one, i) => {
      const largest = Math.max(0, ...one.requests.map((request) => request.spans.length));
      const twice = received[i]!.length - unique[i]!.size;
      if (twice > kills * largest)
        problems.push(`${twice} duplicates after ${kills} kills, requests of up to ${largest}`);
      duplicates += twice;
    });
    return { problems, spans: accepted, duplicates };
  }
}
