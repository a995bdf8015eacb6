import { parentPort } from 'node:worker_threads';
import { fromJson } from './json.ts';

/** The thread of `JsonThread`: receives a body, sends back its protobuf or why there is none. */
parentPort!.on('message', (body: Uint8Array<ArrayBuffer>) => {
  const converted = fromJson(Buffer.from(body.buffer, body.byteOffset, body.byteLength));
  if ('error' in converted) parentPort!.postMessage(converted);
  else parentPort!.postMessage(converted, [converted.buffer as ArrayBuffer]);
});
