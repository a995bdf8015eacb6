import {
  type ChatRequest,
  completion,
  type Reply,
  startEndpoint,
  wireCall,
} from '../../harness/llm-endpoint.ts';
import { startToolServer } from '../../harness/tool-server.ts';
import { until } from '../../harness/wait.ts';
import { Fixture, must, newLlm } from './fixture.ts';

// biome-ignore lint/suspicious/noExplicitAny: JSON, read field by field
type Json = any;

/** Where a Work Item is when its worker is killed: the message of the item. */
const places = [
  'in the first model call',
  'between two steps',
  'in a call that may be repeated',
  'in a call that must not be repeated',
  'waiting for an approval',
  'waiting for another approval',
  'cancelled in a model call',
] as const;
type Place = (typeof places)[number];

/** The call of the first reply; null: it has none. */
const firstCall: Record<Place, string | null> = {
  'in the first model call': null,
  'between two steps': 'read',
  'in a call that may be repeated': 'slow_read',
  'in a call that must not be repeated': 'slow_pay',
  'waiting for an approval': 'ask_pay',
  'waiting for another approval': 'ask_pay',
  'cancelled in a model call': null,
};

/**
 * Kills the worker while a Work Item is at each of these places, decides what waits, and kills the next one in the
 * middle of an approved call. With one replica it is started again, with two the other one takes over. Resolves to what
 * became of each, and how often each tool was called.
 */
export const runRuntimeKills = async (database: 'embedded' | 'postgres', replicas: 1 | 2) => {
  await using fixture = await Fixture.open(database, replicas);
  /** The replica that goes on after the first kill. */
  const second = replicas - 1;
  let hanging = true;
  /** The call of a tool waits for it. */
  let gate: PromiseWithResolvers<void> = Promise.withResolvers();
  const calls: string[] = [];
  const tool = (name: string, waits: boolean, readOnlyHint = false) => ({
    name,
    inputSchema: { type: 'object', properties: { place: { type: 'string' } } },
    annotations: { readOnlyHint },
    result: async ({ place }: Json) => {
      calls.push(place);
      if (waits) await gate.promise;
      return `${name} is done`;
    },
  });
  await using server = await startToolServer({
    tools: [
      tool('read', false, true),
      tool('slow_read', true, true),
      tool('slow_pay', true),
      tool('ask_pay', true),
    ],
  });
  const seen: string[] = [];
  await using endpoint = await startEndpoint(({ body }: ChatRequest): Reply => {
    const place: Place = body.messages.find(({ role }: Json) => role === 'user').content;
    const isFirst = !body.messages.some(({ role }: Json) => role === 'assistant');
    seen.push(`${place}, ${isFirst ? 'first' : 'second'}`);
    const name = firstCall[place];
    if (isFirst && name !== null) {
      const call = wireCall('call-1', `t__${name}`, { place });
      return { body: completion({ tool_calls: [call] }, 'tool_calls') };
    }
    return hanging ? 'hang' : { body: completion({ content: `Done ${place}.` }) };
  });

  await fixture.start();
  let api = fixture.api();
  await must(api.patch('/advanced-settings', { WORK_ITEM_LEASE_SECONDS: 2 }));
  const llm = await newLlm(api, endpoint.url);
  const tools = await must(
    api.post('/tool-servers', { name: 'T', prefix: 't', url: server.url, default_policy: 'allow' }),
  );
  await must(api.patch(`/tool-servers/${tools.id}/tools/ask_pay`, { policy: 'require_approval' }));
  const agent = await must(
    api.post('/agents', {
      name: 'A',
      mode: 'worker',
      llm_id: llm.id,
      tool_server_ids: [tools.id],
      settings: { max_concurrency: 20 },
    }),
  );
  const ids = new Map<Place, string>();
  for (const message of places) {
    const item: Json = await must(api.post('/work-items', { agent_id: agent.id, message }));
    ids.set(message, item.id);
  }
  const read = (place: Place): Promise<Json> => must(api.get(`/work-items/${ids.get(place)}`));
  const becomes = (place: Place, status: string): Promise<Json> =>
    until(async () => {
      const item = await read(place);
      return item.status === status && item;
    }, 40_000);
  const proceed = (item: Json, decision: string, on = api) =>
    on.post(`/work-items/${item.id}/continue`, {
      decisions: [{ approval_id: item.pending_approvals[0].approval_id, decision }],
    });

  await until(
    () =>
      [
        'in the first model call, first',
        'between two steps, second',
        'cancelled in a model call, first',
      ].every((one) => seen.includes(one)),
    30_000,
  );
  await until(() => calls.length === 3, 30_000);
  const waiting = await becomes('waiting for an approval', 'NEEDS_REVIEW');
  const other = await becomes('waiting for another approval', 'NEEDS_REVIEW');
  if (second !== 0) await fixture.start(second);
  await fixture.kill();
  // A cancel is requested after the worker was lost.
  const cancelled = ids.get('cancelled in a model call');
  if (second !== 0) await must(fixture.api(second).post(`/work-items/${cancelled}/cancel`));
  else
    await fixture.inspect((rows) =>
      rows(`update work_items set cancel_requested_at = platform_now()
        where id = '${cancelled}' and status = 'EXECUTING'`),
    );
  hanging = false;
  gate.resolve();
  if (second === 0) await fixture.start();
  api = fixture.api(second);

  const indeterminate = await becomes('in a call that must not be repeated', 'INDETERMINATE');
  const stillWaiting = await read('waiting for an approval');
  const same = stillWaiting.pending_approvals[0].approval_id === waiting.pending_approvals[0].approval_id;
  const denied = await proceed(indeterminate, 'deny');

  await becomes('in a call that may be repeated', 'COMPLETED');
  // Killed once more, in the middle of a call that a person approved.
  gate = Promise.withResolvers();
  const before = calls.length;
  await proceed(other, 'approve');
  await until(() => calls.slice(before).includes('waiting for another approval'), 20_000);
  await fixture.kill(second);
  gate.resolve();
  await fixture.start();
  if (second !== 0) await fixture.start(second);
  const lost = await becomes('waiting for another approval', 'INDETERMINATE');
  await proceed(lost, 'deny');
  const decisions = await Promise.all(
    Array.from({ length: 5 }, (_, i) => proceed(waiting, 'approve', fixture.api(i % replicas))),
  );

  const items: Record<string, string> = {};
  for (const place of places) {
    const item = await until(async () => {
      const now = await read(place);
      return ['COMPLETED', 'ERROR', 'CANCELLED'].includes(now.status) && now;
    }, 40_000);
    items[place] = `${item.status} ${item.result ?? item.error?.code ?? ''}`.trim();
  }
  const counts: Record<string, number> = {};
  for (const place of calls) counts[place] = (counts[place] ?? 0) + 1;
  return {
    items,
    calls: counts,
    approvalKept: same,
    denied: denied.status,
    decisions: decisions.map(({ status }) => status).sort(),
  };
};
