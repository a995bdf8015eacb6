import { expect, test } from 'vitest';
import { eachDatabase } from '../../tests/harness/database.ts';
import { cancelEverything, later, makeAgent, makeItems } from '../../tests/harness/work-items.ts';
import { newId } from '../lib/ids.ts';
import { claimWorkItems } from './claims.ts';
import { workItemRuns } from './runs.ts';
import { insertEndedSteps, listSteps } from './step-store.ts';
import type { WorkItem } from './store.ts';
import { moveAllBy, moveBy } from './transitions.ts';

const { begin: beginAttempts, finish, recoverLost, retry } = workItemRuns;

const principal = { kind: 'person', id: 'p', name: 'P' } as const;
const used = (input_tokens: number) => ({
  input_tokens,
  output_tokens: 1,
  cached_input_tokens: 0,
  reasoning_tokens: 0,
  model_calls: 1,
  tool_calls: 0,
});

eachDatabase((_name, open) => {
  const claim = async (seconds = 0): Promise<WorkItem> => {
    const claimer = { owner: 'w', limit: 1, leaseSeconds: 60 };
    const [item] = await later(open(), seconds, (tx) => claimWorkItems(tx, claimer));
    return item!;
  };
  const begin = async (): Promise<WorkItem> => {
    await cancelEverything(open());
    await makeItems(open(), await makeAgent(open()), 1);
    return claim();
  };
  const steps = (id: string) => open().run((executor) => listSteps(executor, id, 100));

  test('an attempt begins with its claim and ends with its transition, with its trace and what it used', async () => {
    const item = await begin();
    const attempt = { kind: 'attempt', name: 'attempt 1', parent: null, worker: 'w' };
    expect(await steps(item.id)).toMatchObject([{ ...attempt, status: 'running', ended_at: null }]);
    await open().tx((tx) => beginAttempts(tx, [{ ...item, traceId: 'a'.repeat(32) }]));
    const error = { code: 'model_unavailable', message: 'no' };
    await open().tx((tx) => retry(tx, { ...item, error, usage: used(3) }));
    const ended = { ...attempt, status: 'error', error: 'model_unavailable', trace_id: 'a'.repeat(32) };
    const wait = { kind: 'wait', name: 'wait', attempt: 1, parent: null };
    expect(await steps(item.id)).toMatchObject([
      { ...ended, tokens: used(3), ended_at: expect.any(Date) },
      { ...wait, status: 'running', tokens: null, trace_id: null, worker: null },
    ]);
    // The next one ends before it was opened.
    const again = await claim(10);
    const total = { ...used(8), output_tokens: 2, model_calls: 2 };
    await open().tx((tx) => finish(tx, { ...again, status: 'ERROR', error, usage: total }));
    expect(await steps(item.id)).toMatchObject([
      ended,
      { ...wait, status: 'ok', ended_at: expect.any(Date) },
      { ...attempt, name: 'attempt 2', attempt: 2, status: 'error', trace_id: null, tokens: used(5) },
    ]);
  });

  test('steps are parts of the attempt, at the time when they were', async () => {
    const item = await begin();
    const model = {
      kind: 'model',
      name: 'm',
      error: null,
      model: 'm',
      tokens: used(1),
      status: 'ok',
    } as const;
    const ended = {
      beganMsAgo: 2_000,
      endedMsAgo: 500,
      message_id: newId(),
      notes: null,
      span_id: null,
      charges: [],
    };
    const message = {
      id: ended.message_id,
      work_item_id: item.id,
      conversation_id: item.conversation_id,
      role: 'assistant' as const,
      content: [{ type: 'text' as const, text: 'Done.' }],
    };
    await open().tx((tx) => insertEndedSteps(tx, [{ ...model, ...ended, work_item_id: item.id }], [message]));
    const [first, second] = await steps(item.id);
    expect(second).toMatchObject({
      parent: first!.seq,
      attempt: 1,
      message_seq: expect.any(Number),
      message_id: message.id,
    });
    expect(second!.ended_at!.getTime() - second!.started_at.getTime()).toBe(1_500);
  });

  test('a lost worker ends its attempt, and a request to cancel does not', async () => {
    const item = await begin();
    await open().tx((tx) => moveBy(tx, 'cancel', item.id, { principal }));
    expect(await steps(item.id)).toMatchObject([{ status: 'running' }]);
    await later(open(), 200, (tx) => recoverLost(tx, 10));
    expect(await steps(item.id)).toMatchObject([{ status: 'error', error: 'lease_lost' }]);
  });

  test('a review ends with whatever ends it, also the deletion of the agent', async () => {
    const item = await begin();
    const review = { reason: 'sure?', approvals: [] };
    await open().tx((tx) => finish(tx, { ...item, status: 'NEEDS_REVIEW', review }));
    expect(await steps(item.id)).toMatchObject([
      { kind: 'attempt', status: 'ok', error: null },
      { kind: 'review', status: 'running', ended_at: null },
    ]);
    await open().tx((tx) => moveAllBy(tx, 'cancel', item.agent_id, { principal }));
    expect((await steps(item.id))[1]).toMatchObject({ status: 'ok', ended_at: expect.any(Date) });
  });
});
