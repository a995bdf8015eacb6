import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { int, seeded } from '../../../packages/cron/tests/random.ts';
import type {
  CountersByIntegration,
  ServerOptions,
  TestIntegration,
} from '../../harness/telemetry-server.ts';
import { until } from '../../harness/wait.ts';
import { freePort } from '../../harness/watchdog.ts';
import { spawnTelemetry } from './telemetry-process.ts';
import { type CountingBackend, startCountingBackend } from './telemetry-tally.ts';
import { Clients, spansARequest } from './telemetry-traffic.ts';

export interface TelemetryKillsOptions {
  kills: number;
  /** The least number of spans that are acknowledged in all. */
  spans: number;
  seed: number;
}

export interface TelemetryKillsReport {
  kills: number;
  /** Kills of a process that was still starting. */
  atStart: number;
  seconds: number;
  acknowledged: number;
  /** Requests that got no response because of a kill. */
  unanswered: number;
  duplicates: number[];
  /** The most that had to be sent again after a kill, in requests. */
  inFlight: number;
  counters: CountersByIntegration;
  /** Empty if nothing is lost and every count is exact. */
  problems: string[];
}

/** A segment holds about three requests, so that segments are deleted all the time. */
const segmentBytes = 200_000;
/** The backlog of the difficult backend, in bytes, when a life begins. */
const mostBehind = 4_000_000;
/**
 * The difficult backend refuses one span of every 16th request: few, so that the spans are at fault and not the
 * backend.
 */
const isBad = (name: string): boolean => /\.\d*5-250$/.test(name) && /[02468]\d-250$/.test(name);

const sumOf = (one: CountersByIntegration[number]): number =>
  one.delivered + one.rejected + one.dead_lettered + one.expired + one.discarded + one.queued;

/**
 * SIGKILL in a loop, at start-up, during ingest, delivery and the deletion of segments, with four integrations: a
 * healthy one; a difficult one (503s, 413s, single spans refused); one whose backend is away, so that its backlog
 * reaches the retention, until it is deleted halfway; and one that is added then. Every start must find exact counters;
 * at the end everything is verified.
 */
export const runTelemetryUnderKills = async (
  options: TelemetryKillsOptions,
): Promise<TelemetryKillsReport> => {
  const began = Date.now();
  const random = seeded(options.seed);
  const directory = await mkdtemp(join(tmpdir(), 'ap-telemetry-kills-'));
  const port = await freePort();
  await using healthy = await startCountingBackend();
  await using late = await startCountingBackend();
  await using difficult = await startCountingBackend((names, bytes, index) => {
    if (index % 97 === 96) return { status: 503, headers: { 'retry-after': '0' } };
    if (bytes > 1_000_000 && names.length > 1) return 413;
    return names.some(isBad) ? 400 : 200;
  });
  const integrations: TestIntegration[] = [
    { number: 1, url: healthy.url },
    { number: 2, url: difficult.url },
    { number: 3, url: 'http://127.0.0.1:9' },
  ];
  const server: ServerOptions = {
    directory,
    port,
    integrations,
    segmentBytes,
    retentionMegabytes: 16,
    requestTimeoutMs: 5_000,
  };
  const traffic = new Clients(port);
  const problems: string[] = [];
  const report = { kills: 0, atStart: 0, inFlight: 0 };
  let startMs = 300;
  let counters: CountersByIntegration = {};

  /** Compares what a start found with what clients and backends know. */
  const check = (found: CountersByIntegration): void => {
    const say = (problem: string) => problems.push(`after ${report.kills} kills: ${problem}`);
    const least = traffic.acknowledged.length * spansARequest;
    const most = least + traffic.unanswered.length * spansARequest;
    // The added one has what arrived after the deletion of the other.
    const [a = 0, b = 0, gone = 0, added = 0] = Object.values(found).map(sumOf);
    const sums = Object.keys(found).length === 0 ? [] : [a, b, gone + added];
    for (const sum of sums) {
      if (sum !== sums[0]) say(`integrations of the same routes got ${sums}`);
      if (sum < least || sum > most) say(`${sum} accepted, and ${least} to ${most} were sent`);
      if (sum % spansARequest !== 0) say(`${sum} accepted are not whole requests`);
    }
    for (const [number, one] of Object.entries(found)) {
      if (one.dead_lettered !== one.deadLetterFiles)
        say(
          `integration ${number}: ${one.dead_lettered} dead letters counted, ${one.deadLetterFiles} on disk`,
        );
      if (['1', '2', '4'].includes(number) && one.expired + one.discarded + one.rejected > 0)
        say(`integration ${number}: ${JSON.stringify(one)}`);
    }
    for (const [number, backend] of [
      [1, healthy],
      [2, difficult],
      [4, late],
    ] as const) {
      const again = backend.kept.unique - (found[number]?.delivered ?? 0);
      if (again < 0) say(`integration ${number}: ${-again} more counted as delivered than were`);
      let requests = 0;
      for (let spans = 0; spans < again; requests++) spans += backend.sizes.at(-1 - requests)!;
      report.inFlight = Math.max(report.inFlight, requests);
    }
  };

  try {
    for (let life = 0; ; life++) {
      const acknowledged = traffic.acknowledged.length * spansARequest;
      if (report.kills >= options.kills && acknowledged >= options.spans) break;
      if (life === Math.ceil(options.kills / 2)) {
        integrations.splice(2, 1, { number: 4, url: late.url });
      }
      const spawned = Date.now();
      const process_ = spawnTelemetry(server);
      if (life > 0 && random() < 0.2) {
        // Recovery of the log, of the cursors and of the dead letters, and the first deliveries.
        await sleep(random() * startMs * 1.2);
        await process_.kill();
        report.kills++;
        report.atStart++;
        continue;
      }
      check(await process_.found);
      await process_.ready;
      startMs = Date.now() - spawned;
      // Lives are short, and this backlog must not reach the retention.
      if (((await process_.send())[2]?.backlog_bytes ?? 0) > mostBehind) {
        await until(async () => (await process_.send())[2]!.backlog_bytes < mostBehind / 2, 30_000, 50);
      }
      const left = Math.max(1, options.kills - report.kills);
      const mean = Math.max(1, (options.spans - acknowledged) / spansARequest / left);
      const enough = traffic.acknowledged.length + int(random, 1, Math.ceil(mean * 2.5));
      const stop = new AbortController();
      const running = traffic.run(life, stop.signal);
      await until(() => traffic.acknowledged.length >= enough, 20_000, 2).catch(() => {
        problems.push(`life ${life}: too little was acknowledged`);
      });
      if (random() < 0.3) {
        // Nothing comes in: only delivery and deletion continue.
        stop.abort();
        await running;
        await sleep(random() * 300);
      } else await sleep(random() * 30);
      const killed = process_.kill();
      stop.abort();
      await Promise.all([killed, running]);
      report.kills++;
    }

    await using last = spawnTelemetry(server);
    check(await last.found);
    await last.ready;
    for (let least = Number.POSITIVE_INFINITY; least > 0; ) {
      least = await until(
        async () => {
          counters = await last.send();
          const queued = Object.values(counters).reduce((sum, one) => sum + one.queued, 0);
          return queued < least && { queued };
        },
        30_000,
        50,
      ).then(({ queued }) => queued);
    }
    problems.push(...traffic.refused, ...finalProblems(traffic, counters, healthy, difficult, late));
  } finally {
    await rm(directory, { recursive: true, force: true, maxRetries: 5 });
  }
  return {
    ...report,
    seconds: Math.round((Date.now() - began) / 1000),
    acknowledged: traffic.acknowledged.length * spansARequest,
    unanswered: traffic.unanswered.length,
    duplicates: [healthy, difficult, late].map(({ kept }) => kept.spans - kept.unique),
    counters,
    problems,
  };
};

/** After nothing is queued any more: which acknowledged spans are missing, and which counts are wrong. */
const finalProblems = (
  traffic: Clients,
  counters: CountersByIntegration,
  healthy: CountingBackend,
  difficult: CountingBackend,
  late: CountingBackend,
): string[] => {
  const problems: string[] = [];
  let bad = 0;
  for (const [prefixes, acknowledged] of [
    [traffic.acknowledged, true],
    [traffic.unanswered, false],
  ] as const) {
    for (const prefix of prefixes) {
      const all = Array.from({ length: spansARequest }, (_, i) => `${prefix}-${i}`);
      const arrived = all.filter((name) => healthy.kept.has(name));
      const wanted = arrived.filter((name) => !isBad(name));
      const too = all.filter((name) => difficult.kept.has(name));
      bad += arrived.length - wanted.length;
      // What got no response is in the log as a whole or not at all.
      if (arrived.length !== all.length && (acknowledged || arrived.length > 0))
        problems.push(`${prefix}: ${arrived.length} of ${all.length} came to the healthy backend`);
      if (too.length !== wanted.length)
        problems.push(`${prefix}: ${too.length} of ${wanted.length} came to the difficult backend`);
    }
  }
  const accepted = healthy.kept.unique;
  const expected: Record<number, Partial<CountersByIntegration[number]>> = {
    1: { delivered: accepted, dead_lettered: 0, expired: 0, discarded: 0 },
    2: { delivered: accepted - bad, dead_lettered: bad, deadLetterFiles: bad, expired: 0, discarded: 0 },
    3: { delivered: 0, dead_lettered: 0, removed: true },
    4: { delivered: late.kept.unique, dead_lettered: 0, expired: 0, discarded: 0 },
  };
  for (const [number, wanted] of Object.entries(expected)) {
    const is = counters[Number(number)]!;
    for (const [name, value] of Object.entries({ ...wanted, rejected: 0, queued: 0 })) {
      const count = is[name as keyof typeof is];
      if (count !== value) problems.push(`integration ${number}: ${name} is ${count}, not ${value}`);
    }
  }
  if (healthy.receiver.requests.some(({ fault }) => fault !== null))
    problems.push('a request was not valid OTLP');
  return problems;
};
