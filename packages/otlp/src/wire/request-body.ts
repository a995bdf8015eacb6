import type { Readable } from 'node:stream';

/** Reserves this many bytes of memory; returns false if there is not enough. */
export type Reserve = (bytes: number) => boolean;

/** Returns the number of bytes to make room for when `needed` do not fit into `room`. */
const roomFor = (needed: number, room: number, announced: number): number =>
  announced >= needed ? Math.min(announced, Math.max(needed, 2 * room)) : Math.max(needed, 2 * room);

/**
 * Reads a stream up to `limit` bytes; `announced`: how many it says that it holds, 0 if it does not say. If it holds
 * more, or memory is short, the rest flows away unread for at most `dropMs`, and then the stream is destroyed. The
 * connection must stay open in the meantime: closed while bytes arrive, it is reset, and the client sees that instead
 * of the response, and sends all of it again. Every byte that is held is reserved first. Rejects if the stream breaks
 * off.
 *
 * Chunks are copied together as they arrive: one byte a packet would otherwise hold a hundred times its size, and the
 * socket's buffers may hold the next request too.
 */
export const readBody = (
  stream: Readable,
  announced: number,
  limit: number,
  reserve: Reserve,
  dropMs: number,
): Promise<Buffer | 'too large' | 'no memory'> =>
  new Promise((resolve, reject) => {
    let body: Buffer = Buffer.alloc(0);
    let size = 0;
    /** Makes room for `needed` bytes; false if memory is short. */
    const grow = (needed: number): boolean => {
      const room = roomFor(needed, body.length, announced);
      if (!reserve(room - body.length)) return false;
      const larger = Buffer.allocUnsafeSlow(room);
      body.copy(larger, 0, 0, size);
      release(body);
      body = larger;
      return true;
    };
    const refuse = (fault: 'too large' | 'no memory'): void => {
      stream.off('data', take);
      setImmediate(() => stream.resume());
      const cut = setTimeout(() => stream.destroy(), dropMs).unref();
      stream.once('close', () => clearTimeout(cut));
      resolve(fault);
    };
    const take = (chunk: Buffer): void => {
      const needed = size + chunk.length;
      if (needed > limit) refuse('too large');
      else if (needed > body.length && !grow(needed)) refuse('no memory');
      else {
        chunk.copy(body, size);
        size = needed;
        if (chunk.length === chunk.buffer.byteLength) release(chunk);
      }
    };
    const brokeOff = (): void => reject(new Error('the stream broke off'));
    // The stream's `close` was already emitted and does not come again.
    if (stream.destroyed) return brokeOff();
    stream.on('error', reject);
    stream.on('close', brokeOff);
    stream.on('end', () => resolve(body.subarray(0, size)));
    if (announced > limit) refuse('too large');
    else stream.on('data', take);
  });

/**
 * Frees bytes at once if their memory is their own; nothing may use them afterwards. Left to the garbage collector, 64 MB
 * of them make it mark the whole heap, which took more CPU than inflating them.
 */
export const release = (bytes: Buffer): void => {
  // A smaller body may lie in Node's pool next to the bytes of others.
  if (bytes.buffer instanceof ArrayBuffer && 2 * bytes.length >= Buffer.poolSize) bytes.buffer.transfer(0);
};
