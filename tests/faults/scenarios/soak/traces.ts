import { gzipSync } from 'node:zlib';
import { pick } from '../../../../packages/cron/tests/random.ts';
import { spansNamed } from '../../../../packages/otlp/tests/encode.ts';
import { type Behaviour, type OtlpReceiver, startOtlpReceiver } from '../../../harness/otlp-receiver.ts';
import { must } from '../fixture.ts';
import type { Health } from '../shared-log.ts';
import { forever, type Workload } from '../workloads.ts';
import type { Caller } from './caller.ts';

const spansARequest = 5;
/** Spans that the difficult backend refuses one by one: few, so that the spans are at fault and not the backend. */
const isBad = (name: string): boolean => /^soak\.\d*77-1$/.test(name);

/** How a backend behaves for a while. */
type Mood = 'well' | 'slow' | 'unavailable' | 'throttled' | 'dropping';
const moods: Record<Mood, Behaviour> = {
  well: {},
  slow: { delayMs: 1_500 },
  unavailable: { status: 503 },
  throttled: { status: 429, headers: { 'retry-after': '2' } },
  dropping: { drop: true },
};

/** A backend that keeps which spans it has, and none of their bytes. */
class Backend {
  readonly receiver: OtlpReceiver;
  readonly kept = new Set<string>();
  /** Spans that came once more. */
  duplicates = 0;
  #faults = 0;
  mood: Mood = 'well';
  integration = '';

  constructor(receiver: OtlpReceiver, refuses: (name: string) => boolean) {
    this.receiver = receiver;
    receiver.respondWith((request) => {
      const { spans } = request;
      request.body = request.payload = Buffer.alloc(0);
      request.spans = [];
      if (receiver.requests.length > 500) {
        this.#faults = this.faults();
        receiver.clear();
      }
      const behaviour = moods[this.mood];
      if (behaviour.drop || (behaviour.status ?? 200) >= 300) return behaviour;
      if (spans.some(({ name }) => refuses(name))) return 400;
      for (const { traceId, spanId, name } of spans) {
        const key = `${name} ${traceId} ${spanId}`;
        if (this.kept.has(key)) this.duplicates++;
        this.kept.add(key);
      }
      return behaviour;
    });
  }

  /** How many requests were not valid OTLP. */
  faults(): number {
    return this.#faults + this.receiver.requests.filter(({ fault }) => fault !== null).length;
  }

  names(): Set<string> {
    return new Set([...this.kept].map((key) => key.slice(0, key.lastIndexOf(' ', key.lastIndexOf(' ') - 1))));
  }
}

/** The same spans as JSON. */
const asJson = (prefix: string, agentId: string): string => {
  const hex = (bytes: number): string =>
    Buffer.from(prefix.padStart(bytes, '#')).subarray(-bytes).toString('hex');
  const attributes = [{ key: 'gen_ai.agent.id', value: { stringValue: agentId } }];
  const spans = Array.from({ length: spansARequest }, (_, i) => ({
    traceId: hex(16),
    spanId: `${hex(7)}0${i}`,
    name: `${prefix}-${i}`,
    kind: 1,
    startTimeUnixNano: '1700000000000000000',
    endTimeUnixNano: '1700000000000000001',
  }));
  return JSON.stringify({ resourceSpans: [{ resource: { attributes }, scopeSpans: [{ spans }] }] });
};

type Counters = Omit<Health, 'state'>;

/**
 * A client that sends traces in every encoding to all replicas, and two backends: the first is slow at times, the
 * second fails in every way and refuses single spans. They also get the spans of the platform's own runs.
 */
export class Traces implements Workload {
  readonly acknowledged: string[] = [];
  readonly #caller: Caller;
  readonly backends: [good: Backend, difficult: Backend];
  readonly #loop: Workload;

  private constructor(caller: Caller, agentId: string, backends: [Backend, Backend], pauseMs: number) {
    this.#caller = caller;
    this.backends = backends;
    let n = 0;
    this.#loop = forever(1, pauseMs, async () => {
      const prefix = `soak.${n++}`;
      const json = n % 3 === 0;
      const plain = json
        ? Buffer.from(asJson(prefix, agentId))
        : spansNamed(prefix, spansARequest, agentId, 300);
      const gzip = n % 2 === 0;
      const headers = {
        'content-type': json ? 'application/json' : 'application/x-protobuf',
        ...(gzip ? { 'content-encoding': 'gzip' } : {}),
      };
      const body = gzip ? gzipSync(plain) : plain;
      if (await caller.ask((api) => api.raw('POST', '/telemetry/v1/traces', body, { headers })))
        this.acknowledged.push(prefix);
      if (n % 100 === 0) this.#changeMoods();
    });
  }

  static async start(caller: Caller, agentId: string, pauseMs: number): Promise<Traces> {
    const [good, difficult] = await Promise.all([startOtlpReceiver(), startOtlpReceiver()]);
    const backends: [Backend, Backend] = [new Backend(good, () => false), new Backend(difficult, isBad)];
    for (const backend of backends) {
      const settings = { provider: 'otlp_custom_headers', url: backend.receiver.url };
      const made = await must(
        caller.fixture.api().post('/observability/integrations', { version: '1', settings }),
      );
      backend.integration = String(made.id);
    }
    return new Traces(caller, agentId, backends, pauseMs);
  }

  #changeMoods(): void {
    const [good, difficult] = this.backends;
    const { random } = this.#caller;
    good.mood = random() < 0.2 ? 'slow' : 'well';
    difficult.mood = random() < 0.5 ? 'well' : pick(random, ['slow', 'unavailable', 'throttled', 'dropping']);
  }

  async stop(): Promise<void> {
    await this.#loop.stop();
    for (const backend of this.backends) backend.mood = 'well';
  }

  async close(): Promise<void> {
    await Promise.all(this.backends.map(({ receiver }) => receiver.close()));
  }

  counters(): Promise<Counters[]> {
    const api = this.#caller.fixture.api();
    return Promise.all(
      this.backends.map(({ integration }) =>
        must(api.get(`/observability/integrations/${integration}/health`)),
      ),
    ) as unknown as Promise<Counters[]>;
  }

  /** When nothing is queued: what is lost, and which counter is wrong. */
  async problems(): Promise<string[]> {
    const problems: string[] = [];
    const [good, difficult] = this.backends;
    const names = this.backends.map((backend) => backend.names());
    for (const prefix of this.acknowledged) {
      for (let i = 0; i < spansARequest; i++) {
        const name = `${prefix}-${i}`;
        if (!names[0]!.has(name)) problems.push(`${name} is lost`);
        if (!isBad(name) && !names[1]!.has(name)) problems.push(`${name} is lost by the difficult backend`);
      }
    }
    const bad = [...names[0]!].filter(isBad).length;
    const expected = [
      { delivered: good.kept.size, dead_lettered: 0 },
      { delivered: good.kept.size - bad, dead_lettered: bad },
    ];
    if (difficult.kept.size !== good.kept.size - bad)
      problems.push(
        `the backends have ${good.kept.size} and ${difficult.kept.size} spans, ${bad} were refused`,
      );
    for (const [i, is] of (await this.counters()).entries()) {
      const wanted = { ...expected[i]!, rejected: 0, expired: 0, discarded: 0, queued: 0 };
      for (const [name, count] of Object.entries(wanted)) {
        if (is[name as keyof Counters] !== count)
          problems.push(`integration ${i + 1}: ${name} is ${is[name as keyof Counters]}, not ${count}`);
      }
    }
    if (good.faults() + difficult.faults() > 0)
      problems.push('a backend got a request that is not valid OTLP');
    return problems;
  }
}
