import { loadavg } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { client } from '../tests/harness/http.ts';
import { startPostgres } from '../tests/harness/postgres.ts';
import { spawnPlatform } from '../tests/harness/process.ts';
import { startToolServer, type TestToolServer } from '../tests/harness/tool-server.ts';
import { body, ms } from './data/rig.ts';
import { percentile } from './runtime/items.ts';

/** Evaluation on PostgreSQL with fsync and the mock model: recordings, trials, imports and comparisons. */

const recorded = Number(process.env.EVALUATION_ITEMS ?? 1_000);
const imported = 5_000;
const reads = 100;

type Api = ReturnType<typeof client>;
// biome-ignore lint/suspicious/noExplicitAny: JSON of the API, read field by field
type Json = any;

interface Figure {
  what: string;
  goal: string;
  here: string;
}

const inTurn = async <T, R>(
  items: readonly T[],
  width: number,
  fn: (item: T) => Promise<R>,
): Promise<R[]> => {
  const results: R[] = [];
  let next = 0;
  const worker = async (): Promise<void> => {
    for (let i = next++; i < items.length; i = next++) results[i] = await fn(items[i]!);
  };
  await Promise.all(Array.from({ length: width }, worker));
  return results;
};

/** Scripts of the mock model: calls after each other, calls of one step, a call that needs approval, a question. */
const script = (i: number): object[] => {
  const look = (n: number) => ({ tool: 's__look', args: { n, i } });
  switch (i % 4) {
    case 0:
      return [look(1), look(2), { text: `Looked twice ${i}.` }];
    case 1:
      return [{ tools: [look(1), { tool: 's__book', args: { i } }, look(1)] }, { text: `At once ${i}.` }];
    case 2:
      return [{ tool: 's__pay', args: { i } }, { text: `Paid ${i}.` }];
    default:
      return [{ tool: 'request_review', args: { reason: `May I ${i}?` } }, { text: `Reviewed ${i}.` }];
  }
};

/** Creates `recorded` Work Items, and continues those that wait for a person. Returns their ids when all are COMPLETED. */
const record = async (api: Api, agentId: string): Promise<string[]> => {
  const ids = await inTurn(
    Array.from({ length: recorded }, (_, i) => i),
    16,
    async (i) => {
      const payload = { mock: { steps: script(i) } };
      return (await body(api.post('/work-items', { agent_id: agentId, message: `Item ${i}`, payload })))
        .id as string;
    },
  );
  return inTurn(ids, 16, async (id) => {
    for (;;) {
      const item: Json = await body(api.get(`/work-items/${id}`));
      if (item.status === 'COMPLETED') return id;
      if (item.status === 'NEEDS_REVIEW') {
        const isQuestion = item.pending_approvals.some(({ kind }: Json) => kind === 'question');
        const decisions = item.pending_approvals.map(({ approval_id }: Json) => ({
          approval_id,
          decision: 'approve',
        }));
        const reply = isQuestion ? { message: 'You may.' } : { decisions };
        await body(api.post(`/work-items/${id}/continue`, reply));
      } else if (item.status === 'ERROR' || item.status === 'INDETERMINATE')
        throw new Error(`${item.status}: ${JSON.stringify(item.error)}`);
      await sleep(100);
    }
  });
};

/** Runs an experiment. Returns it and the seconds from its request to its end. */
const experiment = async (api: Api, fields: object): Promise<{ ended: Json; seconds: number }> => {
  const began = performance.now();
  const { id } = await body(api.post('/experiments', fields));
  for (;;) {
    const ended: Json = await body(api.get(`/experiments/${id}`));
    if (ended.state === 'done') return { ended, seconds: (performance.now() - began) / 1_000 };
    await sleep(250);
  }
};

const listAll = async (api: Api, path: string): Promise<Json[]> => {
  const all: Json[] = [];
  for (let next = ''; ; ) {
    const page: Json = await body(api.get(`${path}?limit=200${next === '' ? '' : `&next=${next}`}`));
    all.push(...page.data);
    if (!page.has_more) return all;
    next = page.next;
  }
};

const timed = async (fn: () => Promise<unknown>): Promise<number> => {
  const began = performance.now();
  await fn();
  return performance.now() - began;
};

/** 95th percentile of `reads` reads, in milliseconds, after one that is not counted. */
const p95 = async (fn: (n: number) => Promise<unknown>): Promise<number> => {
  await fn(0);
  const took: number[] = [];
  for (let n = 0; n < reads; n++) took.push(await timed(() => fn(n)));
  return percentile(took, 0.95);
};

const setUp = async (api: Api, tools: TestToolServer): Promise<string> => {
  const server = await body(api.post('/tool-servers', { name: 'shop', prefix: 's', url: tools.url }));
  const policy = (tool: string, policy: string) => ({ tool_server_id: server.id, tool, policy });
  const llm = (await body(api.get('/llm-configurations'))).data.find(({ kind }: Json) => kind === 'mock');
  const agent = await body(
    api.post('/agents', {
      name: 'Recorded',
      mode: 'worker',
      llm_id: llm.id,
      tool_server_ids: [server.id],
      tool_policies: [policy('look', 'allow'), policy('book', 'allow'), policy('pay', 'require_approval')],
      settings: { max_concurrency: 100 },
    }),
  );
  await body(api.patch('/advanced-settings', { MAX_CONCURRENT_WORK_ITEMS: 32, MAX_CONCURRENT_TRIALS: 32 }));
  return agent.id;
};

/** Records Work Items, makes cases of them, and replays them with recorded replies. */
const measureReplay = async (api: Api, agentId: string, tools: TestToolServer): Promise<Figure[]> => {
  const ids = await record(api, agentId);
  const { id: dataset_id } = await body(api.post('/datasets', { name: 'recorded' }));
  const casesMs = await timed(() =>
    inTurn(ids, 8, (work_item_id) => body(api.post(`/datasets/${dataset_id}/cases`, { work_item_id }))),
  );
  const calls = tools.requests.length;
  const fields = { agent_id: agentId, dataset_id, version: 'published', model: 'recorded' };
  const { ended, seconds } = await experiment(api, fields);
  const hashes = new Map(
    (await listAll(api, `/datasets/${dataset_id}/cases`)).map((one) => [one.id, one.transcript_hash]),
  );
  const trials = await listAll(api, `/experiments/${ended.id}/trials`);
  const equal = trials.filter((trial) => trial.transcript_hash === hashes.get(trial.case_id)).length;
  return [
    {
      what: `${recorded} recorded Work Items, replayed with recorded replies`,
      goal: `${recorded} equal transcripts, 0 calls of tools`,
      here: `${equal} equal, ${tools.requests.length - calls} calls, ${seconds.toFixed(1)} s`,
    },
    { what: 'a case of a recorded Work Item', goal: '', here: ms(casesMs / recorded) },
  ];
};

/** Imports cases, and runs trials of them. */
const measureTrials = async (api: Api, agentId: string): Promise<Figure[]> => {
  const graders = [
    { name: 'answer', type: 'contains', values: ['yes'] },
    { name: 'steps', type: 'steps', max_steps: 3 },
  ];
  const { id: dataset_id } = await body(api.post('/datasets', { name: 'imported', graders }));
  const line = (i: number) => {
    const payload = { mock: { steps: [{ text: i % 3 === 0 ? 'no' : 'yes' }] } };
    return JSON.stringify({
      name: `case ${i}`,
      tags: i < 1_000 ? ['first'] : [],
      input: { message: `Case ${i}`, payload },
    });
  };
  const content = Array.from({ length: imported }, (_, i) => line(i)).join('\n');
  const importMs = await timed(() => body(api.post(`/datasets/${dataset_id}/import`, { content })));
  const fields = { agent_id: agentId, dataset_id, version: 'published' };
  const thousand = await experiment(api, { ...fields, tags: ['first'] });
  const [a, b] = [await experiment(api, fields), await experiment(api, fields)];
  const compare = `/experiments/${a.ended.id}/compare?with=${b.ended.id}`;
  const verdictMs = await p95(() => body(api.get(`${compare}&limit=1`)));
  const trials = (await body(api.get(`/experiments/${a.ended.id}/trials?limit=200`))).data as Json[];
  const trialMs = await p95((n) => body(api.get(`/experiments/${a.ended.id}/trials/${trials[n]!.id}`)));
  const pageMs = await p95(() => body(api.get(compare)));
  const experimentMs = await p95(() => body(api.get(`/experiments/${a.ended.id}`)));
  return [
    { what: `import of ${imported} cases`, goal: '30 s', here: ms(importMs) },
    { what: '1,000 trials', goal: '60 s', here: `${thousand.seconds.toFixed(1)} s` },
    { what: `verdict over ${2 * imported} trials, p95`, goal: '1 s', here: ms(verdictMs) },
    { what: `page of a comparison of ${2 * imported} trials, p95`, goal: '100 ms', here: ms(pageMs) },
    { what: 'a trial, p95', goal: '100 ms', here: ms(trialMs) },
    { what: `an experiment of ${imported} trials, p95`, goal: '100 ms', here: ms(experimentMs) },
  ];
};

export const run = async (): Promise<void> => {
  await using postgres = await startPostgres({ durable: true });
  await using platform = await spawnPlatform({
    databaseUrl: await postgres.createDatabase(),
    env: { LOG_LEVEL: 'warn' },
  });
  const api = client(`${platform.url}/api/v2`, platform.key);
  const result = (name: string) => () => ({ content: [{ type: 'text', text: name }] });
  await using tools = await startToolServer({
    tools: [
      { name: 'look', annotations: { readOnlyHint: true, idempotentHint: true }, result: result('looked') },
      { name: 'book', result: result('booked') },
      { name: 'pay', result: result('paid') },
    ],
  });
  const agentId = await setUp(api, tools);
  const figures = [...(await measureReplay(api, agentId, tools)), ...(await measureTrials(api, agentId))];
  console.table(figures);
  console.log(`Load of the machine: ${loadavg()[0]!.toFixed(1)}.`);
};
