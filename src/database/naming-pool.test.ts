import { describe, expect, it } from 'vitest';
import { eachDatabase } from '../../tests/harness/database.ts';
import { type Executor, sentWithNext, sql } from './index.ts';

const table = sql.table('sent_with_next');
const numbers = async (executor: Executor): Promise<number[]> =>
  (await sql<{ n: number }>`select n from ${table} order by n`.execute(executor)).rows.map(({ n }) => n);

eachDatabase((_name, open) => {
  describe('a statement that is sent with the next', () => {
    it('is carried out before it, or with the commit', async () => {
      const db = open();
      await db.run((r) => sql`create table ${table} (n integer primary key)`.execute(r));
      const texts: string[] = [];
      db.onStatement(({ text }) => texts.push(text.replace(/ into .*/, '')));
      const seen = await db.tx(async (tx) => {
        await sql`${sentWithNext} insert into ${table} values (1)`.execute(tx);
        await sql`${sentWithNext} insert into ${table} values (${2})`.execute(tx);
        const before = [...texts];
        const read = await numbers(tx);
        await sql`${sentWithNext} insert into ${table} values (3)`.execute(tx);
        return { before, read };
      });
      db.onStatement(() => {});
      expect(seen).toEqual({ before: [], read: [1, 2] });
      expect(texts.at(-1)).toBe('commit');
      await db.run((r) => sql`${sentWithNext} insert into ${table} values (4)`.execute(r));
      expect(await db.run(numbers)).toEqual([1, 2, 3, 4]);
    });

    it('fails its transaction, with its own error', async () => {
      const db = open();
      const twice = (then: boolean) =>
        db.tx(async (tx) => {
          await sql`insert into ${table} values (5)`.execute(tx);
          await sql`${sentWithNext} insert into ${table} values (1)`.execute(tx);
          if (then) await numbers(tx);
        });
      await expect(twice(true)).rejects.toMatchObject({ code: '23505' });
      await expect(twice(false)).rejects.toMatchObject({ code: '23505' });
      expect(await db.run(numbers)).toEqual([1, 2, 3, 4]);
    });

    it('is not sent if the transaction fails before', async () => {
      const db = open();
      const failing = (first: boolean) =>
        db.tx(async (tx) => {
          if (first) await numbers(tx);
          await sql`${sentWithNext} insert into ${table} values (6)`.execute(tx);
          throw new Error('for another reason');
        });
      const texts: string[] = [];
      db.onStatement(({ text }) => texts.push(text));
      for (const first of [true, false]) await expect(failing(first)).rejects.toThrow('for another reason');
      db.onStatement(() => {});
      // Of the second one nothing is sent, not even BEGIN.
      expect(texts).toEqual(['begin', expect.stringContaining('select n'), 'rollback']);
      expect(await db.run(numbers)).toEqual([1, 2, 3, 4]);
    });

    it('is not sent if its savepoint is rolled back before', async () => {
      const db = open();
      const read = await db.tx(async (tx) => {
        await sql`savepoint before`.execute(tx);
        await sql`${sentWithNext} insert into ${table} values (1)`.execute(tx);
        await sql`rollback to savepoint before`.execute(tx);
        return numbers(tx);
      });
      expect(read).toEqual([1, 2, 3, 4]);
    });

    it('keeps its transaction from COMMIT if its values cannot be written', async () => {
      const db = open();
      const circular: Record<string, unknown> = {};
      circular.self = circular;
      const failing = db.tx(async (tx) => {
        await sql`insert into ${table} values (7)`.execute(tx);
        await sql`${sentWithNext} insert into ${table} values (${circular})`.execute(tx);
      });
      await expect(failing).rejects.toThrow(/circular/);
      expect(await db.run(numbers)).toEqual([1, 2, 3, 4]);
    });

    it('has the values that it was given, whatever becomes of them before it is sent', async () => {
      const db = open();
      const given = [8];
      await db.tx(async (tx) => {
        await sql`${sentWithNext} insert into ${table} select unnest(${given}::int[])`.execute(tx);
        given[0] = 9;
      });
      expect(await db.run(numbers)).toEqual([1, 2, 3, 4, 8]);
    });
  });
});
