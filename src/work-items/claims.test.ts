import fc from 'fast-check';
import { type RawBuilder, sql } from 'kysely';
import { beforeEach, describe, expect, test } from 'vitest';
import { eachDatabase } from '../../tests/harness/database.ts';
import { cancelEverything, makeAgent } from '../../tests/harness/work-items.ts';
import type { Tx } from '../database/index.ts';
import { newId } from '../lib/ids.ts';
import {
  claimableInHead,
  claimableInQueues,
  claimFor,
  claimWorkItems,
  findClaimableAgents,
} from './claims.ts';

interface Given {
  agent: string;
  /** Age in seconds. */
  age: number;
  status?: 'PENDING' | 'EXECUTING';
  /** A retry that is due this many seconds from now. */
  retryIn?: number;
}

class Undo extends Error {}

eachDatabase((name, open) => {
  beforeEach(() => cancelEverything(open()));

  const claim = (limit: number) => (tx: Tx) => claimWorkItems(tx, { owner: 'w', limit, leaseSeconds: 30 });

  /** Straight into the table; returns the ids in the same order. */
  const insert = async (given: readonly Given[]): Promise<string[]> => {
    const ids = given.map(() => newId());
    await open().tx((tx) =>
      sql`insert into work_items (id, conversation_id, agent_id, message, payload, status, created_by, created_at,
          not_before, lease_expires_at)
        select g.id, g.id, g.agent_id, '', '{}', g.status, 'tester', platform_now() - g.age * interval '1 second',
          platform_now() + g.retry_in * interval '1 second',
          case when g.status = 'EXECUTING' then platform_now() + interval '1 hour' end
        from unnest(${ids}::uuid[], ${given.map((g) => g.agent)}::uuid[],
          ${given.map((g) => g.status ?? 'PENDING')}::text[], ${given.map((g) => g.age)}::double precision[],
          ${given.map((g) => g.retryIn ?? null)}::double precision[]) as g(id, agent_id, status, age, retry_in)`.execute(
        tx,
      ),
    );
    return ids;
  };

  const makeAgents = (n: number, max_concurrency: number): Promise<string[]> =>
    Promise.all(Array.from({ length: n }, () => makeAgent(open(), { max_concurrency })));

  /** Gives an agent external workers, and room for all that waits. */
  const makeExternal = async (agent: string): Promise<void> => {
    await open().tx((tx) =>
      sql`update agents set execution = 'external', max_concurrency = 1000 where id = ${agent}`.execute(tx),
    );
  };

  /**
   * Returns the ids of a claim of 10, and the number of rows and index entries of Work Items that it read. Nothing
   * stays of the claim.
   */
  const tryClaim = async (): Promise<{ ids: string[]; read: number }> => {
    let done: { ids: string[]; read: number } | undefined;
    const readSoFar = async (tx: Tx) => {
      const { rows } = await sql<{
        n: number;
      }>`select sum(pg_stat_get_xact_tuples_returned(c.oid))::integer as n
        from pg_class c left join pg_index i on i.indexrelid = c.oid
        where coalesce(i.indrelid, c.oid) = 'work_items'::regclass`.execute(tx);
      return rows[0]!.n;
    };
    await open()
      .tx(async (tx) => {
        const before = await readSoFar(tx);
        const ids = (await claim(10)(tx)).map(({ id }) => id);
        done = { ids, read: (await readSoFar(tx)) - before };
        throw new Undo();
      })
      .catch((error) => {
        if (!(error instanceof Undo)) throw error;
      });
    return done!;
  };

  test('the oldest that agents have room for are found, by the head and by the queues alike', async () => {
    const one = fc.record({
      agent: fc.nat(4),
      age: fc.integer({ min: 1, max: 40 }),
      kind: fc.constantFrom('queued', 'queued', 'queued', 'executing', 'waiting'),
    });
    const given = fc.record({
      room: fc.array(fc.integer({ min: 1, max: 4 }), { minLength: 5, maxLength: 5 }),
      items: fc.array(one, { maxLength: 40 }),
      limit: fc.integer({ min: 1, max: 12 }),
    });
    await fc.assert(
      fc.asyncProperty(given, async ({ room, items, limit }) => {
        await cancelEverything(open());
        const agents = await Promise.all(
          room.map((max_concurrency) => makeAgent(open(), { max_concurrency })),
        );
        const ids = await insert(
          items.map(({ agent, age, kind }) => ({
            agent: agents[agent]!,
            age,
            ...(kind === 'executing' ? { status: 'EXECUTING' } : {}),
            ...(kind === 'waiting' ? { retryIn: 60 } : {}),
          })),
        );
        const left = room.map(
          (max, agent) => max - items.filter((i) => i.agent === agent && i.kind === 'executing').length,
        );
        const expected = items
          .map((item, i) => ({ ...item, id: ids[i]! }))
          .filter(({ kind }) => kind === 'queued')
          .toSorted((a, b) => b.age - a.age || (a.id < b.id ? -1 : 1))
          .filter(({ agent }) => left[agent]!-- > 0)
          .slice(0, limit)
          .map(({ id }) => id);
        const search = { limit, except: [] };
        const rows = <T>(query: RawBuilder<T>) =>
          open().run(async (executor) => (await query.execute(executor)).rows);
        expect((await rows(claimableInQueues(search))).map(({ id }) => id)).toEqual(expected);
        const [head] = await rows(claimableInHead(search));
        if (!head!.more) expect(head!.ids).toEqual(expected);
        expect((await open().tx(claim(limit))).map(({ id }) => id)).toEqual(expected);
      }),
      { numRuns: 40 },
    );
  });

  describe('what a claim reads does not depend on', () => {
    /** Claims next to a backlog of 3,000 and of 9,000 that is older than what there is to claim. */
    const compare = async (more: Partial<Given>, before = async (_busy: string) => {}) => {
      const [busy] = await makeAgents(1, 1);
      const free = await makeAgents(30, 2);
      await insert([{ agent: busy!, age: 1, status: 'EXECUTING' }]);
      const others = await insert(free.map((agent, i) => ({ agent, age: 100 - i })));
      const reads: number[] = [];
      for (const n of [3_000, 6_000]) {
        await insert(Array.from({ length: n }, (_, i) => ({ agent: busy!, age: 1_000_000 - i, ...more })));
        await before(busy!);
        // As autovacuum does, at a time of its own: after it has counted an almost empty table, claims scan the table.
        await open().run((executor) => sql`analyze work_items`.execute(executor));
        // The first marks the index entries of rows that are gone, which the next then skips.
        await tryClaim();
        const { ids, read } = await tryClaim();
        expect(ids).toEqual(others.slice(0, 10));
        reads.push(read);
      }
      expect(reads[1]).toBeLessThan(reads[0]! * 1.1);
    };

    test('the backlog of an agent that is full', () => compare({}));

    test('the backlog of an agent with external workers', () => compare({}, makeExternal));

    test('the retries that wait', () => compare({ retryIn: 3_600 }));

    test('the retries of a full agent that are due, once a claim has found them', () =>
      compare({ retryIn: -1 }, async () => {
        await open().tx(claim(0));
      }));
  });

  test('a claim planned on a small backlog does not read all of a large one', async () => {
    const [agent] = await makeAgents(1, 1_000);
    const wait = (n: number) =>
      insert(Array.from({ length: n }, (_, i) => ({ agent: agent!, age: 1_000 - i / 1_000 })));
    await open().run((executor) => sql`truncate work_items cascade`.execute(executor));
    await wait(500);
    // PostgreSQL keeps a plan from the sixth use of a statement on.
    for (let n = 0; n < 6; n++) await tryClaim();
    const { read: before } = await tryClaim();
    await wait(10_000);
    const { ids, read } = await tryClaim();
    expect(ids).toHaveLength(10);
    expect(read).toBeLessThan(before + 1_000);
  });

  test('a retry that is due goes by the age of its Work Item', async () => {
    const [agent] = await makeAgents(1, 10);
    const [newer, retry, older, later] = await insert([
      { agent: agent!, age: 10 },
      { agent: agent!, age: 20, retryIn: -1 },
      { agent: agent!, age: 30 },
      { agent: agent!, age: 40, retryIn: 60 },
    ]);
    expect((await open().tx(claim(10))).map(({ id }) => id)).toEqual([older, retry, newer]);
    const { rows } = await open().run((executor) =>
      sql<{ not_before: Date | null }>`select not_before from work_items where id = ${later}`.execute(
        executor,
      ),
    );
    expect(rows[0]!.not_before).toBeInstanceOf(Date);
  });

  test('an external worker gets the oldest of its agents only, the platform only those of the others', async () => {
    const agents = await makeAgents(3, 2);
    const [external, other, platform] = agents as [string, string, string];
    await makeExternal(external);
    await makeExternal(other);
    const of = [external, platform, other, external, platform, external];
    const ids = await insert(of.map((agent, i) => ({ agent, age: 100 - i })));
    const claimOf = (agentIds: string[], limit: number) =>
      open().tx((tx) => claimFor(tx, agentIds, { owner: 'w', limit, leaseSeconds: 30 }));
    expect((await open().tx(claim(10))).map(({ id }) => id)).toEqual([ids[1], ids[4]]);
    const waiting = () => open().run((executor) => findClaimableAgents(executor, agents));
    expect((await waiting()).sort()).toEqual([external, other].sort());
    expect(await claimOf([platform], 10)).toEqual([]);
    expect((await claimOf([external, other, platform], 2)).map(({ id }) => id)).toEqual([ids[0], ids[2]]);
    expect((await claimOf([external], 10)).map(({ id }) => id)).toEqual([ids[3], ids[5]]);
    expect(await waiting()).toEqual([]);
  });

  // The embedded database has one connection: no other transaction can hold anything.
  test.skipIf(name === 'embedded')(
    'what another transaction has locked is passed over, and the next are taken',
    async () => {
      const agents = await makeAgents(2, 2);
      const ids = await insert(
        [0, 1, 0, 1, 0, 1].map((agent, i) => ({ agent: agents[agent]!, age: 100 - i })),
      );
      const { promise: held, resolve: release } = Promise.withResolvers<void>();
      const { promise: locked, resolve: isLocked } = Promise.withResolvers<void>();
      const other = open().tx(async (tx) => {
        await sql`select from work_items where id = any(${ids.slice(0, 3)}::uuid[]) for update`.execute(tx);
        isLocked();
        await held;
      });
      await locked;
      try {
        expect((await open().tx(claim(10))).map(({ id }) => id)).toEqual(ids.slice(3));
        expect(await open().tx(claim(10))).toEqual([]);
      } finally {
        release();
        await other;
      }
    },
  );
});
