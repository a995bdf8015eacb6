import { setTimeout as sleep } from 'node:timers/promises';
import { spansNamed } from '../../../packages/otlp/tests/encode.ts';
import { startNats } from '../../harness/nats.ts';
import { startOtlpReceiver } from '../../harness/otlp-receiver.ts';
import { adminKey } from '../../harness/process.ts';
import { startTcpProxy } from '../../harness/tcp-proxy.ts';
import { until } from '../../harness/wait.ts';
import { nothingDue } from './due.ts';
import { Fixture, must } from './fixture.ts';
import { verifyWithProduct } from './product-verifier.ts';
import { makeSchedules } from './test-schedules.ts';
import type { Verification } from './verifier.ts';

const minute = 60_000;
const replicas = 3;
/** The replica that is cut off. */
const victim = 0;
const heldARound = 3;
/** Longer than any lease in real time: 2 s for Work Items, 12 s for deliveries, and what follows from them. */
const longMs = 20_000;

export interface CutOff {
  /** The database alone, or the log too. */
  log: boolean;
  /** What was sent meanwhile is lost, or arrives when the network is back. */
  late: boolean;
}

export interface CutOffReport {
  rounds: number;
  /** From the cut until the replica said that it is not ready, and from its end until it said that it is. */
  unreadyMs: number[];
  readyMs: number[];
  /** From the cut until everything that was in flight was done, by whichever replica. */
  takenMs: number[];
  /** Until the others had fired everything that fell due meanwhile. */
  firedMs: number[];
  items: number;
  /** Work Items that the others took over. */
  takenOver: number;
  spans: number;
  /** Spans that a backend got more than once. */
  repeated: number;
  problems: string[];
  verification: Verification;
}

interface ItemRow {
  id: string;
  status: string;
  claims: number;
  lost: number;
  completions: number;
}

/** One replica of three is cut off from the database, with and without the telemetry log, for longer than any lease. */
export const runCutOffs = async (rounds: readonly CutOff[], schedules: number): Promise<CutOffReport> => {
  await using nats = await startNats();
  await using backend = await startOtlpReceiver();
  await using fixture = await Fixture.open('postgres', replicas);
  const direct = new URL(fixture.databaseUrl!);
  await using database = await startTcpProxy(Number(direct.port));
  await using log = await startTcpProxy(nats.port);
  const through = new URL(direct);
  through.port = String(database.port);
  await Promise.all(
    fixture.replicas.map((_, i) =>
      fixture.start(i, {
        databaseUrl: i === victim ? through.href : direct.href,
        env: {
          EGRESS_ALLOW: '127.0.0.0/8',
          TELEMETRY_LOG_URL: i === victim ? `nats://127.0.0.1:${log.port}` : nats.url,
        },
      }),
    ),
  );
  const api = fixture.api(1);
  await must(api.patch('/advanced-settings', { WORK_ITEM_LEASE_SECONDS: 2 }));
  const settings = { provider: 'otlp_custom_headers', url: backend.url };
  const integration = await must(api.post('/observability/integrations', { settings, version: '1' }));
  await must(api.post(`/observability/integrations/${integration.id}/scopes`, { scope: 'global' }));
  const made = await makeSchedules(api, schedules, undefined, { mock: { steps: [{ text: 'Done.' }] } });
  const agent = await must(
    api.post('/agents', {
      name: 'in flight',
      mode: 'worker',
      settings: { max_attempts: 100, max_concurrency: 100 },
    }),
  );

  const problems: string[] = [];
  const ready = async (i: number, base = Date.now()): Promise<{ ok: boolean; ms: number }> => {
    const response = await fetch(`http://127.0.0.1:${fixture.replicas[i]!.port}/readyz`, {
      signal: AbortSignal.timeout(10_000),
    });
    await response.arrayBuffer();
    return { ok: response.ok, ms: Date.now() - base };
  };
  const acknowledged: string[] = [];
  const send = async (i: number, name: string): Promise<number> => {
    const response = await fetch(`http://127.0.0.1:${fixture.replicas[i]!.port}/v1/traces`, {
      method: 'POST',
      headers: { authorization: `Bearer ${adminKey}`, 'content-type': 'application/x-protobuf' },
      body: new Uint8Array(spansNamed(name, 1, 'agent', 200)),
      signal: AbortSignal.timeout(20_000),
    }).catch(() => null);
    if (response?.status === 200) acknowledged.push(`${name}-0`);
    return response?.status ?? 0;
  };
  const pid = fixture.replicas[victim]!.process!.pid;
  /** How many Work Items execute on it, or are not done. */
  const open = (where: string) =>
    fixture.inspect(async (rows) => {
      const [row] = await rows<{ n: number }>(
        `select count(*)::int as n from work_items where agent_id = '${agent.id}' and ${where}`,
      );
      return row!.n;
    });
  const held = () => open(`status = 'EXECUTING' and lease_owner like '%:${pid}'`);
  let items = 0;
  const offer = async (): Promise<void> => {
    const steps = [{ text: 'Done.', delay_ms: 3_000 }];
    await must(api.post('/work-items', { agent_id: agent.id, message: 'go', payload: { mock: { steps } } }));
    items++;
  };
  const report = {
    unreadyMs: [] as number[],
    takenMs: [] as number[],
    readyMs: [] as number[],
    firedMs: [] as number[],
  };
  for (const [n, { log: withLog, late }] of rounds.entries()) {
    await until(() => nothingDue(fixture), 60_000, 50);
    // The others may be quicker, until they have as many as they take at once.
    await until(async () => (await held()) >= heldARound || (await offer()), 30_000, 20);
    for (const i of [0, 1, 2]) await send(i, `before.${n}.${i}`);
    const how = late ? 'held' : 'silent';
    const begun = Date.now();
    database[how] = true;
    if (withLog) log[how] = true;
    // Traces go on arriving at it, as from a sender that does not ask /readyz.
    const sending = Array.from({ length: 5 }, (_, k) => send(victim, `cut.${n}.${k}`));
    const away = await until(
      async () => {
        const now = await ready(victim, begun);
        return !now.ok && now;
      },
      20_000,
      100,
    );
    report.unreadyMs.push(away.ms);
    // In real time: a move of the clock would end the leases of the others too.
    const left = () => open(`status in ('PENDING', 'EXECUTING')`);
    await until(async () => (await left()) === 0, 30_000, 50).catch(() =>
      problems.push('what it had in flight was not taken over'),
    );
    report.takenMs.push(Date.now() - begun);
    // A minute begins, and a second one later.
    for (let m = 0; m < 2; m++) {
      await fixture.moveClock(minute - (fixture.now() % minute) + 200);
      const moved = Date.now();
      await fixture.wake();
      await until(() => nothingDue(fixture), 60_000, 20);
      report.firedMs.push(Date.now() - moved);
      for (const i of [1, 2]) {
        const status = await send(i, `meanwhile.${n}.${m}.${i}`);
        if (status !== 200) problems.push(`traces through replica ${i} got ${status}`);
        if (!(await ready(i)).ok) problems.push(`replica ${i} is not ready`);
      }
      await sleep(Math.max(0, ((m + 1) * longMs) / 2 - (Date.now() - begun)));
    }
    if ((await ready(victim)).ok) problems.push('the replica says that it is ready while it is cut off');
    database[how] = false;
    log[how] = false;
    const back = Date.now();
    await until(async () => (await ready(victim)).ok, 60_000, 50);
    report.readyMs.push(Date.now() - back);
    await Promise.all(sending);
    const written = await until(
      async () => {
        const { status } = await fixture.api(victim).post('/agents', { name: `after ${n}`, mode: 'worker' });
        return status < 300;
      },
      30_000,
      100,
    ).catch(() => false);
    if (!written) problems.push('the replica takes no writes after it is back');
    await until(async () => (await send(victim, `after.${n}.${Date.now()}`)) === 200, 30_000, 100).catch(() =>
      problems.push('the replica takes no traces after it is back'),
    );
  }
  const ended = () =>
    fixture.inspect(async (rows) => {
      const all = await rows<ItemRow>(`select w.id, w.status,
        (select count(*)::int from work_item_events e where e.work_item_id = w.id and e.action = 'claim') as claims,
        (select count(*)::int from work_item_events e where e.work_item_id = w.id and e.action = 'lease_lost') as lost,
        (select count(*)::int from work_item_events e where e.work_item_id = w.id and e.action = 'finish') as completions
        from work_items w where w.agent_id = '${agent.id}'`);
      return all.every(({ status }) => status !== 'PENDING' && status !== 'EXECUTING') && all;
    });
  const all = await until(ended, 60_000, 100);
  for (const row of all) {
    // Only the replica that was cut off lost leases, so each is taken over at most once. What it learned too late is in the
    // history as `late_result`, and changes nothing.
    const once = row.status === 'COMPLETED' && row.completions === 1 && row.lost <= 1;
    if (!once || row.claims !== row.lost + 1) problems.push(JSON.stringify(row));
  }
  if (all.length !== items) problems.push(`${all.length} of ${items} Work Items`);
  const count = () => {
    const names = new Map<string, number>();
    for (const { name } of backend.spans()) names.set(name, (names.get(name) ?? 0) + 1);
    return names;
  };
  await until(() => acknowledged.every((name) => count().has(name)), 40_000, 100).catch(() => {
    const missing = acknowledged.filter((name) => !count().has(name));
    problems.push(`${missing.length} acknowledged spans did not arrive: ${missing.slice(0, 5)}`);
  });
  return {
    rounds: rounds.length,
    ...report,
    items,
    takenOver: all.filter(({ lost }) => lost > 0).length,
    spans: acknowledged.length,
    repeated: [...count().values()].filter((times) => times > 1).length,
    problems,
    verification: await verifyWithProduct(fixture, made),
  };
};
