import { type FileHandle, mkdir, open, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { unprocessable } from '../lib/errors.ts';
import { newId } from '../lib/ids.ts';

type Value = string | number | boolean | null;

/** The most bytes of the rows of a frame as JSON: DuckDB may write as much while it sorts, and a file twice. */
const mostBytes = 1024 ** 3;

/** Rows that wait in a file until a data frame is made of them: a line of JSON for each. Dispose of it. */
export class RowSpool {
  readonly path: string;
  readonly #file: FileHandle;
  #bytes = 0;

  private constructor(path: string, file: FileHandle) {
    this.path = path;
    this.#file = file;
  }

  static async create(folder: string): Promise<RowSpool> {
    await mkdir(folder, { recursive: true, mode: 0o700 });
    const path = join(folder, `rows-${newId()}`);
    return new RowSpool(path, await open(path, 'wx', 0o600));
  }

  /** Throws 422 with `reason` if there are too many bytes. */
  async add(rows: readonly Value[][]): Promise<void> {
    const bytes = Buffer.from(rows.map((row) => `${JSON.stringify(row)}\n`).join(''));
    this.#bytes += bytes.length;
    if (this.#bytes > mostBytes) {
      const message = 'has more than 1 GB of rows; ask for fewer columns or rows';
      throw unprocessable([{ path: 'query', message }], { reason: 'too_large' });
    }
    await this.#file.writeFile(bytes);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#file.close();
    await rm(this.path, { force: true });
  }
}
