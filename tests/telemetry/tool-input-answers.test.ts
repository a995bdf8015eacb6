import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { inputRequired } from '@modelcontextprotocol/server';
import pg from 'pg';
import { expect, test } from 'vitest';
import { scripted } from '../contract/conversations-fixture.ts';
import { must } from '../faults/scenarios/fixture.ts';
import { startCallbackReceiver } from '../harness/callback-receiver.ts';
import { startOtlpReceiver } from '../harness/otlp-receiver.ts';
import { startToolServer } from '../harness/tool-server.ts';
import { until } from '../harness/wait.ts';
import { startTracedPlatform, type TracedPlatform } from './fixture.ts';

// biome-ignore lint/suspicious/noExplicitAny: JSON, read field by field
type Json = any;

/** Has characters that JSON and addresses escape. */
const answer = 'pin-7391"/+ ~secret-of-ada';
const forms = [
  answer,
  'pin-7391',
  'secret-of-ada',
  encodeURIComponent(answer),
  Buffer.from(answer).toString('base64').slice(0, -4),
];
const form = {
  type: 'object' as const,
  properties: { code: { type: 'string' as const, maxLength: 30 } },
  required: ['code'],
};

/** All rows and files of the platform. */
const stored = async ({ databaseUrl, process: { dataDir } }: TracedPlatform) => {
  const all: [where: string, text: string | Buffer][] = [];
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  try {
    const { rows: tables } = await client.query<{ name: string }>(
      `select quote_ident(table_name) as name from information_schema.tables where table_schema = 'public'`,
    );
    for (const { name } of tables) {
      const { rows } = await client.query<{ text: string }>(`select t::text as text from ${name} t`);
      all.push([`table ${name}`, rows.map(({ text }) => text).join('\n')]);
    }
  } finally {
    await client.end();
  }
  for (const entry of await readdir(dataDir, { recursive: true, withFileTypes: true })) {
    if (entry.isFile()) all.push([entry.name, await readFile(join(entry.parentPath, entry.name))]);
  }
  return all;
};

test('an answer to a tool is in no span, log, audit entry, history, message of a channel, response, row or file', async () => {
  await using platform = await startTracedPlatform({ LOG_LEVEL: 'trace' });
  await using backend = await startOtlpReceiver();
  await using receiver = await startCallbackReceiver();
  const got: string[] = [];
  let isLost = false;
  await using server = await startToolServer({
    era: 'modern',
    tools: [
      {
        name: 'pay',
        result: (_, { mcpReq }: Json) => {
          const who = inputRequired.elicit({ message: 'Which code?', requestedSchema: form } as never);
          if (!mcpReq.inputResponses) return inputRequired({ inputRequests: { who }, requestState: 's' });
          got.push(mcpReq.inputResponses.who.content.code);
          return 'paid';
        },
        wire: () => (isLost ? 'reset' : undefined),
      },
    ],
  });
  const { api, app } = platform;
  /** Each response to a person, by what asked for it. */
  const shown: [string, string][] = [];
  const get = async (path: string, by = api): Promise<Json> => {
    const response = await by.get(path);
    expect(response.status, `${path}: ${response.text}`).toBe(200);
    shown.push([path, response.text]);
    return response.body;
  };
  await platform.integrate({ provider: 'otlp_custom_headers', url: backend.url }, true);
  const channel = await must(
    api.post('/channels', { name: 'Hook', kind: 'webhook', url: receiver.url, include_arguments: true }),
  );
  const steps = [{ channel_id: channel.id, to: 'channel' }];
  const match = { sources: ['work_item', 'conversation'] };
  await must(api.post('/routes', { name: 'All', for: 'reviews', match, steps }));
  const llm = await must(api.post('/llm-configurations', { kind: 'mock', name: 'M', model: 'mock' }));
  const tools = await must(
    api.post('/tool-servers', { name: 'T', prefix: 't', url: server.url, default_policy: 'allow' }),
  );
  const newAgent = (mode: string) =>
    must(api.post('/agents', { name: mode, mode, llm_id: llm.id, tool_server_ids: [tools.id] }));
  const worker = await newAgent('worker');
  const talker = await newAgent('conversational');
  const mock = { steps: [{ tool: 't__pay', args: {} }, { text: 'Done.' }] };
  const reviews = (state: string): Promise<Json[]> => get(`/reviews?state=${state}`).then(({ data }) => data);
  const nextReview = (): Promise<Json> => until(async () => (await reviews('open'))[0], 20_000);
  const decide = async ({ id, approvals }: Json, code: unknown, key: string) => {
    const decisions = approvals.map(({ approval_id }: Json) => ({
      approval_id,
      decision: 'approve',
      arguments: { code },
    }));
    const response = await api.post(
      `/reviews/${id}/decide`,
      { decisions },
      { headers: { 'idempotency-key': key } },
    );
    shown.push([`decide ${key}`, response.text]);
    return response.status;
  };
  const item = (id: string): Promise<Json> => get(`/work-items/${id}`);

  // A Work Item: answers that are refused, one that is lost on the way to the tool, and one that arrives.
  const { id } = (await must(api.post('/work-items', { agent_id: worker.id, payload: { mock } }))) as Json;
  const asked = await nextReview();
  expect(await decide(asked, `${answer}${'x'.repeat(30)}`, 'too long')).toBe(422);
  expect(await decide(asked, [answer], 'a list')).toBe(422);
  isLost = true;
  expect(await decide(asked, answer, 'lost')).toBe(200);
  await until(async () => (await item(id)).status === 'INDETERMINATE', 20_000);
  // Sealed: it is sent again if a person says so.
  const sealed = await stored(platform);
  isLost = false;
  const lost = await item(id);
  const again = lost.pending_approvals.map(({ approval_id }: Json) => ({ approval_id, decision: 'approve' }));
  await must(api.post(`/work-items/${id}/continue`, { decisions: again }));
  await until(async () => (await item(id)).status === 'COMPLETED', 20_000);

  // A conversation.
  const talk = (await must(api.post(`/agents/${talker.id}/conversations`, {}))) as Json;
  const path = `/agents/${talker.id}/conversations/${talk.id}`;
  const sent = await api.post(`${path}/messages`, { content: scripted(mock, 'Pay.') });
  expect(sent.status, sent.text).toBeLessThan(300);
  expect(await decide(await nextReview(), answer, 'talk')).toBe(200);
  await until(() => got.length === 2, 20_000);
  expect(got).toEqual([answer, answer]);
  await until(async () => (await reviews('open')).length === 0);

  // All that people and other systems see of it.
  for (const one of [`/work-items/${id}/messages`, `${path}/messages`, '/audits?limit=200', '/traces'])
    await get(one);
  for (const { trace_id } of (await get('/traces')).data) await get(`/traces/${trace_id}`);
  for (const review of await reviews('decided')) await get(`/reviews/${review.id}`);
  await get(`/work-items/${id}`, app);
  await get(`/work-items/${id}/steps`, app);
  await get('/metrics', platform.as(undefined, ''));
  await until(() => backend.spans().some(({ name }) => name.startsWith('execute_tool')), 20_000);
  await until(() => receiver.requests.filter(({ body }) => body.type === 'review.closed').length === 3);

  const haystacks: [string, string | Buffer][] = [
    ...shown,
    ...sealed,
    ...(await stored(platform)),
    ['the log', platform.process.output()],
    ...backend.requests.map(({ payload }): [string, Buffer] => ['a trace', payload]),
    ...receiver.requests.map(({ text }): [string, string] => ['a message', text]),
  ];
  expect(platform.process.output()).toContain('"level":"debug"');
  const found = haystacks.flatMap(([where, text]) =>
    forms.flatMap((one) => {
      const at = text.indexOf(one);
      return at < 0 ? [] : [`${where}: …${text.toString().slice(0, 200)}`];
    }),
  );
  expect(found).toEqual([]);
});
