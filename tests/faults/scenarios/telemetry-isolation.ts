import { readFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { spansNamed } from '../../../packages/otlp/tests/encode.ts';
import { selfSigned } from '../../harness/self-signed.ts';
import type { CountersByIntegration, TestIntegration } from '../../harness/telemetry-server.ts';
import { until } from '../../harness/wait.ts';
import { inTelemetryProcess } from './telemetry-process.ts';
import { type CountingBackend, startCountingBackend } from './telemetry-tally.ts';

const spansARequest = 500;
/** Longer than this process, which has all the backends, may be kept from running: a retry would send spans twice. */
const requestTimeoutMs = 4_000;
const hour = 3_600_000;
const step = 60_000;

export interface IsolationReport {
  /** After the load: the counters while the backends are still bad. */
  counters: CountersByIntegration;
  healthy: CountingBackend['kept'];
  /** Requests that the backend with 429 got in its two hours. */
  throttled: number;
  /** After the bad backends are healthy again and everything is delivered. */
  healed: { counters: CountersByIntegration; backends: CountingBackend['kept'][] };
}

interface Speed {
  spansASecond: number;
  /** CPU of the whole process, in µs. */
  cpuASpan: number;
}

/** The processor time that a process has used, in µs. */
const cpuOf = async (pid: number): Promise<number> => {
  // After the name in parentheses: fields 14 and 15 of proc(5), in hundredths of a second.
  const fields = (await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => ''))
    .replace(/^.*\) /, '')
    .split(' ');
  return (Number(fields[11] ?? 0) + Number(fields[12] ?? 0)) * 10_000;
};

const listening = async (server: Server): Promise<{ port: number } & AsyncDisposable> => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    port: (server.address() as AddressInfo).port,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
};

const bodiesOf = (requests: number): Uint8Array<ArrayBuffer>[] =>
  Array.from({ length: requests }, (_, i) => new Uint8Array(spansNamed(`r${i}`, spansARequest, 'agent', 60)));

const post = async (port: number, bodies: Uint8Array<ArrayBuffer>[], clients = 3): Promise<void> => {
  let next = 0;
  await Promise.all(
    Array.from({ length: clients }, async () => {
      for (let body = bodies[next++]; body !== undefined; body = bodies[next++]) {
        const result = await fetch(`http://127.0.0.1:${port}/v1/traces`, {
          method: 'POST',
          headers: { 'content-type': 'application/x-protobuf' },
          body,
        });
        await result.arrayBuffer();
        if (result.status !== 200) throw new Error(`got ${result.status}`);
      }
    }),
  );
};

/** A backend that hangs, one that sends a byte a second, and one with a self-signed certificate. */
const startSilentBackend = async () => {
  const hanging = await listening(createServer(() => {}));
  const trickling = await listening(
    createServer((_request, response) => {
      response.writeHead(200);
      const timer = setInterval(() => response.write('x'), 1_000);
      response.on('close', () => clearInterval(timer));
    }),
  );
  const untrusted = await listening(createTlsServer(selfSigned, (_request, response) => response.end()));
  return {
    urls: [
      `http://127.0.0.1:${hanging.port}/`,
      `http://127.0.0.1:${trickling.port}/`,
      `https://127.0.0.1:${untrusted.port}/`,
    ],
    [Symbol.asyncDispose]: async () => {
      for (const one of [hanging, trickling, untrusted]) await one[Symbol.asyncDispose]();
    },
  };
};

/**
 * One healthy integration (1) among five bad ones: hanging (2), a byte a second (3), a wrong certificate (4), 429 for
 * two hours of the clock (5), and one that refuses a single span (6). Then the bad ones become healthy.
 */
export const runIsolation = async (requests: number): Promise<IsolationReport> => {
  let clockMs = 0;
  await using healthy = await startCountingBackend();
  await using silent = await startSilentBackend();
  await using limiting = await startCountingBackend(() =>
    clockMs < 2 * hour ? { status: 429, headers: { 'retry-after': '600' } } : 200,
  );
  await using rejecting = await startCountingBackend((names) => (names.includes('r0-250') ? 400 : 200));
  await using healthyBackend = await startCountingBackend();
  const bad = [...silent.urls, limiting.url, rejecting.url].map((url, i) => ({ number: i + 2, url }));
  return await inTelemetryProcess({ requestTimeoutMs }, async (process_) => {
    const integrations: TestIntegration[] = [{ number: 1, url: healthy.url }, ...bad];
    await process_.send({ integrations });
    await post(process_.port, bodiesOf(requests));
    const total = requests * spansARequest;
    await healthy.receiver.waitForRequests(1);
    await until(() => healthy.kept.unique === total, 30_000);
    // Two hours pass; each step of the clock lets every integration that is due try.
    while (clockMs <= 2 * hour + 1) {
      clockMs += step;
      await process_.send({ advanceMs: step });
      await sleep(5);
    }
    // A request to the two that do not respond lasts until its timeout.
    const counters = await until(async () => {
      const now = await process_.send();
      return now[1]!.queued === 0 && now[2]!.last_error && now[3]!.last_error && now[6]!.queued === 0 && now;
    }, 10_000);
    const throttled = limiting.receiver.requests.filter(({ status }) => status === 429).length;
    for (const one of integrations.slice(1, 4)) one.url = `${healthyBackend.url}/${one.number}`;
    await process_.send({ integrations });
    const healed = await until(async () => {
      const now = await process_.send({ advanceMs: step });
      return Object.values(now).every(({ queued }) => queued === 0) && now;
    }, 20_000);
    return {
      counters,
      healthy: healthy.kept,
      throttled,
      healed: { counters: healed, backends: [healthyBackend, limiting, rejecting].map(({ kept }) => kept) },
    };
  });
};

/**
 * How fast a healthy integration is served next to a second one. Runs with a healthy second one alternate with runs
 * among bad ones (the second refuses a span), each in a new process. Measured from the first request until its backend
 * has all spans.
 */
export const measureIsolation = async (
  rounds: number,
  requests: number,
): Promise<{ alone: Speed; among: Speed }[]> => {
  const bodies = bodiesOf(requests);
  const measure = async (crowded: boolean): Promise<Speed> => {
    await using healthy = await startCountingBackend();
    await using silent = await startSilentBackend();
    await using limiting = await startCountingBackend(() => ({
      status: 429,
      headers: { 'retry-after': '1' },
    }));
    // Delivery to a second backend is work that isolation does not save, so both kinds of runs have it.
    await using second = await startCountingBackend((names) =>
      crowded && names.includes('r0-250') ? 400 : 200,
    );
    const goodIntegrations = [healthy, second].map(({ url }, i) => ({ number: i + 1, url }));
    const bad = [...silent.urls, limiting.url].map((url, i) => ({ number: i + 3, url }));
    return await inTelemetryProcess({ requestTimeoutMs }, async (process_) => {
      await process_.send({ integrations: [...goodIntegrations, ...(crowded ? bad : [])] });
      const cpu = await cpuOf(process_.pid);
      const began = performance.now();
      await post(process_.port, bodies);
      await until(() => healthy.kept.unique === requests * spansARequest, 120_000, 2);
      const seconds = (performance.now() - began) / 1_000;
      const spans = requests * spansARequest;
      return { spansASecond: spans / seconds, cpuASpan: ((await cpuOf(process_.pid)) - cpu) / spans };
    });
  };
  const pairs: { alone: Speed; among: Speed }[] = [];
  await measure(true);
  for (let round = 0; round < rounds; round++) {
    // The order alternates, so that neither has an advantage.
    const first = await measure(round % 2 === 0);
    const second = await measure(round % 2 !== 0);
    pairs.push(round % 2 === 0 ? { alone: second, among: first } : { alone: first, among: second });
  }
  return pairs;
};
