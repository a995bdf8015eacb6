import { mkdir, open, readdir, readFile, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { passed, type TelemetryLog } from '../log.ts';
import { syncDirectory } from './segments.ts';

/** A span that its backend refused for itself. */
export interface DeadLetter {
  id: string;
  /** When it was refused, RFC 3339. */
  at: string;
  /** What the backend answered: its status and the beginning of its message, scrubbed. */
  status: number;
  reason: string;
  /** The size of the span's request. */
  bytes: number;
}

/** Dead letters of one integration, kept for the retention (product, section 9). */
export interface DeadLetters {
  /** Oldest first, after the given id. */
  list(number: number, options?: { limit?: number; after?: string }): Promise<DeadLetter[]>;
  /**
   * Sends them again (all, or the given ones), for about `withinMs`: what is accepted counts as delivered, the
   * rest stays. `failed`: refused again, or gone; `untried`: not sent, for want of time or because the backend
   * takes nothing now.
   */
  retry(
    number: number,
    ids?: readonly string[],
    withinMs?: number,
  ): Promise<{ delivered: number; failed: number; untried: number }>;
  /** Removes them (all, or the given ones), counted as discarded. Answers how many. */
  purge(number: number, ids?: readonly string[]): Promise<number>;
}

export type End = 'delivered' | 'discarded' | 'expired';

/** What is known of a letter; a file is a line of JSON with this, then the span as an ExportTraceServiceRequest. */
export type LetterHead = Omit<DeadLetter, 'id'>;

/** Where refused spans are kept; their counts are in the log. */
export interface DeadLetterStore {
  /** Durable with the caller's commit at the latest, which also counts it. */
  put(number: number, ordinal: number, letter: LetterHead, span: Buffer): Promise<void>;
  /** Takes back letters whose commit came to nothing. */
  withdraw(number: number, ordinals: readonly number[]): Promise<void>;
  /** Of all letters of an integration, oldest first. */
  ids(number: number): Promise<string[]>;
  /** The letter and its span; null where it is gone or damaged. */
  get(number: number, id: string): Promise<{ letter: DeadLetter; span: Buffer } | null>;
  list(number: number, limit: number, after?: string): Promise<DeadLetter[]>;
  /** Ends letters (all, or the given ones): counts them and removes them. Answers how many there were. */
  end(number: number, ids: readonly string[] | undefined, as: End): Promise<number>;
  /** Letters refused before `before` (ms since 1970) are counted as expired. */
  expire(before: number): Promise<void>;
  /** Removes all letters of a deleted integration; its log has counted them. */
  drop(number: number): Promise<void>;
}

export const idPattern = /^\d{16}$/;
export const idOf = (ordinal: number): string => String(ordinal).padStart(16, '0');

/**
 * Dead letters on disk: one file a span, named by the span's ordinal in its integration, so that writing one
 * again after a crash changes nothing. The counts are in the log's cursor; each change of them is written so
 * that `reconcile` can tell after a crash whether it happened: a letter that leaves is renamed to `ID.END`,
 * then counted, then unlinked.
 */
export class DeadLetterFiles implements DeadLetterStore {
  readonly #directory: string;
  readonly #log: TelemetryLog;
  readonly #last = new Map<number, Promise<unknown>>();

  constructor(directory: string, log: TelemetryLog) {
    this.#directory = directory;
    this.#log = log;
  }

  /** Durable when it resolves; counted by the caller's commit. */
  async put(number: number, ordinal: number, letter: LetterHead, span: Buffer): Promise<void> {
    await mkdir(this.#folder(number), { recursive: true });
    const file = await open(join(this.#folder(number), idOf(ordinal)), 'w');
    try {
      await file.writeFile(Buffer.concat([Buffer.from(`${JSON.stringify(letter)}\n`), span]));
      await file.datasync();
    } finally {
      await file.close();
    }
    await syncDirectory(this.#folder(number));
  }

  async withdraw(number: number, ordinals: readonly number[]): Promise<void> {
    for (const ordinal of ordinals) await rm(join(this.#folder(number), idOf(ordinal)), { force: true });
  }

  async ids(number: number): Promise<string[]> {
    return (await this.#names(number)).filter((name) => idPattern.test(name));
  }

  async get(number: number, id: string): Promise<{ letter: DeadLetter; span: Buffer } | null> {
    if (!idPattern.test(id)) return null;
    try {
      const bytes = await readFile(join(this.#folder(number), id));
      const end = bytes.indexOf(10);
      return { letter: { id, ...JSON.parse(bytes.toString('utf8', 0, end)) }, span: bytes.subarray(end + 1) };
    } catch {
      return null;
    }
  }

  async list(number: number, limit: number, after = ''): Promise<DeadLetter[]> {
    const letters: DeadLetter[] = [];
    for (const id of await this.ids(number)) {
      if (id <= after) continue;
      if (letters.length >= limit) break;
      const found = await this.get(number, id);
      if (found) letters.push(found.letter);
    }
    return letters;
  }

  end(number: number, ids: readonly string[] | undefined, as: End): Promise<number> {
    return this.#inTurn(number, async () => {
      const wanted = ids === undefined ? null : new Set(ids);
      const ended = (await this.ids(number)).filter((id) => wanted?.has(id) ?? true);
      if (ended.length === 0) return 0;
      const folder = this.#folder(number);
      for (const id of ended) await rename(join(folder, id), join(folder, `${id}.${as}`));
      await this.#log.move(number, { dead_lettered: -ended.length, [as]: ended.length });
      for (const id of ended) await rm(join(folder, `${id}.${as}`), { force: true });
      return ended.length;
    });
  }

  async expire(before: number): Promise<void> {
    for (const { number, removed } of this.#log.integrations()) {
      if (removed) continue;
      const old: string[] = [];
      for (const id of await this.ids(number)) {
        const found = await this.get(number, id);
        if (found && Date.parse(found.letter.at) >= before) break;
        old.push(id);
      }
      if (old.length > 0) await this.end(number, old, 'expired');
    }
  }

  async drop(number: number): Promise<void> {
    await this.#inTurn(number, () => rm(this.#folder(number), { recursive: true, force: true }));
  }

  /** At start: brings files and counts together after a crash. */
  async reconcile(): Promise<void> {
    for (const { number, removed } of this.#log.integrations()) {
      if (removed) await this.drop(number);
      else await this.#inTurn(number, () => this.#reconcile(number));
    }
  }

  async #reconcile(number: number): Promise<void> {
    const folder = this.#folder(number);
    const counts = this.#log.totals(number);
    const kept: string[] = [];
    const ending: { name: string; as: End }[] = [];
    for (const name of await this.#names(number)) {
      const [id, as] = name.split('.');
      // Written, but its commit was not: the span is still queued and is refused again, or is accepted.
      if (Number(id) >= passed(counts)) await rm(join(folder, name), { force: true });
      else if (as === undefined) kept.push(name);
      else ending.push({ name, as: as as End });
    }
    // More counted than kept: the letters on their way out were not yet counted out.
    let open = counts.dead_lettered - kept.length;
    for (const { name, as } of ending) {
      if (open > 0) await this.#log.move(number, { dead_lettered: -1, [as]: 1 });
      open--;
      await rm(join(folder, name), { force: true });
    }
    // Written, then expired before they were counted: the oldest.
    for (const name of kept.slice(0, Math.max(0, -open - ending.length)))
      await rm(join(folder, name), { force: true });
    // Files that someone took away.
    if (open > 0) await this.#log.move(number, { dead_lettered: -open, discarded: open });
  }

  #folder(number: number): string {
    return join(this.#directory, String(number));
  }

  async #names(number: number): Promise<string[]> {
    try {
      return (await readdir(this.#folder(number))).sort();
    } catch {
      return [];
    }
  }

  /** Changes of one integration's letters happen one after the other. */
  #inTurn<T>(number: number, fn: () => Promise<T>): Promise<T> {
    const result = (this.#last.get(number) ?? Promise.resolve()).then(fn);
    this.#last.set(
      number,
      result.catch(() => {}),
    );
    return result;
  }
}
