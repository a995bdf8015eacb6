import { parentPort } from 'node:worker_threads';
import { fromJson } from './json.ts';

/** The other end of `JsonThread`: one body in, its protobuf (or why it is none) out. */
parentPort!.on('message', (body: Uint8Array<ArrayBuffer>) => {
  const converted = fromJson(Buffer.from(body.buffer, body.byteOffset, body.byteLength));
  if ('error' in converted) parentPort!.postMessage(converted);
  else parentPort!.postMessage(converted, [converted.buffer as ArrayBuffer]);
});
