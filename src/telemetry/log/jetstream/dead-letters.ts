import { type Database, type Executor, sql, type Tx } from '../../../database/index.ts';
import {
  type DeadLetter,
  type DeadLetterStore,
  type End,
  idOf,
  idPattern,
  type LetterHead,
} from '../files/dead-letters.ts';
import type { SharedLog } from './jetstream-log.ts';

interface Staged {
  letter: LetterHead;
  span: Buffer;
}
interface Row extends Omit<LetterHead, 'at' | 'bytes'> {
  ordinal: number;
  at: Date;
  span: Buffer;
}

const letterOf = ({ ordinal, at, status, reason, span }: Row): DeadLetter => ({
  id: idOf(ordinal),
  at: at.toISOString(),
  status,
  reason,
  bytes: span.length,
});

/**
 * Dead letters in the database, for replicas that share a log: whichever is asked lists, retries and purges them.
 * A letter is written in the transaction that counts it, and removed in the one that counts it out, so the count
 * and the rows are never apart.
 */
export class DeadLetterTable implements DeadLetterStore {
  readonly #db: Database;
  readonly #log: SharedLog;
  /** Put, and not committed yet: by integration and ordinal. */
  readonly #staged = new Map<number, Map<number, Staged>>();

  constructor(db: Database, log: SharedLog) {
    this.#db = db;
    this.#log = log;
    log.onCommit((number, through) => this.#take(number, through));
  }

  async put(number: number, ordinal: number, letter: LetterHead, span: Buffer): Promise<void> {
    const staged = this.#staged.get(number) ?? new Map<number, Staged>();
    staged.set(ordinal, { letter, span });
    this.#staged.set(number, staged);
  }

  async withdraw(number: number, ordinals: readonly number[]): Promise<void> {
    for (const ordinal of ordinals) this.#staged.get(number)?.delete(ordinal);
  }

  async ids(number: number): Promise<string[]> {
    const rows = await this.#rows<{ ordinal: number }>(
      sql`select ordinal from telemetry_dead_letters
        where stream_id = ${this.#log.id} and number = ${number} order by ordinal`,
    );
    return rows.map(({ ordinal }) => idOf(ordinal));
  }

  async get(number: number, id: string): Promise<{ letter: DeadLetter; span: Buffer } | null> {
    if (!idPattern.test(id)) return null;
    const [row] = await this.#rows<Row>(
      sql`select ordinal, at, status, reason, span from telemetry_dead_letters
        where stream_id = ${this.#log.id} and number = ${number} and ordinal = ${Number(id)}`,
    );
    return row ? { letter: letterOf(row), span: row.span } : null;
  }

  async list(number: number, limit: number, after = ''): Promise<DeadLetter[]> {
    const rows = await this.#rows<Row>(
      sql`select ordinal, at, status, reason, span from telemetry_dead_letters
        where stream_id = ${this.#log.id} and number = ${number} and ordinal > ${after === '' ? -1 : Number(after)}
        order by ordinal limit ${limit}`,
    );
    return rows.map(letterOf);
  }

  async end(number: number, ids: readonly string[] | undefined, as: End): Promise<number> {
    const ordinals = ids?.filter((id) => idPattern.test(id)).map(Number) ?? null;
    return this.#end(number, ordinals === null ? sql`true` : sql`ordinal = any(${ordinals}::bigint[])`, as);
  }

  async expire(before: number): Promise<void> {
    const old = sql`at < ${new Date(before).toISOString()}::timestamptz`;
    const rows = await this.#rows<{ number: number }>(
      sql`select distinct number from telemetry_dead_letters where stream_id = ${this.#log.id} and ${old}`,
    );
    for (const { number } of rows) await this.#end(number, old, 'expired');
  }

  async drop(number: number): Promise<void> {
    await this.#rows(
      sql`delete from telemetry_dead_letters l using telemetry_cursors c
        where l.stream_id = ${this.#log.id} and l.number = ${number}
          and c.stream_id = l.stream_id and c.number = l.number and c.removed`,
    );
  }

  /** What writes the letters before ordinal `through`; they are staged no more, however their commit ends. */
  #take(number: number, through: number): (tx: Tx) => Promise<void> {
    const staged = this.#staged.get(number);
    const taken = [...(staged ?? [])].filter(([ordinal]) => ordinal < through);
    for (const [ordinal] of taken) staged!.delete(ordinal);
    return async (tx) => {
      for (const [ordinal, { letter, span }] of taken) {
        await sql`insert into telemetry_dead_letters (stream_id, number, ordinal, at, status, reason, span)
          values (${this.#log.id}, ${number}, ${ordinal}, ${letter.at}::timestamptz, ${letter.status},
            ${letter.reason}, ${span})`.execute(tx);
      }
    };
  }

  async #end(number: number, which: ReturnType<typeof sql>, as: End): Promise<number> {
    let ended = 0;
    await this.#log.moveIn(number, async (tx) => {
      const { rows } = await sql`delete from telemetry_dead_letters
        where stream_id = ${this.#log.id} and number = ${number} and ${which} returning ordinal`.execute(tx);
      ended = rows.length;
      return { dead_lettered: -ended, [as]: ended };
    });
    return ended;
  }

  async #rows<T>(query: { execute(executor: Executor): Promise<{ rows: unknown[] }> }): Promise<T[]> {
    return (await this.#db.run((executor) => query.execute(executor))).rows as T[];
  }
}
