import { constants, setPriority } from 'node:os';
import { parentPort, workerData } from 'node:worker_threads';
import { release } from '@agent-platform/otlp';
import { messageOf } from '../lib/errors.ts';
import type { Answer, Question } from './packer.ts';
import { Packing } from './packing.ts';
import { SeenSpans } from './pieces.ts';

// Who waits for an answer goes first. On Linux this is the priority of the thread that calls it; elsewhere of the process.
if (process.platform === 'linux') setPriority(constants.priority.PRIORITY_LOW);

/** The thread of `Packer`. */
const packing = new Packing(new SeenSpans(workerData));

/** Returns the answer, and its memory that is moved. */
let received: Buffer = Buffer.alloc(0);

const answer = (question: Question): [Answer, ArrayBuffer[]] => {
  if ('parts' in question) {
    const packed = packing.pack(question.parts);
    release(received);
    const contents = packed.flatMap(({ blocks }) => blocks.map(({ content }) => content.buffer));
    return [{ packed }, contents as ArrayBuffer[]];
  }
  received = Buffer.from(question.bytes);
  let at = 0;
  const requests = question.requests.map(({ length, ...request }) => {
    const bytes = received.subarray(at, at + length);
    at += length;
    return { ...request, bytes };
  });
  return [{ sorted: packing.sort({ ...question, requests }) }, []];
};

const answerOf = (question: Question): [Answer, ArrayBuffer[]] => {
  try {
    return answer(question);
  } catch (error) {
    return [{ error: messageOf(error) }, []];
  }
};

parentPort!.on('message', (question: Question) => parentPort!.postMessage(...answerOf(question)));
