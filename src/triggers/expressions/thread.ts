import { parentPort } from 'node:worker_threads';
import { isTimeout, withinTime } from '../../lib/time-limit.ts';
import { evaluate, failed, type Judgement, tooSlow } from './evaluate.ts';
import { compileFields } from './fields.ts';
import type { Job } from './judge.ts';

/** The time that all expressions of one event have. */
const limitMs = 100;

const judged = ({ definition, event, maxPayloadBytes }: Job): Judgement => {
  try {
    const fields = compileFields(definition);
    return withinTime(limitMs, () => evaluate(fields, event, maxPayloadBytes));
  } catch (error) {
    return isTimeout(error) ? tooSlow : failed(error);
  }
};

parentPort!.on('message', (job: Job) => parentPort!.postMessage(judged(job)));
