import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import { type Api, apiOf, pageSize } from '../api.ts';
import { CommandFailure } from '../client.ts';
import { fetchFor } from '../proxy.ts';
import { safe } from '../show.ts';
import type { LoadTestOptions } from './options.ts';
import { type Sent, steadily } from './pace.ts';
import { type Row, showRows } from './table.ts';
import {
  createAll,
  createWorkItem,
  deleteAll,
  deleteLeftAgents,
  findOthers,
  type Made,
  namePrefix,
} from './workspace.ts';

const spansARequest = 50;
/** Time to wait for open Work Items after the load, in milliseconds. */
const patienceMs = 60_000;

/** Sends spans of the agent as OTLP in JSON, with gzip. */
const sendSpans = async ({ url, key }: LoadTestOptions, agentId: string): Promise<void> => {
  const now = `${Date.now()}000000`;
  const traceId = randomBytes(16).toString('hex');
  const spans = Array.from({ length: spansARequest }, () => ({
    traceId,
    spanId: randomBytes(8).toString('hex'),
    name: namePrefix,
    kind: 1,
    startTimeUnixNano: now,
    endTimeUnixNano: now,
  }));
  const attributes = [{ key: 'gen_ai.agent.id', value: { stringValue: agentId } }];
  const body = { resourceSpans: [{ resource: { attributes }, scopeSpans: [{ spans }] }] };
  const fetch = await fetchFor(url);
  const response = await fetch(`${url}/api/v2/telemetry/v1/traces`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${key}`,
      'content-type': 'application/json',
      'content-encoding': 'gzip',
    },
    body: gzipSync(JSON.stringify(body)),
  });
  await response.arrayBuffer();
  if (!response.ok) throw new Error(`traces got ${response.status}`);
};

interface Item {
  created_at: string;
  finished_at: string;
}

interface Page {
  records: Item[];
  total_count: number;
  next_offset: number | null;
}

interface Finished {
  total: number;
  completed: number;
  /** Milliseconds from PENDING to COMPLETED, of the newest of each agent. */
  took: number[];
}

/** The most Work Items of an agent that are read for their times. */
const mostRead = 2_000;

/** The Work Items of all agents, as soon as none of them is open, or after a minute, or when `signal` is aborted. */
const finishedItems = async (api: Api, agents: readonly string[], signal: AbortSignal): Promise<Finished> => {
  const list = (id: string, more: string): Promise<Page> => api.get(`/work-items?agent_id=${id}${more}`);
  const until = Date.now() + patienceMs;
  const waiting = new Set(agents);
  while (waiting.size > 0 && Date.now() < until && !signal.aborted) {
    for (const id of waiting) {
      // Lists are read one after the other, in the order of the statuses: a Work Item that is claimed between two
      // lists is in the second.
      const open = async (status: string) => (await list(id, `&status=${status}&limit=1`)).total_count > 0;
      if (!(await open('PENDING')) && !(await open('EXECUTING'))) waiting.delete(id);
    }
    if (waiting.size > 0) await sleep(200, undefined, { signal }).catch(() => {});
  }
  const finished: Finished = { total: 0, completed: 0, took: [] };
  for (const id of agents) {
    finished.total += (await list(id, '&limit=1')).total_count;
    for (let offset: number | null = 0; offset !== null && offset < mostRead; ) {
      const page: Page = await list(id, `&status=COMPLETED&limit=${pageSize}&offset=${offset}`);
      if (offset === 0) finished.completed += page.total_count;
      for (const { created_at, finished_at } of page.records)
        finished.took.push(Date.parse(finished_at) - Date.parse(created_at));
      offset = page.next_offset;
    }
  }
  return finished;
};

/** Returns the lateness of each firing of the schedules, in milliseconds, and the number of those that were skipped. */
const firingsOf = async (api: Api, { schedules }: Made) => {
  const late: number[] = [];
  let skipped = 0;
  for (const path of schedules) {
    const { data } = await api.app(`${path}/occurrences?limit=${pageSize}`);
    for (const { outcome, lateness_ms, count } of data) {
      if (outcome === 'skipped') skipped += count;
      else late.push(lateness_ms);
    }
  }
  return { late, skipped };
};

const row = (what: string, { took, failed }: Sent, seconds: number, each = 1): Row => ({
  what,
  count: took.length * each,
  failed: failed * each,
  took,
  perSecond: (took.length * each) / seconds,
});

/** Puts the load on the platform. Returns the lines of the result, and why the first request failed. */
const measure = async (
  api: Api,
  options: LoadTestOptions,
  made: Made,
  signal: AbortSignal,
): Promise<{ rows: Row[]; failure: string | null }> => {
  const { seconds } = options;
  const load = apiOf(options, { patient: false });
  const ids: string[] = [];
  let reads = 0;
  const run = (perSecond: number, send: () => Promise<void>) => steadily(perSecond, seconds, send, signal);
  const [created, single, lists, spans] = await Promise.all([
    run(options.workItems, async () => void ids.push((await createWorkItem(load, made)).id)),
    run(options.reads / 2, async () => {
      const id = ids[reads++ % Math.max(1, ids.length)];
      await load.get(id === undefined ? `/agents/${made.worker}` : `/work-items/${id}`);
    }),
    run(options.reads / 2, () => load.get(`/work-items?agent_id=${made.worker}&limit=50`)),
    run(options.spans / spansARequest, () => sendSpans(options, made.worker)),
  ]);
  const { total, completed, took } = await finishedItems(api, made.agents, signal);
  const { late, skipped } = await firingsOf(api, made);
  const rows: Row[] = [
    { what: 'firings: late by', count: late.length, failed: skipped, took: late, perSecond: null },
    row('create a Work Item', created, seconds),
    row('get a Work Item', single, seconds),
    row('list 50 Work Items', lists, seconds),
    {
      what: 'Work Items: PENDING to COMPLETED',
      count: completed,
      failed: total - completed,
      took,
      perSecond: completed / seconds,
    },
    row('spans acknowledged', spans, seconds, spansARequest),
  ];
  const failure = [created, single, lists, spans].find((sent) => sent.failure !== null)?.failure ?? null;
  return { rows, failure };
};

const signals = ['SIGINT', 'SIGTERM'] as const;

/**
 * Runs a load test against a platform, prints one table, and deletes what it created, also if it is interrupted. Returns
 * the exit status. Throws CommandFailure if it refuses to run.
 */
export const runLoadTest = async (
  options: LoadTestOptions,
  print: (text: string) => void,
): Promise<number> => {
  const api = apiOf(options, { patient: true });
  if (options.clean) {
    print(`Deleted ${await deleteLeftAgents(api)} agents of earlier load tests.\n`);
    return 0;
  }
  const others = await findOthers(api);
  if (others.length > 0 && !options.yes) {
    throw new CommandFailure(
      `The platform is in use. ${others.join(' ')} Run the load test with --yes anyway.`,
    );
  }
  const stop = new AbortController();
  const interrupt = (): void => stop.abort();
  // Not once: `npx` passes on the SIGINT that the terminal sends to both, and the second would end it before it cleans up.
  for (const signal of signals) process.on(signal, interrupt);
  const made: Made = { agents: [], schedules: [], worker: '' };
  let status = 1;
  try {
    await createAll(api, options, made, stop.signal);
    const { schedules, workItems, reads, spans, seconds } = options;
    print(
      `${schedules} schedules, ${workItems} Work Items, ${reads} reads and ${spans} spans a second, for ${seconds} s.\n\n`,
    );
    const { rows, failure } = await measure(api, options, made, stop.signal);
    print(showRows(rows));
    if (failure !== null) print(`\nThe first failure: ${safe(failure)}\n`);
    if (!stop.signal.aborted && rows.every(({ failed }) => failed === 0)) status = 0;
  } finally {
    const left = await deleteAll(api, made);
    for (const signal of signals) process.off(signal, interrupt);
    print(
      left === 0
        ? `\nDeleted its ${made.agents.length} agents and ${made.schedules.length} schedules. Its Work Items stay until the retention.\n`
        : `\n${left} of its agents could not be deleted. Run \`agent-platform load-test --clean\`.\n`,
    );
  }
  return status;
};
