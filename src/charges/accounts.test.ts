import { expect, test } from 'vitest';
import { openMigrated, testedDatabases } from '../../tests/harness/database.ts';
import { llmOf } from '../../tests/harness/providers/fixture.ts';
import { protocols } from '../../tests/harness/providers/index.ts';
import { interceptStatements } from '../../tests/harness/statements.ts';
import { sql } from '../database/index.ts';
import { silentLogger } from '../lib/log.ts';
import { noTokens } from '../lib/tokens.ts';
import { createAccounts } from './accounts.ts';

test.each(testedDatabases)(
  'a charge whose COMMIT is lost, or whose database is away, is written once by the time a replica has stopped (%s)',
  async (kind) => {
    await using db = await openMigrated(kind);
    const ended: string[] = [];
    const { accounts, loop, flush } = createAccounts({
      db,
      log: silentLogger,
      settings: { get: () => ({ BUDGET_MAX_OUTPUT_TOKENS: 16 }) } as never,
      onCharge: () => {},
      prices: { priceFor: async () => ({ price: null, matched: null }) as never },
      budgets: {
        limits: async () => false,
        substitute: async () => null,
        reserve: async () => ({
          startedAt: Date.now(),
          boundNanoUsd: null,
          settlement: () => [],
          settled: () => ended.push('settled'),
          release: () => ended.push('released'),
        }),
      },
    });
    const account = accounts.open(llmOf(protocols.openai_compatible!, 'http://x.test'), 'm', {
      purpose: 'question',
    });
    const call = async () => {
      const { signal } = new AbortController();
      const open = await account.begin({ span: null, signal, maxInputTokens: 1, maxOutputTokens: null });
      await open.end({ reported: { tokens: { ...noTokens, input: 3 }, unreconciled: false }, model: 'm' });
    };
    for (const isExecuted of [true, false]) {
      using _ = interceptStatements(async (statement, send) => {
        if (!statement.text.includes('insert into charges')) return send(statement);
        if (isExecuted) await send(statement);
        throw new Error('Connection terminated unexpectedly');
      });
      // The reply is not used.
      await expect(call()).rejects.toThrow('does not respond');
    }
    expect(ended).toEqual([]);
    await loop.stop();
    await flush();
    const { rows } = await db.run((executor) =>
      sql<{ n: number }>`select count(*)::integer as n from charges where input = 3`.execute(executor),
    );
    expect([rows[0]!.n, ended]).toEqual([2, ['settled', 'settled']]);
  },
);
