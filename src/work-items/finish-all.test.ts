import { sql } from 'kysely';
import { beforeEach, expect, test } from 'vitest';
import { testActor } from '../../tests/harness/api.ts';
import { eachDatabase } from '../../tests/harness/database.ts';
import { until } from '../../tests/harness/wait.ts';
import { cancelEverything, itemOf, makeAgent, makeItems } from '../../tests/harness/work-items.ts';
import type { Ending } from '../runs/index.ts';
import { claimWorkItems } from './claims.ts';
import { listEvents } from './history-store.ts';
import { workItemRuns } from './runs.ts';
import type { WorkItem } from './store.ts';
import { act } from './work-items.ts';

const { finishAll } = workItemRuns;

const error = { code: 'model_failed', message: 'The model did not reply.' };

eachDatabase((name, open) => {
  beforeEach(() => cancelEverything(open()));

  /** Claimed Work Items, oldest first. */
  const claimed = async (count: number): Promise<WorkItem[]> => {
    await makeItems(open(), await makeAgent(open(), { max_concurrency: 10 }), count);
    return open().tx((tx) => claimWorkItems(tx, { owner: 'w1', limit: count, leaseSeconds: 30 }));
  };
  const cancel = (item: WorkItem) => open().tx((tx) => act(tx, item, 'cancel', testActor));
  const completed = ({ id, fencing }: WorkItem): Ending => ({
    id,
    fencing,
    status: 'COMPLETED',
    result: { done: id },
    unlessCancelled: true,
  });
  const statusOf = async ({ id }: WorkItem) => (await itemOf(open(), id)).status;
  const lastEventOf = async ({ id }: WorkItem) =>
    (await open().run((executor) => listEvents(executor, id, { limit: 1, next: null })))[0];

  test('executions end together, each with its own outcome and history', async () => {
    const [done, failed, asking, lost] = await claimed(4);
    const approval = {
      approval_id: done!.id,
      kind: 'question' as const,
      tool_name: 'request_review',
      tool_server_id: null,
      arguments: {},
      input_schema: {},
      reason: 'Pay?',
      tool_call_id: 'c1',
      definition_hash: null,
    };
    const usage = { input_tokens: 3, output_tokens: 4 };
    const moved = await open().tx((tx) =>
      finishAll(tx, [
        { ...completed(done!), usage, model: 'm1' },
        { id: failed!.id, fencing: failed!.fencing, status: 'ERROR', error },
        {
          id: asking!.id,
          fencing: asking!.fencing,
          status: 'NEEDS_REVIEW',
          review: { reason: 'Pay?', approvals: [approval] },
        },
        { ...completed(lost!), fencing: lost!.fencing - 1 },
      ]),
    );
    expect(moved.map(({ id }) => id).toSorted()).toEqual([done!.id, failed!.id, asking!.id].toSorted());
    const finished = { status: 'COMPLETED', result: { done: done!.id }, error: null, usage, model: 'm1' };
    expect(await itemOf(open(), done!.id)).toMatchObject(finished);
    expect(await itemOf(open(), failed!.id)).toMatchObject({ status: 'ERROR', result: null, error });
    expect(await itemOf(open(), asking!.id)).toMatchObject({
      status: 'NEEDS_REVIEW',
      review_reason: 'Pay?',
      pending_approvals: [{ ...approval, requested_at: expect.any(String), expires_at: null }],
    });
    expect(await statusOf(lost!)).toBe('EXECUTING');
    expect((await lastEventOf(done!))!.details).toEqual({ outcome: 'COMPLETED' });
    expect((await lastEventOf(failed!))!.details).toEqual({ outcome: 'ERROR', error });
    expect((await lastEventOf(lost!))!.action).toBe('claim');
  });

  test('a cancel that was requested first takes the place of the result', async () => {
    const [asked, other] = await claimed(2);
    await cancel(asked!);
    await open().tx((tx) => finishAll(tx, [completed(asked!), completed(other!)]));
    expect(await itemOf(open(), asked!.id)).toMatchObject({ status: 'CANCELLED', result: null });
    expect((await lastEventOf(asked!))!.details).toEqual({ outcome: 'CANCELLED' });
    expect(await statusOf(other!)).toBe('COMPLETED');
  });

  // The embedded database has one connection: nothing can be locked by another transaction.
  test.skipIf(name === 'embedded')(
    'what another transaction has locked is left out; waiting for it sees what it did',
    async () => {
      const [item, other] = await claimed(2);
      const locked = Promise.withResolvers<void>();
      const held = Promise.withResolvers<void>();
      const cancelling = open().tx(async (tx) => {
        await act(tx, item!, 'cancel', testActor);
        locked.resolve();
        await held.promise;
      });
      await locked.promise;
      const both = [completed(item!), completed(other!)];
      const moved = await open().tx((tx) => finishAll(tx, both, { skipLocked: true }));
      expect(moved.map(({ id }) => id)).toEqual([other!.id]);
      const waiting = open().tx((tx) => finishAll(tx, both));
      await until(async () => {
        const { rows } = await open().run((executor) =>
          sql`select 1 from pg_locks where not granted`.execute(executor),
        );
        return rows.length > 0;
      });
      held.resolve();
      await cancelling;
      expect(await waiting).toMatchObject([{ id: item!.id, status: 'CANCELLED', result: null }]);
    },
  );
});
