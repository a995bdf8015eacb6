import { execFile } from 'node:child_process';
import { appendFile, mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { promisify } from 'node:util';
import { spansNamed } from '../../../packages/otlp/tests/encode.ts';
import type { CountersByIntegration } from '../../harness/telemetry-server.ts';
import { until } from '../../harness/wait.ts';
import { freePort } from '../../harness/watchdog.ts';
import { spawnTelemetry, type TelemetryProcess } from './telemetry-process.ts';
import { type CountingBackend, startCountingBackend } from './telemetry-tally.ts';

const run = promisify(execFile);
const diskBytes = 4 * 1_048_576;
const spansARequest = 250;
/** The limit for everything here, however busy the machine is, in ms. */
const patienceMs = 60_000;

/** A folder on a disk of its own, of `diskBytes`; null if this process may not mount one. */
export const mountSmallDisk = async (): Promise<({ path: string } & AsyncDisposable) | null> => {
  const base = await mkdtemp(join(tmpdir(), 'ap-disk-'));
  const path = join(base, 'telemetry');
  await mkdir(path);
  try {
    await run('mount', ['-t', 'tmpfs', '-o', `size=${diskBytes}`, 'tmpfs', path]);
  } catch {
    await rm(base, { recursive: true });
    return null;
  }
  return {
    path: base,
    [Symbol.asyncDispose]: async () => {
      await run('umount', [path]);
      await rm(base, { recursive: true });
    },
  };
};

const ballastIn = (path: string): string => join(path, 'telemetry', 'ballast');
/** Fills the free space to the last byte, in addition to what it filled before. */
const fill = (path: string) => appendFile(ballastIn(path), Buffer.alloc(diskBytes)).catch(() => {});
const makeRoom = (path: string) => rm(ballastIn(path));

const postSpans = (port: number, prefix: string): Promise<Response> =>
  fetch(`http://127.0.0.1:${port}/v1/traces`, {
    method: 'POST',
    headers: { 'content-type': 'application/x-protobuf' },
    body: new Uint8Array(spansNamed(prefix, spansARequest, 'agent', 1_000)),
  });

interface Refusal {
  status: number;
  retryAfter: string | null;
  body: string;
}

export interface DiskReport {
  /** The first refusal, after the backlog has filled the disk. */
  refusal: Refusal;
  /** Spans acknowledged before it. */
  beforeFull: number;
  /** After SIGKILL and a start on the full disk. */
  restarted: CountersByIntegration;
  /** Spans delivered while the disk was full. */
  whileFull: CountersByIntegration;
  /** The state after another process has filled the disk. */
  refusalByBallast: Refusal;
  acknowledged: number;
  counters: CountersByIntegration;
  kept: CountingBackend['kept'];
  lost: string[];
}

/**
 * The disk of the telemetry log runs full, first by the backlog of a backend that is away and then by another process.
 */
export const runDiskFull = async (path: string, segmentBytes?: number): Promise<DiskReport> => {
  await using backend = await startCountingBackend();
  const port = await freePort();
  const acknowledged: string[] = [];
  let sent = 0;
  /** Sends one request. Resolves to null if it was acknowledged. */
  const post = async (): Promise<Refusal | null> => {
    const prefix = `r${sent++}`;
    const response = await postSpans(port, prefix);
    const body = await response.text();
    if (response.status === 200) acknowledged.push(prefix);
    return response.status === 200
      ? null
      : { status: response.status, retryAfter: response.headers.get('retry-after'), body };
  };
  const untilRefused = () => until(post, patienceMs, 0);
  const untilTaken = () => until(async () => (await post()) === null, patienceMs, 20);
  const delivered = (process_: TelemetryProcess) =>
    until(async () => {
      const now = await process_.send();
      return now[1]!.queued === 0 && now;
    }, patienceMs);

  const options = {
    directory: path,
    port,
    integrations: [{ number: 1, url: 'http://127.0.0.1:9' }],
    ...(segmentBytes === undefined ? {} : { segmentBytes }),
  };
  const first = spawnTelemetry(options);
  let refusal: Refusal;
  try {
    await first.ready;
    refusal = await untilRefused();
    // It stays so.
    for (let i = 0; i < 5; i++) await post();
  } finally {
    await first.kill();
  }
  const beforeFull = acknowledged.length * spansARequest;
  await fill(path);

  await using process_ = spawnTelemetry(options);
  const restarted = await process_.found;
  await process_.ready;
  await process_.send({ integrations: [{ number: 1, url: backend.url }] });
  const whileFull = await delivered(process_);
  // Only the space of what was delivered is free.
  await untilTaken();

  await delivered(process_);
  await fill(path);
  const refusalByBallast = await untilRefused();
  await makeRoom(path);
  await untilTaken();
  for (let i = 0; i < 5; i++) await post();
  const counters = await delivered(process_);
  const names = acknowledged.flatMap((prefix) =>
    Array.from({ length: spansARequest }, (_, i) => `${prefix}-${i}`),
  );
  return {
    refusal,
    beforeFull,
    restarted,
    whileFull,
    refusalByBallast,
    acknowledged: names.length,
    counters,
    kept: backend.kept,
    lost: names.filter((name) => !backend.kept.has(name)),
  };
};

/**
 * A backend refuses a single span while there is no room for its dead letter; then there is room. Resolves to the
 * counters before and after that, and to what the backend kept of the 750 spans.
 */
export const runDeadLetterWithoutRoom = async (
  path: string,
): Promise<{
  without: CountersByIntegration;
  behind: CountersByIntegration;
  kept: CountingBackend['kept'];
}> => {
  let refused = false;
  await using backend = await startCountingBackend((names) => {
    refused ||= names.length === 1 && names[0] === 'r1-7';
    return names.includes('r1-7') ? 400 : 200;
  });
  const port = await freePort();
  const integrations = [{ number: 1, url: 'http://127.0.0.1:9' }];
  await using process_ = spawnTelemetry({ directory: path, port, integrations });
  await process_.ready;
  for (let i = 0; i < 3; i++) await (await postSpans(port, `r${i}`)).arrayBuffer();
  await fill(path);
  await process_.send({ integrations: [{ number: 1, url: backend.url }] });
  await until(() => refused, patienceMs);
  await setTimeout(300);
  const without = await process_.send();
  await makeRoom(path);
  const behind = await until(async () => {
    const now = await process_.send();
    return now[1]!.queued === 0 && now;
  }, patienceMs);
  return { without, behind, kept: backend.kept };
};
