import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openFileLog } from '@agent-platform/otlp/log';
import { afterEach, beforeEach, expect } from 'vitest';
import { spansNamed } from '../../packages/otlp/tests/encode.ts';
import { ShiftedClock } from '../../src/lib/clock.ts';
import { createEgress, type Egress } from '../../src/lib/egress.ts';
import { silentLogger } from '../../src/lib/log.ts';
import type { Health } from '../../src/telemetry/index.ts';
import { TelemetryPath } from '../../src/telemetry/telemetry-path.ts';
import { type OtlpReceiver, type ReceivedRequest, startOtlpReceiver } from './otlp-receiver.ts';
import { TestDestinations } from './test-destinations.ts';
import { until } from './wait.ts';

/** The telemetry path on its own folder, with one real backend and a clock that tests move. */
export class TelemetryFixture {
  directory = '';
  clock = new ShiftedClock();
  destinations = new TestDestinations();
  telemetry!: TelemetryPath;
  backend!: OtlpReceiver;
  /** How long a backend may take, at the next `start`. */
  requestTimeoutMs = 2_000;
  #egress!: Egress;
  #accepted = new Map<number, number>();

  async setUp(): Promise<void> {
    this.directory = await mkdtemp(join(tmpdir(), 'ap-delivery-'));
    this.clock = new ShiftedClock();
    this.destinations = new TestDestinations();
    this.requestTimeoutMs = 2_000;
    this.#accepted = new Map();
    this.#egress = createEgress({ deny: [] });
    this.backend = await startOtlpReceiver();
    await this.start();
  }

  async start(): Promise<void> {
    this.telemetry = new TelemetryPath({
      openLog: () => openFileLog({ directory: this.directory, now: () => this.clock.now() }),
      destinations: this.destinations,
      egress: this.#egress,
      clock: this.clock,
      random: () => 1,
      log: silentLogger,
      requestTimeoutMs: this.requestTimeoutMs,
      retention: () => ({ milliseconds: 72 * 3_600_000, bytes: 10_240 * 1024 * 1024 }),
    });
    await this.telemetry.open();
    this.telemetry.startDelivery();
  }

  /** Checks the counters of every integration: every accepted span is in exactly one state. */
  async tearDown(): Promise<void> {
    for (const { number, counters } of this.telemetry.integrations()) {
      const { delivered, rejected, dead_lettered, expired, discarded, queued } = counters;
      const accounted = delivered + rejected + dead_lettered + expired + discarded + queued;
      expect(accounted).toBe(this.#accepted.get(number) ?? 0);
    }
    await this.telemetry.close();
    await this.backend.close();
    await this.#egress.close();
    await rm(this.directory, { recursive: true });
  }

  /** Spans `PREFIX-0`, `PREFIX-1`, … of one agent, accepted by the receiver. Resolves to the body that was sent. */
  send = async (
    prefix: string,
    count: number,
    padding = 0,
    gzip?: (body: Buffer) => Buffer,
  ): Promise<Buffer> => {
    const routes = this.destinations.table().forAgent('agent');
    const plain = spansNamed(prefix, count, 'agent', padding);
    const body = gzip ? gzip(plain) : plain;
    const response = await this.telemetry.receiver.receive({
      contentType: 'application/x-protobuf',
      contentEncoding: gzip ? 'gzip' : undefined,
      body,
    });
    expect(response.status).toBe(200);
    for (const number of routes) this.#accepted.set(number, (this.#accepted.get(number) ?? 0) + count);
    return body;
  };

  health = async (number = 1): Promise<Health> => (await this.telemetry.health(number))!;

  /** Nothing is queued any more. */
  settled = (number = 1) => until(async () => (await this.health(number)).queued === 0);

  inState = (state: Health['state'], number = 1): Promise<Health> =>
    until(
      async () => {
        const now = await this.health(number);
        return now.state === state ? now : null;
      },
      10_000,
      5,
    );

  /** From now on only `later` moves the clock: what is due at a moment does not depend on how busy the machine is. */
  holdClock = (): void => {
    const { clock } = this;
    const held = Date.now();
    clock.now = () => held + clock.offset;
  };

  later = (milliseconds: number): void => {
    this.clock.advance(milliseconds);
    this.telemetry.wake();
  };
}

export const names = (requests: ReceivedRequest[]): string[] =>
  requests.flatMap(({ spans }) => spans.map(({ name }) => name));

/** Waits long enough for a request that must not arrive. */
export const quiet = () => new Promise((resolve) => setTimeout(resolve, 60));

/** Responds with `status` to requests with a bad span, with 200 to others. */
export const refuse = (bad: (name: string) => boolean, status: number) => (request: ReceivedRequest) =>
  request.spans.some(({ name }) => bad(name)) ? status : 200;

/** A fixture for each test of the file. */
export const useTelemetry = (): TelemetryFixture => {
  const fixture = new TelemetryFixture();
  beforeEach(() => fixture.setUp());
  afterEach(() => fixture.tearDown());
  return fixture;
};
