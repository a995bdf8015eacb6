import { until } from '../../../harness/wait.ts';
import type { Rows } from '../fixture.ts';
import type { Caller } from './caller.ts';
import type { Items } from './items.ts';

/** Rows that retention removes by their age, older than this test can wait for: they are made old instead. */
const aged = {
  idempotency_keys: [
    `update idempotency_keys set created_at = created_at - interval '25 hours'
      where created_at between platform_now() - interval '24 hours' and platform_now() - interval '5 minutes'`,
    `created_at < platform_now() - interval '24 hours'`,
  ],
  stream_events: [
    `update stream_events set remove_at = platform_now() - interval '1 second'
      where created_at < platform_now() - interval '10 minutes'`,
    'remove_at < platform_now()',
  ],
  extractions: [
    `update extractions set finished_at = finished_at - interval '25 hours'
      where finished_at between platform_now() - interval '24 hours' and platform_now() - interval '1 minute'`,
    `finished_at < platform_now() - interval '24 hours'`,
  ],
  sessions: [
    `update sessions set last_seen_at = last_seen_at - interval '9 hours', created_at = created_at - interval '25 hours'
      where last_seen_at between platform_now() - interval '8 hours' and platform_now() - interval '5 minutes'`,
    `created_at < platform_now() - interval '24 hours'`,
  ],
} as const;

/** What must be empty a moment after the clients are done. */
const empty = {
  'removed files': 'select count(*)::int as n from removed_files',
  'bytes of no file':
    "select count(*)::int as n from file_bytes b where not exists (select from files f where f.id = b.file_id) and created_at < platform_now() - interval '1 minute'",
  'data frames of no conversation':
    'select count(*)::int as n from data_frames d where conversation_id is not null and not exists (select from conversations c where c.id = d.conversation_id)',
};

/** How long the retention of a started replica may take. */
const retentionMs = 60_000;

/** What the retention must remove. PostgreSQL only: no one else reads an embedded database. */
export class Kept {
  readonly #caller: Caller;
  readonly #items: Items;
  constructor(caller: Caller, items: Items) {
    this.#caller = caller;
    this.#items = items;
  }

  /** Makes rows old. */
  async age(): Promise<void> {
    if (!this.#caller.fixture.databaseUrl) return;
    await this.#caller.fixture.inspect(async (rows) => {
      await this.#items.age(rows);
      for (const [statement] of Object.values(aged)) await rows(statement);
    });
  }

  /** Waits until a replica that was just started has removed them. */
  async removed(): Promise<void> {
    if (!this.#caller.fixture.databaseUrl) return;
    const tables: [string, string][] = [
      ...Object.entries(aged).map(([table, [, where]]): [string, string] => [table, where]),
      ['work_items', `finished_at < platform_now() - interval '90 days'`],
    ];
    for (const [table, where] of tables) {
      const left = (rows: Rows) =>
        rows<{ n: number }>(`select count(*)::int as n from ${table} where ${where}`);
      await until(async () => (await this.#caller.fixture.inspect(left))[0]!.n === 0, retentionMs, 500).catch(
        () => this.#caller.problem(`the retention leaves rows of ${table}`),
      );
    }
  }

  async check(rows: Rows): Promise<void> {
    for (const [what, text] of Object.entries(empty)) {
      const [row] = await rows<{ n: number }>(text);
      if (row!.n > 0) this.#caller.problem(`${row!.n} ${what}`);
    }
  }
}
