import type { IncomingMessage, ServerResponse } from 'node:http';
import { badRequest, unavailable } from '../lib/errors.ts';

/** The largest body that is read, in bytes, unless the route has a limit of its own. */
export const bodyLimit = 10 * 1024 * 1024;
/**
 * A body up to this size is always read, in bytes: a flood of large bodies must not keep out the requests of most
 * clients.
 */
const smallBody = 64 * 1024;
/** The limit for all larger bodies together, in bytes. */
const heldLimit = 128 * 1024 * 1024;

const tooLarge = (limit: number) =>
  badRequest(`The body is larger than ${limit.toLocaleString('en')} bytes.`);

/** Reads the bodies of requests, with a limit for one body and a limit for all that are held at once. */
export class RequestBodies {
  #held = 0;

  /**
   * Resolves to the body of `request`, of at most `limit` bytes. Its bytes count as held until `response` closes. Throws 400 for a body that is
   * too large, and 503 while others hold too many bytes; the rest of such a body is read and dropped.
   */
  async read(request: IncomingMessage, response: ServerResponse, limit = bodyLimit): Promise<Buffer> {
    if (Number(request.headers['content-length'] ?? 0) > limit) throw tooLarge(limit);
    const chunks: Buffer[] = [];
    let size = 0;
    let counted = 0;
    response.once('close', () => {
      this.#held -= counted;
      counted = 0;
    });
    /** Returns whether the body is large enough to count. */
    const count = (): boolean => {
      if (size <= smallBody || response.closed) return false;
      this.#held += size - counted;
      counted = size;
      return true;
    };
    await new Promise<void>((resolve, reject) => {
      const refuse = (error: Error): void => {
        request.off('data', onData);
        request.resume();
        chunks.length = 0;
        reject(error);
      };
      const onData = (chunk: Buffer): void => {
        size += chunk.length;
        chunks.push(chunk);
        if (size > limit) refuse(tooLarge(limit));
        else if (count() && this.#held > heldLimit) {
          refuse(unavailable('Too many large requests are in progress. Try again in a moment.', 1));
        }
      };
      request.on('data', onData);
      request.once('end', resolve);
      request.once('error', reject);
      request.once('close', () => reject(new Error('the client left before its body was read')));
    });
    return chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks);
  }
}
