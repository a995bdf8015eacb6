import { mkdir, open, readdir, readFile, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { Mutex } from '../../semaphore.ts';
import { addCounts, passed } from '../counts.ts';
import {
  type DeadLetter,
  type DeadLetterEnd,
  deadLetterId,
  isDeadLetterId,
  type NewDeadLetter,
} from '../dead-letter.ts';
import type { CursorFile } from './cursor.ts';
import { syncDirectory } from './segments.ts';

/**
 * The dead letters of one integration: one file for each span, named by its id, with a line of JSON (`DeadLetter`
 * without the id) and then the span. The cursor counts them. Each change is made so that `reconcile` can tell after a
 * crash whether it was counted: a new file is written before the cursor passes its span, and a dead letter that ends is
 * renamed to `ID.END`, then counted, then unlinked.
 */
export class DeadLetterFiles {
  readonly #folder: string;
  readonly #cursor: CursorFile;
  /** Changes happen one after the other. */
  readonly #mutex = new Mutex();

  constructor(folder: string, cursor: CursorFile) {
    this.#folder = folder;
    this.#cursor = cursor;
  }

  /**
   * Writes the dead letters, then calls `count`, which moves the cursor over their spans; if it does not, takes them
   * back.
   */
  add(deadLetters: readonly NewDeadLetter[], count: () => Promise<boolean>): Promise<boolean> {
    return this.#mutex.run(async () => {
      const before = passed(this.#cursor.state);
      // Dead letters that the cursor has passed are counted already: `count` will detect that.
      const added = deadLetters.filter(({ ordinal }) => ordinal >= before);
      const names = added.map(({ ordinal }) => deadLetterId(ordinal));
      try {
        await this.#write(added);
      } catch (error) {
        await this.#unlink(names).catch(() => {});
        throw error;
      }
      // If this rejects, no one knows what the cursor's file holds: the next attempt or the next start finds out.
      const counted = await count();
      if (!counted) await this.#unlink(names);
      return counted;
    });
  }

  /** Oldest first. */
  async ids(): Promise<string[]> {
    const counted = deadLetterId(passed(this.#cursor.state));
    return (await this.#names()).filter((name) => isDeadLetterId(name) && name < counted);
  }

  /** Null if it is missing or damaged. */
  async get(id: string): Promise<{ deadLetter: DeadLetter; span: Buffer } | null> {
    if (!isDeadLetterId(id) || Number(id) >= passed(this.#cursor.state)) return null;
    try {
      const bytes = await readFile(join(this.#folder, id));
      const end = bytes.indexOf(10);
      return {
        deadLetter: { id, ...JSON.parse(bytes.toString('utf8', 0, end)) },
        span: bytes.subarray(end + 1),
      };
    } catch {
      return null;
    }
  }

  async list(limit: number, after = ''): Promise<DeadLetter[]> {
    const deadLetters: DeadLetter[] = [];
    for (const id of await this.ids()) {
      if (id <= after) continue;
      if (deadLetters.length >= limit) break;
      const found = await this.get(id);
      if (found) deadLetters.push(found.deadLetter);
    }
    return deadLetters;
  }

  /** Ends dead letters (all, or the given ones). Resolves to how many there were. */
  end(ids: readonly string[] | undefined, as: DeadLetterEnd): Promise<number> {
    return this.#mutex.run(async () => {
      const wanted = ids === undefined ? null : new Set(ids);
      const ended = (await this.ids()).filter((id) => wanted?.has(id) ?? true);
      if (ended.length === 0) return 0;
      const path = (id: string) => join(this.#folder, id);
      const renamed: string[] = [];
      try {
        for (const id of ended) {
          await rename(path(id), path(`${id}.${as}`));
          renamed.push(id);
        }
        await this.#countOut(ended.length, as);
      } catch (error) {
        for (const id of renamed) await rename(path(`${id}.${as}`), path(id)).catch(() => {});
        throw error;
      }
      await this.#unlink(ended.map((id) => `${id}.${as}`));
      return ended.length;
    });
  }

  /** Ends those that were refused before `before` (ms since 1970). */
  async expire(before: number): Promise<void> {
    if (this.#cursor.state.dead_lettered === 0) return;
    const old: string[] = [];
    for (const id of await this.ids()) {
      const found = await this.get(id);
      if (found && Date.parse(found.deadLetter.at) >= before) break;
      old.push(id);
    }
    if (old.length > 0) await this.end(old, 'expired');
  }

  /** Removes all of a deleted integration; its cursor has counted them. */
  async drop(): Promise<void> {
    await this.#mutex.run(() => rm(this.#folder, { recursive: true, force: true }));
  }

  /** At the start: brings files and counts together after a crash. */
  async reconcile(): Promise<void> {
    if (this.#cursor.state.removed) await this.drop();
    else await this.#mutex.run(() => this.#reconcile());
  }

  async #reconcile(): Promise<void> {
    const { state } = this.#cursor;
    const kept: string[] = [];
    const ending: { name: string; as: DeadLetterEnd }[] = [];
    const uncounted: string[] = [];
    for (const name of await this.#names()) {
      const [id, as] = name.split('.');
      // Written, but its commit was not: the span is still queued and is refused again, or is accepted.
      if (Number(id) >= passed(state)) uncounted.push(name);
      else if (as === undefined) kept.push(name);
      else ending.push({ name, as: as as DeadLetterEnd });
    }
    await this.#unlink(uncounted);
    // If more are counted than kept, the dead letters on their way out were not counted out yet.
    let missing = state.dead_lettered - kept.length;
    for (const { name, as } of ending) {
      if (missing > 0) {
        await this.#countOut(1, as);
        missing--;
      }
      await this.#unlink([name]);
    }
    // Written, then expired before their commit: the newest of those that the cursor has passed.
    if (missing < 0) await this.#unlink(kept.slice(missing));
    // Files that someone removed.
    if (missing > 0) await this.#countOut(missing, 'discarded');
  }

  async #write(deadLetters: readonly NewDeadLetter[]): Promise<void> {
    const made = await mkdir(this.#folder, { recursive: true });
    for (const { ordinal, span, ...head } of deadLetters) {
      const file = await open(join(this.#folder, deadLetterId(ordinal)), 'w');
      try {
        const line = `${JSON.stringify({ ...head, bytes: span.length })}\n`;
        await file.writeFile(Buffer.concat([Buffer.from(line), span]));
        await file.datasync();
      } finally {
        await file.close();
      }
    }
    await syncDirectory(this.#folder);
    if (made === undefined) return;
    // The names of the folders that were made must be durable as well.
    await syncDirectory(dirname(this.#folder));
    if (made !== this.#folder) await syncDirectory(dirname(made));
  }

  async #countOut(count: number, as: DeadLetterEnd): Promise<void> {
    await this.#cursor.update((state) =>
      state.removed ? null : addCounts(state, { dead_lettered: -count, [as]: count }),
    );
  }

  async #unlink(names: readonly string[]): Promise<void> {
    for (const name of names) await rm(join(this.#folder, name), { force: true });
  }

  async #names(): Promise<string[]> {
    try {
      return (await readdir(this.#folder)).sort();
    } catch {
      return [];
    }
  }
}
