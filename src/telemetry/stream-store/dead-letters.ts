import type { Cursor, DeadLetterStore } from '@agent-platform/otlp/jetstream';
import {
  type DeadLetter,
  type DeadLetterEnd,
  deadLetterId,
  isDeadLetterId,
  type NewDeadLetter,
} from '@agent-platform/otlp/log';
import { type Executor, sql, type Tx } from '../../database/index.ts';
import type { StreamTables } from './store.ts';

interface Row {
  ordinal: number;
  at: Date;
  status: number;
  reason: string;
  span: Buffer;
}

const fromRow = ({ ordinal, at, status, reason, span }: Row): DeadLetter => ({
  id: deadLetterId(ordinal),
  at: at.toISOString(),
  status,
  reason,
  bytes: span.length,
});

/**
 * Dead letters in the database, so that every replica lists, retries and purges them. A row is written in the
 * transaction that counts it, and removed in the one that counts it out; both lock the cursor first.
 */
export class DeadLetterTable implements DeadLetterStore {
  readonly #store: StreamTables;

  constructor(store: StreamTables) {
    this.#store = store;
  }

  async insert(tx: Tx, number: number, deadLetters: readonly NewDeadLetter[]): Promise<void> {
    for (const { ordinal, at, status, reason, span } of deadLetters) {
      await sql`insert into telemetry_dead_letters (stream_id, number, ordinal, at, status, reason, span)
        values (${this.#store.id}, ${number}, ${ordinal}, ${at}::timestamptz, ${status}, ${reason}, ${span})`.execute(
        tx,
      );
    }
  }

  /** Resolves to the ids of dead letters, oldest first. */
  async ids(number: number): Promise<string[]> {
    const rows = await this.#rows<{ ordinal: number }>(
      sql`select ordinal from telemetry_dead_letters
        where stream_id = ${this.#store.id} and number = ${number} order by ordinal`,
    );
    return rows.map(({ ordinal }) => deadLetterId(ordinal));
  }

  async get(number: number, id: string): Promise<{ deadLetter: DeadLetter; span: Buffer } | null> {
    if (!isDeadLetterId(id)) return null;
    const [row] = await this.#rows<Row>(
      sql`select ordinal, at, status, reason, span from telemetry_dead_letters
        where stream_id = ${this.#store.id} and number = ${number} and ordinal = ${Number(id)}`,
    );
    return row ? { deadLetter: fromRow(row), span: row.span } : null;
  }

  async list(number: number, limit: number, after = ''): Promise<DeadLetter[]> {
    const rows = await this.#rows<Row>(
      sql`select ordinal, at, status, reason, span from telemetry_dead_letters
        where stream_id = ${this.#store.id} and number = ${number} and ordinal > ${after === '' ? -1 : Number(after)}
        order by ordinal limit ${limit}`,
    );
    return rows.map(fromRow);
  }

  /** Ends dead letters (all, or the given ones). The cursor is null if none was counted out. */
  end(
    number: number,
    ids: readonly string[] | undefined,
    as: DeadLetterEnd,
  ): Promise<{ ended: number; cursor: Cursor | null }> {
    const ordinals = ids?.filter(isDeadLetterId).map(Number);
    return this.#end(number, ordinals ? sql`ordinal = any(${ordinals}::bigint[])` : sql`true`, as);
  }

  /** Ends those that were refused before `before` (ms since 1970). Resolves to the cursors that counted them out. */
  async expire(before: number): Promise<Cursor[]> {
    const old = sql`at < ${new Date(before).toISOString()}::timestamptz`;
    const rows = await this.#rows<{ number: number }>(
      sql`select distinct number from telemetry_dead_letters where stream_id = ${this.#store.id} and ${old}`,
    );
    const cursors: Cursor[] = [];
    for (const { number } of rows) {
      const { cursor } = await this.#end(number, old, 'expired');
      if (cursor) cursors.push(cursor);
    }
    return cursors;
  }

  /** Removes all of a deleted integration; its cursor has counted them. */
  async drop(tx: Tx, number: number): Promise<void> {
    await sql`delete from telemetry_dead_letters
      where stream_id = ${this.#store.id} and number = ${number}`.execute(tx);
  }

  #end(
    number: number,
    which: ReturnType<typeof sql>,
    as: DeadLetterEnd,
  ): Promise<{ ended: number; cursor: Cursor | null }> {
    return this.#store.tx(async (tx) => {
      await this.#store.lock(tx, number);
      const { rows } = await sql`delete from telemetry_dead_letters
        where stream_id = ${this.#store.id} and number = ${number} and ${which} returning ordinal`.execute(
        tx,
      );
      const ended = rows.length;
      const cursor =
        ended === 0 ? null : await this.#store.move(tx, number, { dead_lettered: -ended, [as]: ended });
      return { ended, cursor };
    });
  }

  async #rows<T>(query: { execute(executor: Executor): Promise<{ rows: unknown[] }> }): Promise<T[]> {
    return (await this.#store.run(query)).rows as T[];
  }
}
