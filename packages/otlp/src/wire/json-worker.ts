import { parentPort } from 'node:worker_threads';
import { fromJson } from './json.ts';
import { release } from './request-body.ts';

/** The thread of `JsonThread`: receives a body, sends back its protobuf or why there is none. */
parentPort!.on('message', (body: Uint8Array<ArrayBuffer>) => {
  const received = Buffer.from(body.buffer, body.byteOffset, body.byteLength);
  const converted = fromJson(received);
  release(received);
  if ('error' in converted) parentPort!.postMessage(converted);
  else parentPort!.postMessage(converted, [converted.buffer as ArrayBuffer]);
});
