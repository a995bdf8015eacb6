/** The bytes of files and frames as they came: neither compressed nor encrypted. */
export interface FileBytes {
  /** Keeps the bytes of a file of this machine under `id`. They are durable when it resolves. The file may be moved. */
  put(id: string, path: string): Promise<void>;
  /** The bytes from the first to the last. Fails while it is read if they are removed. */
  read(id: string): AsyncIterable<Buffer>;
  /** Writes the bytes to a new file at `path`, readable by the platform alone. Fails as `read` does. */
  copy(id: string, path: string, signal?: AbortSignal): Promise<void>;
  /** Removes the bytes of these ids, if there are any. */
  remove(ids: readonly string[]): Promise<void>;
}
