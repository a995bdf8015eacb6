import { expect, test } from 'vitest';
import { eachDatabase } from '../../tests/harness/database.ts';
import { type RawBuilder, sql } from '../database/index.ts';
import { silentLogger } from '../lib/log.ts';
import { passOverReviews } from './pass.ts';
import type { ReviewSource } from './source.ts';

eachDatabase((_name, open) => {
  /** Makes a pass. Returns its statements, and what was locked because it waits without a review. */
  const pass = async (unreviewed: RawBuilder<unknown>) => {
    const statements: string[] = [];
    const locked: string[] = [];
    const source = {
      unreviewed,
      outdated: [],
      lockWaiting: async (_tx: unknown, id: string) => {
        locked.push(id);
        return undefined;
      },
    } as unknown as ReviewSource;
    const none = { ...source, unreviewed: sql`select id from reviews where false` };
    open().onStatement(({ text }) => void statements.push(text));
    await passOverReviews({
      db: open(),
      log: silentLogger,
      sources: { work_item: none, conversation: source },
    });
    open().onStatement(() => {});
    return { statements, locked };
  };

  test('while nothing waits, a pass is one statement', async () => {
    const { statements, locked } = await pass(sql`select id from reviews where false`);
    expect(statements).toHaveLength(1);
    expect(locked).toEqual([]);
  });

  test('what waits without a review is found by the same pass', async () => {
    const id = '01a2282f-6c75-7042-888e-7db7fe8be8c3';
    expect((await pass(sql`select ${id}::uuid as id`)).locked).toEqual([id]);
  });
});
