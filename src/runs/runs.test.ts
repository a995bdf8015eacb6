import { beforeEach, expect, test } from 'vitest';
import { eachDatabase } from '../../tests/harness/database.ts';
import { later, makeAgent } from '../../tests/harness/work-items.ts';
import { sql } from '../database/index.ts';
import { newId } from '../lib/ids.ts';
import { createRuns, type RunRow } from './index.ts';
import type { RunKind } from './kind.ts';

interface Errand extends RunRow {
  attempts: number;
  fencing: number;
}

const moved: string[] = [];

/** The least that a kind of run needs. */
const errandKind: RunKind<Errand> = {
  table: 'errands',
  columns: sql`w.id, w.status, w.error, w.attempts, w.fencing, w.pending_approvals`,
  onClaim: [],
  onMove: [],
  onEnd: () => [],
  contextCut: { read: sql`null`, save: () => ({ set: sql`model = w.model` }) },
  onMoved: async (_tx, rows, { action }) => {
    for (const row of rows) moved.push(`${row.from_status}→${row.status} ${action}`);
  },
};
const errands = createRuns(errandKind);

const failure = { code: 'model_failed', message: 'The model did not reply.' };
const call = {
  approval_id: 'a1',
  kind: 'unknown_outcome' as const,
  tool_name: 'pay',
  tool_server_id: null,
  arguments: {},
  input_schema: {},
  reason: null,
  tool_call_id: 'c1',
};

eachDatabase((_name, open) => {
  beforeEach(async () => {
    moved.length = 0;
    await open().tx(async (tx) => {
      await sql`drop table if exists errands`.execute(tx);
      await sql`create table errands (id uuid primary key, agent_id uuid, agent_version integer, status text not null default 'PENDING',
        attempts integer not null default 0, fencing bigint not null default 0, lease_owner text,
        lease_expires_at timestamptz(3), not_before timestamptz(3), created_at timestamptz(3) default platform_now(),
        finished_at timestamptz(3), error jsonb, usage jsonb, model text, trace_id text, pending_approvals jsonb,
        decisions jsonb, unsafe_calls jsonb, tokens_before bigint not null default 0)`.execute(tx);
    });
  });

  const claim = (seconds = 0) =>
    later(open(), seconds, (tx) => errands.claim(tx, { owner: 'w1', limit: 10, leaseSeconds: 30 }));

  /** One errand, claimed. */
  const claimed = async (): Promise<Errand> => {
    const agent = await makeAgent(open(), { max_attempts: 2 });
    await open().tx((tx) =>
      sql`insert into errands (id, agent_id) values (${newId()}, ${agent})`.execute(tx),
    );
    return (await claim())[0]!;
  };

  test('a new kind of run is claimed, saved and ended by its lease alone', async () => {
    const errand = await claimed();
    expect(errand).toMatchObject({ status: 'EXECUTING', attempts: 1, fencing: 1 });
    expect(await claim()).toEqual([]);
    await open().tx((tx) => errands.save(tx, errand, { usage: { input_tokens: 3, output_tokens: 4 } }));
    const stale = { id: errand.id, fencing: 0, status: 'COMPLETED' } as const;
    expect(await open().tx((tx) => errands.finish(tx, stale))).toBeNull();
    const done = await open().tx((tx) => errands.finish(tx, { ...errand, status: 'COMPLETED', error: null }));
    expect(done).toMatchObject({ status: 'COMPLETED', pending_approvals: null });
    expect(moved).toEqual(['PENDING→EXECUTING claim', 'EXECUTING→COMPLETED finish']);
  });

  test('a new kind of run is tried again after its back-off, and ends when no attempts are left', async () => {
    const errand = await claimed();
    await open().tx((tx) => errands.retry(tx, { ...errand, error: failure }));
    const { nextIn } = await open().run(errands.lookForWork);
    expect(nextIn).toBeGreaterThan(0);
    expect(nextIn).toBeLessThanOrEqual(2_000);
    expect(await claim()).toEqual([]);
    expect(await claim(3)).toMatchObject([{ id: errand.id, attempts: 2 }]);
    expect(await later(open(), 60, (tx) => errands.recoverLost(tx, 10))).toMatchObject([
      {
        status: 'ERROR',
        error: { code: 'lease_lost', message: 'The worker was lost, and no attempts are left.' },
      },
    ]);
  });

  test('a new kind of run asks people about calls that must not be repeated, and continues', async () => {
    const errand = await claimed();
    const usage = { input_tokens: 3, output_tokens: 4 };
    await open().tx((tx) => errands.save(tx, errand, { usage, unsafeCalls: [call] }));
    const [lost] = await later(open(), 60, (tx) => errands.recoverLost(tx, 10));
    const asked = { ...call, expires_at: null, requested_at: expect.stringMatching(/^\d{4}-.*\.\d{3}Z$/) };
    expect(lost).toMatchObject({ status: 'INDETERMINATE', pending_approvals: [asked] });
    await open().tx((tx) =>
      errands.move(tx, {
        where: sql`w.id = ${errand.id}`,
        to: sql`'PENDING'`,
        set: errands.decided([{ approval_id: 'a1', decision: 'approve', tool_call_id: 'c1', arguments: {} }]),
        action: 'continue',
        principal: { kind: 'person', id: 'p', name: 'P' },
      }),
    );
    const [again] = await claim();
    expect(again).toMatchObject({ attempts: 1, fencing: 2, pending_approvals: null });
    const starts = await open().tx((tx) => errands.begin(tx, [{ ...again!, traceId: null }]));
    expect(starts.get(errand.id)).toMatchObject({
      approved: [{ tool_call_id: 'c1', edited: false }],
      interrupted: [],
      tokensBefore: 7,
    });
  });
});
