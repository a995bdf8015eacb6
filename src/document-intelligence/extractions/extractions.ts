import { rm } from 'node:fs/promises';
import type { Database, Tx } from '../../database/index.ts';
import type { SealedColumn, Vault } from '../../lib/crypto.ts';
import type { ApiError } from '../../lib/errors.ts';
import { parseJson } from '../../lib/json.ts';
import type { Logger } from '../../lib/log.ts';
import { Loop } from '../../lib/loop.ts';
import { type Extracted, maxRunMs } from './extract.ts';
import { budgetRefusalOf, ExtractionFailure, errorOf } from './failure.ts';
import {
  deleteExtractionRow,
  type ExtractionRow,
  finishExtraction,
  insertExtraction,
  keepAlive,
  lockAbandoned,
  markRunning,
} from './store.ts';

/** The sealed part: everything that reveals the document. */
export interface ExtractionRecord extends Partial<Omit<Extracted, 'pageCount'>> {
  file: { name: string; content_type: string; size_bytes: number; sha256: string; pages: number | null };
  provider: string;
  error?: { code: string; message: string };
}

/** The listed part of a record, which may be large. */
export type ExtractionSummary = Pick<ExtractionRecord, 'file' | 'provider' | 'valid' | 'error'>;

/** The heartbeat of extractions, and the silence after which one counts as abandoned. */
const aliveEveryMs = 3_000;
const silentAfterSeconds = 15;
/** The pause while this replica works on none: those of a replica that was killed end so much later. */
const idleEveryMs = 15_000;

const interrupted = { code: 'interrupted', message: 'The replica that worked on the extraction ended.' };

interface Flight {
  controller: AbortController;
  done: Promise<void>;
}

/** The extractions that this replica works on, and the rows of all. */
export class Extractions {
  readonly sealed: SealedColumn = {
    table: 'extractions',
    column: 'record',
    boundTo: (id) => `extractions:${id}:record`,
  };
  readonly sealedSummary: SealedColumn = {
    table: 'extractions',
    column: 'summary',
    boundTo: (id) => `extractions:${id}:summary`,
  };
  readonly loop: Loop;
  readonly #db: Database;
  readonly #vault: Vault;
  readonly #log: Logger;
  readonly #replica: () => string;
  readonly #inFlight = new Map<string, Flight>();

  constructor(parts: { db: Database; vault: Vault; log: Logger; replica: () => string }) {
    this.#db = parts.db;
    this.#vault = parts.vault;
    this.#log = parts.log;
    this.#replica = parts.replica;
    this.loop = new Loop({ name: 'extractions', log: parts.log, tick: () => this.#tick() });
  }

  open({ id, record }: ExtractionRow): ExtractionRecord {
    return parseJson(this.#vault.open(record, this.sealed.boundTo(id))) as ExtractionRecord;
  }

  openSummary({ id, summary }: Pick<ExtractionRow, 'id' | 'summary'>): ExtractionSummary {
    return JSON.parse(this.#vault.open(summary!, this.sealedSummary.boundTo(id)));
  }

  #seal(id: string, record: ExtractionRecord): Pick<ExtractionRow, 'record' | 'summary'> {
    const { file, provider, valid, error } = record;
    const summary: ExtractionSummary = { file, provider, valid, error };
    return {
      record: this.#vault.seal(JSON.stringify(record), this.sealed.boundTo(id)),
      summary: this.#vault.seal(JSON.stringify(summary), this.sealedSummary.boundTo(id)),
    };
  }

  insert(tx: Tx, id: string, createdBy: string, record: ExtractionRecord): Promise<ExtractionRow> {
    const sealed = this.#seal(id, record);
    return insertExtraction(tx, { id, ...sealed, created_by: createdBy, replica: this.#replica() });
  }

  /**
   * Works on the extraction in the background, and removes `path` at its end. `work` gets what to call when it begins.
   * Resolves when the result is written; never rejects.
   */
  run(
    id: string,
    record: ExtractionRecord,
    path: string,
    work: (signal: AbortSignal, onStart: () => void) => Promise<Extracted>,
  ): Promise<ApiError | null> {
    const controller = new AbortController();
    const done = this.#work(id, record, controller, work).finally(async () => {
      this.#inFlight.delete(id);
      await rm(path, { force: true });
    });
    this.#inFlight.set(id, { controller, done: done.then(() => {}) });
    this.loop.wake();
    return done;
  }

  async #work(
    id: string,
    record: ExtractionRecord,
    controller: AbortController,
    work: (signal: AbortSignal, onStart: () => void) => Promise<Extracted>,
  ): Promise<ApiError | null> {
    let limit: NodeJS.Timeout | undefined;
    let marked: Promise<void> | undefined;
    const onStart = (): void => {
      marked ??= this.#db.tx((tx) => markRunning(tx, id)).catch(() => {});
      limit ??= setTimeout(
        () => controller.abort(new ExtractionFailure('time_limit', 'The extraction took more than 300 s.')),
        maxRunMs,
      );
    };
    try {
      const { pageCount: pages, ...result } = await work(controller.signal, onStart);
      await marked;
      await this.#finish(id, 'COMPLETED', { ...record, ...result, file: { ...record.file, pages } });
      return null;
    } catch (error) {
      await marked;
      const failure = errorOf(controller.signal.aborted ? controller.signal.reason : error);
      if (failure.code === 'internal_error')
        this.#log.error({ err: error, extraction_id: id }, 'an extraction failed');
      await this.#finish(id, 'ERROR', { ...record, error: failure }).catch((cause: unknown) =>
        this.#log.error({ err: cause, extraction_id: id }, 'the end of an extraction was not written'),
      );
      return budgetRefusalOf(error);
    } finally {
      clearTimeout(limit);
    }
  }

  #finish(id: string, status: 'COMPLETED' | 'ERROR', record: ExtractionRecord): Promise<void> {
    return this.#db.tx((tx) => finishExtraction(tx, { id, status, ...this.#seal(id, record) }));
  }

  /** Deletes the row. What works on it ends: here at once, on another replica within seconds. */
  remove(tx: Tx, id: string): Promise<void> {
    return deleteExtractionRow(tx, id);
  }

  cancel(id: string): void {
    this.#inFlight
      .get(id)
      ?.controller.abort(new ExtractionFailure('cancelled', 'The extraction was deleted.'));
  }

  /** Ends those that this replica worked on before it ended. */
  async start(): Promise<void> {
    const own = this.#db.kind === 'embedded' ? { seconds: 0 } : { seconds: silentAfterSeconds };
    await this.#endAbandoned({ ...own, replica: this.#replica() });
  }

  /** Ends those that this replica works on as interrupted. */
  async stop(): Promise<void> {
    await this.loop.stop();
    const flights = [...this.#inFlight.values()];
    const reason = new ExtractionFailure(interrupted.code, interrupted.message);
    for (const { controller } of flights) controller.abort(reason);
    await Promise.all(flights.map(({ done }) => done));
  }

  async #tick(): Promise<number> {
    const ids = [...this.#inFlight.keys()];
    if (ids.length > 0) {
      const alive = await this.#db.tx((tx) => keepAlive(tx, ids));
      for (const id of ids) if (!alive.has(id)) this.cancel(id);
    }
    await this.#endAbandoned({ seconds: silentAfterSeconds, replica: null });
    return ids.length > 0 ? aliveEveryMs : idleEveryMs;
  }

  #endAbandoned(which: { seconds: number; replica: string | null }): Promise<void> {
    return this.#db.tx(async (tx) => {
      for (const row of await lockAbandoned(tx, which)) {
        const sealed = this.#seal(row.id, { ...this.open(row), error: interrupted });
        await finishExtraction(tx, { id: row.id, status: 'ERROR', ...sealed });
      }
    });
  }
}
