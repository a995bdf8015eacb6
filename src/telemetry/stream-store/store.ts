import {
  type Checkpoint,
  type Cursor,
  checkpointFromJson,
  checkpointToJson,
  type StreamStore,
} from '@agent-platform/otlp/jetstream';
import { type Counts, countNames, type NewDeadLetter } from '@agent-platform/otlp/log';
import { type Database, type Executor, json, sql, type Tx } from '../../database/index.ts';
import { newId } from '../../lib/ids.ts';
import { DeadLetterTable } from './dead-letters.ts';

const counts = sql.join(countNames.map((name) => sql.ref(name)));
const passed = sql`(delivered + rejected + dead_lettered + expired + discarded)`;
const columns = sql`number, seq, inside as "recordOffset", ${counts}, removed, owner, fence, version,
  (owner is null or owned_until < platform_now()) as free`;
const until = (seconds: number) => sql`platform_now() + ${seconds} * interval '1 second'`;
const sum = (deltas: Partial<Counts>): number =>
  countNames.reduce((total, name) => total + (deltas[name] ?? 0), 0);
const add = (deltas: Partial<Counts>) =>
  sql.join(countNames.map((name) => sql`${sql.ref(name)} = ${sql.ref(name)} + ${deltas[name] ?? 0}`));

/**
 * All SQL of the telemetry log on JetStream (migrations/0060_telemetry_streams.sql), for one stream and one replica.
 */
export class StreamTables implements StreamStore {
  readonly #db: Database;
  readonly id: string;
  readonly deadLetters = new DeadLetterTable(this);
  readonly #replica: string;

  constructor(db: Database, id: string, replica: string) {
    this.#db = db;
    this.id = id;
    this.#replica = replica;
  }

  async cursors(): Promise<Cursor[]> {
    const { rows } = await this.run(
      sql<Cursor>`select ${columns} from telemetry_cursors where stream_id = ${this.id} order by number`,
    );
    return rows;
  }

  async register(number: number, seq: number, seconds: number | null): Promise<Cursor> {
    const { rows } = await this.run(
      sql<Cursor>`insert into telemetry_cursors (stream_id, number, seq, owner, owned_until, fence)
        values (${this.id}, ${number}, ${seq}, ${seconds === null ? null : this.#replica}::uuid,
          ${seconds === null ? sql`null` : until(seconds)}, 1)
        on conflict (stream_id, number) do update set number = excluded.number returning ${columns}`,
    );
    return rows[0]!;
  }

  async renew(seconds: number): Promise<void> {
    await this.run(
      sql`update telemetry_cursors set owned_until = ${until(seconds)}
        where stream_id = ${this.id} and owner = ${this.#replica}::uuid and not removed`,
    );
  }

  async acquire(numbers: readonly number[], seconds: number): Promise<Cursor[]> {
    const { rows } = await this.run(
      sql<Cursor>`update telemetry_cursors set owner = ${this.#replica}::uuid, owned_until = ${until(seconds)},
          fence = fence + 1, version = version + 1
        where stream_id = ${this.id} and number = any(${numbers}::integer[]) and not removed
          and (owner is null or owned_until < platform_now()) returning ${columns}`,
    );
    return rows;
  }

  async release(): Promise<void> {
    await this.#db.tx(async (tx) => {
      await sql`update telemetry_cursors set owner = null, owned_until = null, version = version + 1
        where stream_id = ${this.id} and owner = ${this.#replica}::uuid`.execute(tx);
      await sql`update telemetry_streams set keeper = null, kept_until = null
        where id = ${this.id} and keeper = ${this.#replica}::uuid`.execute(tx);
    });
  }

  async acquireLeadership(seconds: number): Promise<boolean> {
    const { rows } = await this.run(
      sql`update telemetry_streams set keeper = ${this.#replica}::uuid, kept_until = ${until(seconds)}
        where id = ${this.id} and (keeper is null or keeper = ${this.#replica}::uuid or kept_until < platform_now())
        returning id`,
    );
    return rows.length > 0;
  }

  async commit(
    number: number,
    fence: number,
    through: number,
    position: { seq: number; recordOffset: number },
    deltas: Partial<Counts>,
    deadLetters: readonly NewDeadLetter[] = [],
  ): Promise<Cursor | null> {
    return this.#db.tx(async (tx) => {
      const { rows } = await sql<Cursor>`update telemetry_cursors
        set seq = ${position.seq}, inside = ${position.recordOffset}, ${add(deltas)}, version = version + 1
        where stream_id = ${this.id} and number = ${number} and fence = ${fence} and owner = ${this.#replica}::uuid
          and not removed and ${passed} + ${sum(deltas)} = ${through} returning ${columns}`.execute(tx);
      const [after] = rows;
      if (after) await this.deadLetters.insert(tx, number, deadLetters);
      return after ?? null;
    });
  }

  /** Locks the cursor's row until the transaction ends. */
  async lock(tx: Tx, number: number): Promise<void> {
    await sql`select 1 from telemetry_cursors
      where stream_id = ${this.id} and number = ${number} for update`.execute(tx);
  }

  /** Adds deltas that sum to 0; null for a removed integration. */
  async move(tx: Tx, number: number, deltas: Partial<Counts>): Promise<Cursor | null> {
    const { rows } = await sql<Cursor>`update telemetry_cursors set ${add(deltas)}, version = version + 1
      where stream_id = ${this.id} and number = ${number} and not removed returning ${columns}`.execute(tx);
    return rows[0] ?? null;
  }

  async remove(number: number): Promise<Cursor> {
    return this.#db.tx(async (tx) => {
      const { rows } =
        await sql<Cursor>`insert into telemetry_cursors as known (stream_id, number, seq, removed)
          values (${this.id}, ${number}, 0, true)
          on conflict (stream_id, number) do update set removed = true, owner = null, owned_until = null,
            discarded = known.discarded + known.dead_lettered, dead_lettered = 0, version = known.version + 1
          returning ${columns}`.execute(tx);
      await this.deadLetters.drop(tx, number);
      return rows[0]!;
    });
  }

  async restore(number: number, seconds: number | null): Promise<Cursor | null> {
    const { rows } = await this.run(
      sql<Cursor>`update telemetry_cursors set removed = false, owner = ${seconds === null ? null : this.#replica}::uuid,
          owned_until = ${seconds === null ? sql`null` : until(seconds)}, fence = fence + 1, version = version + 1
        where stream_id = ${this.id} and number = ${number} and removed returning ${columns}`,
    );
    return rows[0] ?? null;
  }

  /**
   * Counts as expired what had been accepted by the checkpoint and is not passed yet: one statement, so that a commit
   * next to it cannot count the same.
   */
  async expire({ seq, totals }: Checkpoint): Promise<Cursor[]> {
    const rows = [...totals].map(([number, { spans }]) => ({ number_of: number, spans }));
    const expired = await this.run(
      sql<Cursor>`update telemetry_cursors set expired = expired + accepted.spans - ${passed},
          seq = greatest(seq, ${seq}), inside = case when seq > ${seq} then inside else 0 end, version = version + 1
        from jsonb_to_recordset(${json(rows)}::jsonb) as accepted(number_of integer, spans bigint)
        where stream_id = ${this.id} and number = accepted.number_of and not removed and ${passed} < accepted.spans
        returning ${columns}`,
    );
    return expired.rows;
  }

  async checkpoints(): Promise<Checkpoint[]> {
    const { rows } = await this.run(
      sql<{ seq: number; state: unknown }>`select seq, state from telemetry_marks
        where stream_id = ${this.id} order by seq`,
    );
    return rows.map(({ seq, state }) => checkpointFromJson(seq, state));
  }

  async saveCheckpoint(checkpoint: Checkpoint): Promise<void> {
    await this.run(
      sql`insert into telemetry_marks (stream_id, seq, state)
        values (${this.id}, ${checkpoint.seq}, ${json(checkpointToJson(checkpoint))}::jsonb) on conflict do nothing`,
    );
  }

  async dropCheckpointsBefore(seq: number): Promise<void> {
    await this.run(sql`delete from telemetry_marks where stream_id = ${this.id} and seq < ${seq}`);
  }

  tx<T>(fn: (tx: Tx) => Promise<T>): Promise<T> {
    return this.#db.tx(fn);
  }

  run<T>(query: { execute(executor: Executor): Promise<{ rows: T[] }> }): Promise<{ rows: T[] }> {
    return this.#db.run((executor) => query.execute(executor));
  }
}

/** Opens the rows of a stream for a replica. */
export const streamStore =
  (db: Database) =>
  async ({ name, created }: { name: string; created: string }, replica: string): Promise<StreamStore> => {
    await db.run((executor) =>
      sql`insert into telemetry_streams (id, name, created) values (${newId()}, ${name}, ${created})
        on conflict (name, created) do nothing`.execute(executor),
    );
    const { rows } = await db.run((executor) =>
      sql<{
        id: string;
      }>`select id from telemetry_streams where name = ${name} and created = ${created}`.execute(executor),
    );
    return new StreamTables(db, rows[0]!.id, replica);
  };
