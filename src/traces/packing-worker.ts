import { setPriority } from 'node:os';
import { parentPort, workerData } from 'node:worker_threads';
import { release } from '@agent-platform/otlp';
import { messageOf } from '../lib/errors.ts';
import type { Job, Result } from './packer.ts';
import { Packing } from './packing.ts';
import { SeenSpans } from './pieces.ts';

/** Of 19, where 0 is normal: while all processors are busy, the thread gets about a quarter of one. */
const niceness = 5;
// Requests that someone waits for go first. On Linux this is the priority of this thread, elsewhere that of the whole process.
if (process.platform === 'linux') {
  try {
    setPriority(niceness);
  } catch {
    // A sandbox may forbid it. The thread works as well without it.
  }
}

/** The thread of `Packer`. */
const packing = new Packing(new SeenSpans(workerData));

/** The requests that were sorted last, which lie in one piece. */
let received: Buffer = Buffer.alloc(0);

/** Returns the result, and its memory that is moved. */
const carryOut = (job: Job): [Result, ArrayBuffer[]] => {
  if ('parts' in job) {
    const packed = packing.pack(job.parts);
    release(received);
    const contents = packed.flatMap(({ blocks }) => blocks.map(({ content }) => content.buffer));
    return [{ packed }, contents as ArrayBuffer[]];
  }
  received = Buffer.from(job.bytes);
  let at = 0;
  const requests = job.requests.map(({ length, ...request }) => {
    const bytes = received.subarray(at, at + length);
    at += length;
    return { ...request, bytes };
  });
  return [{ sorted: packing.sort({ ...job, requests }) }, []];
};

const resultOf = (job: Job): [Result, ArrayBuffer[]] => {
  try {
    return carryOut(job);
  } catch (error) {
    return [{ error: messageOf(error) }, []];
  }
};

parentPort!.on('message', (job: Job) => parentPort!.postMessage(...resultOf(job)));
